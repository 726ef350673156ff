/**
 * Which adapter a program shall run on, and the environment it needs for that.
 */
import { spawn, spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { softwareAdapterEnvironment, softwareAdapterIsAvailable } from './software-adapter.mjs';

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

/**
 * @param {AdapterRequest} request
 * @returns {AdapterChoice}
 */
export function chooseAdapter(request) {
  if (request === 'software' && softwareAdapterIsAvailable) return bundledSoftware();

  const found = probe();
  if (request === 'system') {
    if (found) return chosen(request, found.software ? 'software' : 'hardware');
    throw new NoAdapterError(
      'no adapter: Dawn found no driver in this environment. Install one (on Linux a Vulkan driver and libvulkan.so.1, ' +
        'such as Mesa’s; lavapipe from Mesa 25 on), or take --adapter software',
    );
  }
  if (found && !found.software) {
    if (request !== 'software') return chosen('hardware');
  } else if (request === 'hardware') {
    const instead = found ? `only ${found.description || found.architecture}, which is a CPU` : 'no adapter at all';
    throw new NoAdapterError(
      `no GPU: Dawn found ${instead}. Install the GPU's driver (on Linux its Vulkan driver and libvulkan.so.1; in a ` +
        'container, pass the GPU in), or take --adapter software',
    );
  } else if (softwareAdapterIsAvailable) {
    return bundledSoftware();
  } else if (found) {
    return chosen('software');
  }
  throw new NoAdapterError(
    `no ${request === 'auto' ? '' : `${request} `}adapter: the software adapter that npm brings is for Linux x64, and ` +
      `this is ${process.platform} ${process.arch}. Use a machine with a GPU, or install a Vulkan driver that runs on the ` +
      'CPU, such as Mesa’s lavapipe',
  );
}

/**
 * @param {Exclude<AdapterRequest, 'auto'>} request
 * @param {'software' | 'hardware'} kind
 * @param {Record<string, string>} [environment]
 * @returns {AdapterChoice}
 */
function chosen(request, kind = request === 'hardware' ? 'hardware' : 'software', environment = {}) {
  return { kind, environment: { ...environment, WEBGPU_MSM_ADAPTER: request, WEBGPU_MSM_ADAPTER_KIND: kind } };
}

/** @returns {AdapterChoice} */
function bundledSoftware() {
  return chosen('software', 'software', softwareAdapterEnvironment());
}

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
