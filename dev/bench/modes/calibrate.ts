/** `calibrate`: the library's own search for the knobs that suit a device. */
import { calibrate as findTuning, indexedDbStore } from '../../../src/calibrate.js';
import { openBenchDevice } from '../bench-device.js';
import type { Host } from '../environment.js';
import { formatMs } from '../format.js';
import type { Knobs } from '../knobs.js';
import { notes, type Parts, tableOf, tiles } from '../parts.js';
import { rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { tuningQuery } from '../settings.js';
import type { BenchMode } from './mode.js';

export const calibrate: BenchMode = { run: runCalibrate, show };

async function runCalibrate(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const bench = await openBenchDevice(run, host, knobs);
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
      curve: knobs.curve,
      group: knobs.group,
      again: true,
      store,
      signal,
      onProgress: ({ done, total }) => run.progress(`Tried ${done} of ${total} settings`, done, total),
    });
    for (const trial of trials) run.tell({ event: 'trial', ...trial }, 'progress', 'results');
    const query = tuningQuery(tuning).toString();
    run.tell({ event: 'calibrated', tuning, query, tookMs, compileMs, remembered }, 'progress', 'results');
  } finally {
    bench.destroy();
  }
  await run.end(null);
}

/** What was tried, and what it would have the engine do. */
function show(rows: readonly StampedRow[]): Parts {
  const [row] = rowsOf(rows, 'calibrated');
  if (row === undefined) return [];
  const chosen = row.query;
  const spell = (query: string): string => query.replaceAll('&', ', ') || 'defaults';
  const trials = rowsOf(rows, 'trial').map((each) => ({ ...each, query: tuningQuery(each.tuning).toString() }));
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const against = [...new URLSearchParams(chosen)].map(([name, value]) => `&b.${name}=${value}`).join('');
  const kept = row.remembered
    ? 'This browser remembers it: calibrate(device) gives it to a program at once.'
    : 'Nothing here remembers it.';
  // the group that it was found in
  const asked = new URLSearchParams(rowsOf(rows, 'init')[0]?.query);
  const where = ['curve', 'group'].map((name) => (asked.has(name) ? `&${name}=${asked.get(name)}` : '')).join('');
  const benchmark = {
    text: 'the benchmark with it',
    query: `autorun=msm-bench${where}&logn=10,12,14${chosen && `&${chosen}`}`,
  };
  const duel = { text: 'the defaults against it', query: `autorun=accum-ab${where}&logn=12${against}` };
  return [
    tiles(
      chosen === ''
        ? [
            'What suits this device',
            'the defaults',
            'no setting beat them by 3 %, in its rounds and once more in the end',
          ]
        : ['What suits this device', spell(chosen), 'faster than the defaults'],
      ['Settings tried', String(trials.length)],
      ['Took', `${seconds(row.tookMs)} s`, `${seconds(row.compileMs)} of them compiling`],
    ),
    tableOf(
      'Settings tried on a small MSM, one knob after the other; each beside the defaults of its own turns',
      trials,
      [
        ['Setting', ({ query }) => spell(query)],
        ['ms', ({ ms }) => (ms === null ? 'wrong, or impossible here' : formatMs(ms))],
        ['Defaults then, ms', ({ defaults }) => (defaults ? formatMs(defaults.ms) : '–')],
        ['÷ defaults', ({ defaults }) => (defaults ? { text: defaults.ratio.toFixed(3), as: 'strong' } : '–')],
        ['95 % interval', ({ defaults: of }) => (of ? `${of.low.toFixed(3)} to ${of.high.toFixed(3)}` : '–')],
        ['Chosen', ({ query }) => (query === chosen ? '✓ chosen' : '')],
      ],
      { of: ({ ms }) => (ms === null ? { is: 'failed' } : {}) },
    ),
    notes(
      'Medians in ms of different lines are no comparison: they are of different turns. A setting is chosen over the defaults where it is faster by more than 3 % and by more than noise, in its rounds and once more in the end.',
      [`${kept} See what it is worth: `, benchmark, ...(chosen === '' ? [] : [', ', duel]), '.'],
    ),
  ];
}
