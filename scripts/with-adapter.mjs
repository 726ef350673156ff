/**
 * node scripts/with-adapter.mjs [--adapter auto|software|hardware|system] -- command [arguments…]
 *
 * Runs a command with an adapter for Dawn: the machine's GPU if it has one, otherwise SwiftShader
 * from npm. `system` takes the driver of the environment, including one that runs on the CPU, such
 * as Mesa's lavapipe.
 *
 * The command finds the kind of its adapter in WEBGPU_MSM_ADAPTER_KIND, and the request to pass on
 * in WEBGPU_MSM_ADAPTER. The latter may also be set beforehand in place of the option:
 * `WEBGPU_MSM_ADAPTER=hardware npm test`.
 */
import { parseArgs } from 'node:util';
import { chooseAdapter, NoAdapterError, parseAdapterRequest, runInPlace } from './adapter/choose-adapter.mjs';

const usage = 'usage: node scripts/with-adapter.mjs [--adapter auto|software|hardware|system] -- command [arguments…]';

try {
  const cut = process.argv.indexOf('--');
  const [command, ...commandArguments] = cut === -1 ? [] : process.argv.slice(cut + 1);
  if (command === undefined) throw new NoAdapterError(usage);
  const { values } = parseArgs({ args: process.argv.slice(2, cut), options: { adapter: { type: 'string' } } });

  const choice = await chooseAdapter(parseAdapterRequest(values.adapter));
  console.error(`adapter: ${choice.kind}`);
  await runInPlace(choice, command === 'node' ? process.execPath : command, commandArguments);
} catch (error) {
  console.error(`with-adapter: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
