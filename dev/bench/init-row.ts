import type { Knobs } from './knobs.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';

/** Emits the first row of a run, which holds all that is needed to repeat the run. */
export function emitInit(
  run: Run,
  { mode, seed, settings }: Pick<Knobs, 'mode' | 'seed' | 'settings'>,
  where: Pick<RowOf<'init'>, 'adapter' | 'environment' | 'createMs' | 'query'>,
): void {
  run.bench.adapter = where.adapter;
  const names = settings.map(({ name }) => name);
  run.emit({ event: 'init', mode: mode ?? 'msm-bench', seed, settings: names, ...where }, 'progress', 'results');
}
