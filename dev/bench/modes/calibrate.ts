/** `calibrate`: the library's own search for the knobs that suit a device. */
import { calibrate as findTuning, indexedDbStore } from '../../../src/index.js';
import { BenchDevice } from '../bench-device.js';
import type { Host } from '../environment.js';
import { formatMs } from '../format.js';
import type { Knobs } from '../knobs.js';
import { rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { tuningQuery } from '../settings.js';
import { tableLines } from '../table.js';
import type { BenchMode } from './mode.js';

export const calibrate: BenchMode = { run: runCalibrate, report };

async function runCalibrate(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const bench = await BenchDevice.open(run, host, knobs);
  try {
    await run.next('Trying settings on a small MSM, each result checked');
    const { signal } = run;
    let remembered = false;
    const browser = indexedDbStore();
    const store = browser && {
      get: (name: string) => browser.get(name),
      set: async (name: string, text: string) => {
        await browser.set(name, text);
        remembered = (await browser.get(name)) === text;
      },
    };
    const { tuning, trials, tookMs, compileMs } = await findTuning(bench.device, {
      again: true,
      store,
      signal,
      onProgress: ({ done, total }) => run.progress(`Tried ${done} of ${total} settings`, done, total),
    });
    for (const { tuning: tried, ms } of trials) run.tell({ event: 'trial', tuning: tried, ms }, 'progress', 'results');
    const query = tuningQuery(tuning).toString();
    run.tell({ event: 'calibrated', tuning, query, tookMs, compileMs, remembered }, 'progress', 'results');
  } finally {
    bench.destroy();
  }
  await run.end(null);
}

function report(rows: readonly StampedRow[]): string[] {
  const spell = (tuning: object): string =>
    Object.entries(tuning)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ') || 'defaults';
  const tried = rowsOf(rows, 'trial').map(({ tuning, ms }) => [
    spell(tuning),
    ms === null ? 'wrong, or impossible' : formatMs(ms),
  ]);
  return rowsOf(rows, 'calibrated').flatMap(({ tuning }) => [
    ...tableLines([['setting', 'ms'], ...tried]),
    '',
    `chosen: ${spell(tuning)}`,
  ]);
}
