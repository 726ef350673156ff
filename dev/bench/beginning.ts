import type { Knobs } from './knobs.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';

/** Tells the first row of a run: all that one needs to know to run it again. */
export function tellBeginning(
  run: Run,
  { mode, seed, settings }: Pick<Knobs, 'mode' | 'seed' | 'settings'>,
  where: Pick<RowOf<'init'>, 'adapter' | 'environment' | 'createMs' | 'query'>,
): void {
  run.bench.adapter = where.adapter;
  const names = settings.map(({ name }) => name);
  run.tell({ event: 'init', mode: mode ?? 'msm-bench', seed, settings: names, ...where }, 'progress', 'results');
}
