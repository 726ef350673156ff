/**
 * node scripts/package/lint-package.mjs
 *
 * Runs publint and attw on the file that `npm pack` makes, in a temporary folder.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, project } from '../builds.mjs';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-package-'));

/** Runs a program and returns its output. @param {string[]} command */
const run = ([program, ...options]) =>
  execFileSync(/** @type {string} */ (program), options, {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });

/** Runs a tool and prints its output. @param {string} tool @param {string[]} options */
const check = (tool, ...options) => process.stdout.write(run(['npx', '--no-install', tool, ...options]));

try {
  ensureBuilt('library');
  const pack = ['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(run(pack));
  const packed = join(folder, filename);
  check('publint', 'run', packed, '--strict');
  check('attw', packed, '--profile', 'esm-only');
} catch (error) {
  const { stdout, message } = /** @type {Error & { stdout?: string }} */ (error);
  console.error(stdout || message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
