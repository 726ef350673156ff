/**
 * The builds that commands use: the library as it ships (dist), and the commands with the bench
 * (dist-bench). A build is renewed when a source is newer.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const project = fileURLToPath(new URL('..', import.meta.url));

const shared = ['src', 'wgsl', 'scripts/package', 'scripts/templates'];

/** Builds: the module that each makes, its sources, and the arguments of npm. */
const builds = {
  library: {
    module: 'dist/index.js',
    sources: [...shared, 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.node.json'],
    command: ['run', '--silent', 'build'],
  },
  bench: {
    module: 'dist-bench/bench.js',
    sources: ['src', 'wgsl', 'scripts', 'dev'],
    command: ['exec', '--', 'vite', 'build', '--config', 'vite.bench.config.ts'],
  },
};

/** Returns the latest modification time of a file, or of a folder and all its files. @param {string} path @returns {number} */
function changedAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  // runs write into dev/results, which is no source
  const names = readdirSync(path).filter((name) => name !== 'results');
  return Math.max(stat.mtimeMs, ...names.map((name) => changedAt(join(path, name))));
}

/**
 * Returns whether a build is as new as its sources. On a packed GPU host, which has no sources, any
 * build counts as new.
 *
 * @param {keyof typeof builds} name
 */
export function isFresh(name) {
  const { module, sources } = builds[name];
  const [made, from] = [join(project, module), sources.map((path) => join(project, path))];
  if (!existsSync(made) || !from.every((path) => existsSync(path))) return existsSync(made);
  const configs = readdirSync(project).filter((name) => /\.config\.(ts|mjs)$/.test(name));
  return [...from, ...configs.map((name) => join(project, name))].every(
    (path) => changedAt(path) <= statSync(made).mtimeMs,
  );
}

/**
 * Runs the build if its output is missing or older than a source.
 *
 * @param {keyof typeof builds} name
 * @throws Error if the build fails
 */
export function ensureBuilt(name) {
  if (isFresh(name)) return;
  const { module, command } = builds[name];
  const npm = { cwd: project, stdio: /** @type {const} */ ('inherit'), shell: process.platform === 'win32' };
  const { status } = spawnSync('npm', command, npm);
  if (status !== 0) throw new Error(`${module} is missing or out of date, and npm ${command.join(' ')} failed`);
}

/** Imports the commands, and builds them first if needed. @returns {Promise<typeof import('./commands.js')>} */
export async function openCommands() {
  ensureBuilt('bench');
  return import(pathToFileURL(join(project, builds.bench.module)).href);
}

/**
 * Returns the commit that is checked out. Without a repository, as on a packed GPU host, it is the
 * value of WEBGPU_MSM_COMMIT.
 *
 * @returns {string | null}
 */
export function commit() {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: project, encoding: 'utf8' });
  return stdout?.trim() || (process.env.WEBGPU_MSM_COMMIT ?? null);
}
