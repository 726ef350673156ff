/** `calibrate`: the library's own search for the knobs that suit a device. */
import { calibrate, indexedDbStore } from '../../src/index.js';
import { BenchDevice } from './bench-device.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import type { Run } from './run.js';
import { tuningQuery } from './settings.js';

export async function runCalibrate(run: Run, host: Host, knobs: Knobs): Promise<void> {
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
    const { tuning, trials, tookMs, compileMs } = await calibrate(bench.device, {
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
