/** What commands run on: the library as it ships (dist), and the bench (dist-bench), made anew where sources are newer. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from './command-line.mjs';

export const project = fileURLToPath(new URL('..', import.meta.url));

/** By the npm script that makes each. */
const builds = {
  build: { module: 'dist/index.js', sources: ['src', 'wgsl', 'scripts/package', 'scripts/templates'] },
  'build:bench': {
    module: 'dist-bench/bench.js',
    sources: ['src', 'wgsl', 'dev', 'scripts/mode-list.mjs', 'scripts/mutate', 'scripts/package', 'scripts/templates'],
  },
};

/** @param {string} path @returns {number} when it, or anything in it, was changed last */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  // results are written there, and are no source
  const names = readdirSync(path).filter((name) => name !== 'results');
  return Math.max(stat.mtimeMs, ...names.map((name) => changedAt(join(path, name))));
}

/** @param {keyof typeof builds} script whether what it makes is as new as its sources; a packed GPU host has none */
function isFresh(script) {
  const { module, sources } = builds[script];
  const [made, from] = [join(project, module), sources.map((path) => join(project, path))];
  if (!existsSync(made) || !from.every((path) => existsSync(path))) return existsSync(made);
  const configs = readdirSync(project).filter((name) => /\.config\.(ts|mjs)$/.test(name));
  return [...from, ...configs.map((name) => join(project, name))].every(
    (path) => changedAt(path) <= statSync(made).mtimeMs,
  );
}

/**
 * Builds what is not there or older than its sources.
 *
 * @param {keyof typeof builds} script
 * @throws Error if it cannot be made
 */
export function ensureBuilt(script) {
  if (isFresh(script)) return;
  const npm = { cwd: project, stdio: /** @type {const} */ ('inherit'), shell: process.platform === 'win32' };
  const { status } = spawnSync('npm', ['run', '--silent', script], npm);
  if (status !== 0) throw new Error(`${builds[script].module} is not there, and npm run ${script} failed`);
}

/** @returns {Promise<typeof import('../dev/bench/index.js')>} */
export async function openBench() {
  ensureBuilt('build:bench');
  return import(pathToFileURL(join(project, builds['build:bench'].module)).href);
}

/**
 * @param {string} folder of a package with a dist in it
 * @param {string} said the option that names it
 * @returns {string} the module
 * @throws UsageError
 */
export function findLibrary(folder, said) {
  const library = resolve(folder, builds.build.module);
  if (!existsSync(library)) throw new UsageError(`--${said}: ${library} is not there; \`npm run build\` makes it`);
  return library;
}

/** @param {string} folder @returns {Promise<import('../dev/bench/environment.js').Library>} */
export async function openLibrary(folder) {
  const library = findLibrary(folder, 'build');
  const module = await import(pathToFileURL(library).href);
  if (module.createMsmEngine === undefined) throw new UsageError(`--build: ${library} exports no createMsmEngine`);
  return module;
}

/**
 * The commit that is checked out; where there is no repository, as on a packed GPU host, what WEBGPU_MSM_COMMIT says.
 *
 * @returns {string | null}
 */
export function commit() {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: project, encoding: 'utf8' });
  return stdout?.trim() || (process.env.WEBGPU_MSM_COMMIT ?? null);
}
