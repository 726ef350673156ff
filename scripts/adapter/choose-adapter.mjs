/**
 * Chooses the adapter that a program runs on, and prepares the environment that it needs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRunsHere, unpacked } from './chromium-package.mjs';

/**
 * @typedef {'auto' | 'software' | 'hardware' | 'system'} AdapterRequest
 *   `system` takes the driver that the environment has, including one that runs on the CPU
 * @typedef {import('./open-gpu.mjs').Adapter} Adapter
 *
 * @typedef {object} AdapterChoice
 * @property {'software' | 'hardware'} kind
 * @property {Record<string, string>} environment variables to add to the environment:
 *   WEBGPU_MSM_ADAPTER repeats the request, WEBGPU_MSM_ADAPTER_KIND names the kind
 */

/** No adapter of the requested kind exists. The message says what to do. */
export class NoAdapterError extends Error {}

/** A driver that has not answered after this time counts as hung. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * Reads an adapter request. Without an option WEBGPU_MSM_ADAPTER counts, and then `auto`.
 *
 * @param {string | undefined} text the value of the option
 * @returns {AdapterRequest}
 */
export function parseAdapterRequest(text) {
  const request = text ?? (process.env.WEBGPU_MSM_ADAPTER || 'auto');
  if (request === 'auto' || request === 'software' || request === 'hardware' || request === 'system') return request;
  const where = text === undefined ? 'WEBGPU_MSM_ADAPTER' : '--adapter';
  throw new NoAdapterError(`${where} is '${request}': it must be auto, software, hardware or system`);
}

const NOT_HERE =
  `the software adapter from npm runs on Linux x64 only, and this is ${process.platform} ${process.arch}. Use a machine ` +
  'with a GPU, or install a Vulkan driver that runs on the CPU, such as Mesa’s lavapipe';

/**
 * Error messages for a missing adapter, by request.
 *
 * @type {Record<AdapterRequest, (found: Adapter | null) => string>}
 */
const missing = {
  system: () =>
    'no adapter: Dawn found no driver in this environment. Install one (on Linux a Vulkan driver and libvulkan.so.1, ' +
    'such as Mesa’s; lavapipe from Mesa 25 on), or use --adapter software',
  hardware: (found) =>
    `no GPU: Dawn found ${found ? `only ${found.description || found.architecture}, which is a CPU` : 'no adapter'}. ` +
    "Install the GPU's driver (on Linux its Vulkan driver and libvulkan.so.1; in a container, pass the GPU in), " +
    'or use --adapter software',
  software: () => `no software adapter: ${NOT_HERE}`,
  auto: () => `no adapter: ${NOT_HERE}`,
};

/**
 * Chooses an adapter for a request: `auto` prefers a GPU to the software adapter.
 *
 * @param {AdapterRequest} request
 * @returns {Promise<AdapterChoice>}
 * @throws NoAdapterError
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
 * Returns the variables of a child process in which Dawn finds SwiftShader and no other driver:
 * `@sparticuz/chromium` ships it beside its Chromium.
 *
 * Dawn opens "libvulkan.so.1". SwiftShader's library exports vkGetInstanceProcAddr itself. So a copy of
 * it under that name replaces both loader and driver, if its folder comes first on LD_LIBRARY_PATH; it
 * also hides the system's drivers. The dynamic linker reads LD_LIBRARY_PATH when a process starts, so
 * only a child process can get it: see ../with-adapter.mjs.
 *
 * @returns {Promise<{ LD_LIBRARY_PATH: string }>}
 */
async function softwareAdapterEnvironment() {
  const folder = await unpacked('swiftshader', ['swiftshader.tar.br'], (unpacking) => {
    const driver = 'libvk_swiftshader.so';
    // the archive also holds OpenGL libraries, which nothing here uses
    for (const name of readdirSync(unpacking)) if (name !== driver) rmSync(join(unpacking, name));
    renameSync(join(unpacking, driver), join(unpacking, 'libvulkan.so.1'));
  });
  const rest = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((entry) => entry && entry !== folder);
  return { LD_LIBRARY_PATH: [folder, ...rest].join(delimiter) };
}

/**
 * Returns the adapter that Dawn finds in the present environment.
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
  // A driver that crashes as the process ends has printed its name, but cannot be relied on.
  return status === 0 ? JSON.parse(stdout) : null;
}

/**
 * Returns whether this process already runs in the environment that the choice needs.
 *
 * @param {AdapterChoice} choice
 */
export function isPreparedFor(choice) {
  const [folder] = (choice.environment.LD_LIBRARY_PATH ?? '').split(delimiter);
  return !folder || process.env.LD_LIBRARY_PATH?.split(delimiter)[0] === folder;
}

/**
 * Runs a command in the environment of the choice, in place of this process: the command gets
 * this process's stdio and signals, and this process ends with the command's exit code or signal.
 *
 * @param {AdapterChoice} choice
 * @param {string} command
 * @param {string[]} commandArguments
 * @returns {Promise<never>}
 */
export function runInPlace(choice, command, commandArguments) {
  // npm puts .bin on the path; a shell does not. The variable is set on process.env itself: on
  // Windows its name may be Path, and a copy of process.env would then have both.
  const binaries = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
  process.env.PATH = `${binaries}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(command, commandArguments, {
    stdio: 'inherit',
    env: { ...process.env, ...choice.environment },
    // On Windows npm installs .cmd files, which only a shell starts.
    shell: process.platform === 'win32' && command !== process.execPath,
  });
  // In a terminal, Ctrl+C reaches the child as well, and many programs read a second SIGINT as
  // "at once".
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
