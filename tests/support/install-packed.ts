import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildLibrary } from './build-library.js';
import { inProject } from './run-script.js';

/**
 * Installs in a project what `npm pack` makes of a build of the library: what is not among its
 * `files` is not there.
 */
export const installPacked = async (project: string): Promise<void> => {
  const installed = join(project, 'node_modules/webgpu-msm');
  const whole = join(project, 'whole');
  await buildLibrary(join(whole, 'dist'));
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'src'])
    cpSync(inProject(name), join(whole, name), { recursive: true });
  // its scripts would build dist/ of nothing
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json'], { cwd: whole, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(said);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(whole, filename), '--strip-components=1', '-C', installed]);
  rmSync(whole, { recursive: true });
};
