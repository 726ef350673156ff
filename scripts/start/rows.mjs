/** What `npm start -- --json` writes: a row a size, with all that one needs to run it again. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @param {import('./measure.mjs').Measurement[]} measurements
 * @param {{ reps: number, seed: number, precompute: number }} options
 */
export function rows(measurements, { reps, seed, precompute }) {
  const common = { at: new Date().toISOString(), commit: commit(), node: process.version, platform: process.platform };
  return measurements.map(
    ({ n, wallMs, wallsMs, productEquivalents, phases, scratchBytes, basesBytes, lastRun, wrong }) => ({
      ...common,
      adapter: lastRun?.adapter ?? null,
      n,
      reps,
      seed,
      precompute,
      agrees: wrong.length === 0,
      wallMs,
      wallsMs,
      productEquivalents,
      phases,
      scratchBytes,
      basesBytes,
      dispatches: lastRun?.dispatches ?? null,
      submits: lastRun?.submits ?? null,
      tuning: lastRun?.tuning ?? null,
    }),
  );
}

/**
 * The commit that is checked out; where there is no repository, as on a packed GPU host, what WEBGPU_MSM_COMMIT says.
 *
 * @param {string} [folder] of another checkout
 */
export function commit(folder = fileURLToPath(new URL('.', import.meta.url))) {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: folder, encoding: 'utf8' });
  return stdout?.trim() || (process.env.WEBGPU_MSM_COMMIT ?? null);
}
