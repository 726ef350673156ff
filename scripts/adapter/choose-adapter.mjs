/**
 * Which adapter a program shall run on, and the environment it needs for that.
 */
import { spawn, spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRunsHere } from './chromium-package.mjs';
import { softwareAdapterEnvironment } from './software-adapter.mjs';

/**
 * @typedef {'auto' | 'software' | 'hardware' | 'system'} AdapterRequest `system` is whatever driver the environment has, also one that
 *   runs on the CPU
 * @typedef {import('./open-gpu.mjs').Adapter} Adapter
 *
 * @typedef {object} AdapterChoice
 * @property {'software' | 'hardware'} kind
 * @property {Record<string, string>} environment what to add to the environment; asks for the same in WEBGPU_MSM_ADAPTER, and names the
 *   kind in WEBGPU_MSM_ADAPTER_KIND
 */

/** No adapter of the kind that was asked for. The message says what to do. */
export class NoAdapterError extends Error {}

/** A driver that has not answered by then hangs. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * @param {string | undefined} text of the option; without it WEBGPU_MSM_ADAPTER counts, and then `auto`
 * @returns {AdapterRequest}
 */
export function parseAdapterRequest(text) {
  const request = text ?? (process.env.WEBGPU_MSM_ADAPTER || 'auto');
  if (request === 'auto' || request === 'software' || request === 'hardware' || request === 'system') return request;
  const where = text === undefined ? 'WEBGPU_MSM_ADAPTER' : '--adapter';
  throw new NoAdapterError(`${where} is '${request}': it must be auto, software, hardware or system`);
}

const NOT_HERE =
  `the software adapter that npm brings is for Linux x64, and this is ${process.platform} ${process.arch}. Use a machine with a GPU, ` +
  'or install a Vulkan driver that runs on the CPU, such as Mesa’s lavapipe';

/** What to say where there is none, by what was asked for. @type {Record<AdapterRequest, (found: Adapter | null) => string>} */
const missing = {
  system: () =>
    'no adapter: Dawn found no driver in this environment. Install one (on Linux a Vulkan driver and libvulkan.so.1, ' +
    'such as Mesa’s; lavapipe from Mesa 25 on), or take --adapter software',
  hardware: (found) =>
    `no GPU: Dawn found ${found ? `only ${found.description || found.architecture}, which is a CPU` : 'no adapter at all'}. Install the ` +
    "GPU's driver (on Linux its Vulkan driver and libvulkan.so.1; in a container, pass the GPU in), or take --adapter software",
  software: () => `no software adapter: ${NOT_HERE}`,
  auto: () => `no adapter: ${NOT_HERE}`,
};

/**
 * @param {AdapterRequest} request
 * @returns {Promise<AdapterChoice>}
 */
export async function chooseAdapter(request) {
  const found = packageRunsHere && request === 'software' ? null : probe();
  const kind = found && (found.software ? 'software' : 'hardware');
  if (packageRunsHere && (request === 'software' || (request === 'auto' && kind !== 'hardware'))) {
    return chosen('software', 'software', await softwareAdapterEnvironment());
  }
  if (kind === null || !['auto', 'system', kind].includes(request)) throw new NoAdapterError(missing[request](found));
  return chosen(request === 'system' ? request : kind, kind);
}

/**
 * @param {Exclude<AdapterRequest, 'auto'>} request
 * @param {'software' | 'hardware'} kind
 * @param {Record<string, string>} [environment]
 * @returns {AdapterChoice}
 */
const chosen = (request, kind, environment = {}) => ({
  kind,
  environment: { ...environment, WEBGPU_MSM_ADAPTER: request, WEBGPU_MSM_ADAPTER_KIND: kind },
});

/**
 * What Dawn finds in the environment as it is.
 *
 * @returns {Adapter | null}
 */
function probe() {
  const script = fileURLToPath(new URL('./probe-adapter.mjs', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: PROBE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  // A driver that crashes on the way out has still said what it is, but is nothing to compute on.
  return status === 0 ? JSON.parse(stdout) : null;
}

/**
 * Whether this very process already runs in the environment that the choice needs.
 *
 * @param {AdapterChoice} choice
 */
export function isPreparedFor(choice) {
  const [folder] = (choice.environment.LD_LIBRARY_PATH ?? '').split(delimiter);
  return !folder || process.env.LD_LIBRARY_PATH?.split(delimiter)[0] === folder;
}

/**
 * Runs a command in the environment of the choice, as if it had been started in our place: our stdio, its exit code
 * or signal as ours, our signals for it.
 *
 * @param {AdapterChoice} choice
 * @param {string} command
 * @param {string[]} commandArguments
 * @returns {Promise<never>}
 */
export function runInPlace(choice, command, commandArguments) {
  // npm puts .bin on the path; a person who starts the script by hand has not. (Set on process.env itself, since on
  // Windows the variable may be called Path, and a copy would then have both.)
  const binaries = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
  process.env.PATH = `${binaries}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(command, commandArguments, {
    stdio: 'inherit',
    env: { ...process.env, ...choice.environment },
    // On Windows what npm installs are .cmd files, which only a shell starts.
    shell: process.platform === 'win32' && command !== process.execPath,
  });
  // Ctrl+C in a terminal reaches the child as well as us, and many programs take a second one for 'at once'.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (signal === null) process.exit(code ?? 1);
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    });
  });
}
