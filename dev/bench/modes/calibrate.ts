/** `calibrate`: runs the library's own search for the knobs that suit a device. */
import type { CalibrationTrial, Tuning } from '../../../src/api/device.js';
import { calibrate as findTuning, indexedDbStore } from '../../../src/calibrate.js';
import type { GpuBench } from '../bench-setup.js';
import { formatMs } from '../format.js';
import type { Knobs } from '../knob.js';
import { headline, notes, type Parts, tableOf, tiles } from '../parts.js';
import { rowsOf, type StampedRow } from '../rows.js';
import { tuningQuery } from '../settings.js';
import { benchMode } from './mode.js';

declare module '../rows.js' {
  interface Rows {
    /** One setting that calibrate tried; its time is null if it failed or computed wrongly. */
    readonly trial: CalibrationTrial;
    readonly calibrated: {
      /** Knobs that differ from their defaults. */
      readonly tuning: Partial<Tuning>;
      /** The tuning as URL parameters. */
      readonly query: string;
      readonly tookMs: number;
      readonly compileMs: number;
      /** True if the browser stored the tuning. */
      readonly remembered: boolean;
    };
  }
}

export const calibrate = benchMode({
  title: 'Calibrate',
  about: 'runs the library’s calibrate(): which tuning is fastest on this device?',
  takes: '25 to 65 s',
  example: 'calibrate --curve bls12-381',
  runsOn: 'gpu',
  uses: ['curve', 'group'],
  engine: [],
  defaults: {},
  knobs: {},
  run: runCalibrate,
  show,
});

async function runCalibrate({ run, device }: GpuBench, { curve, group }: Knobs): Promise<null> {
  await run.next('Trying settings on a small MSM and checking each result');
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
  const { tuning, trials, tookMs, compileMs } = await findTuning(device, {
    ...{ curve, group, again: true, store, signal },
    onProgress: ({ done, total }) => run.progress(`Tried ${done} of ${total} settings`, done, total),
  });
  for (const trial of trials) run.emit({ event: 'trial', ...trial });
  const query = tuningQuery(tuning).toString();
  run.emit({ event: 'calibrated', tuning, query, tookMs, compileMs, remembered });
  return null;
}

function show(rows: readonly StampedRow[]): Parts {
  const [row] = rowsOf(rows, 'calibrated');
  if (row === undefined) return [];
  const chosen = row.query;
  const spell = (query: string): string => query.replaceAll('&', ', ') || 'defaults';
  const trials = rowsOf(rows, 'trial').map((each) => ({ ...each, query: tuningQuery(each.tuning).toString() }));
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const against = [...new URLSearchParams(chosen)].map(([name, value]) => `&b.${name}=${value}`).join('');
  const kept = row.remembered
    ? 'This browser stored it, so calibrate(device) returns it at once.'
    : 'It was not stored.';
  // links keep the curve and group of the run
  const asked = new URLSearchParams(rowsOf(rows, 'init')[0]?.query);
  const where = ['curve', 'group'].map((name) => (asked.has(name) ? `&${name}=${asked.get(name)}` : '')).join('');
  const benchmark = {
    text: 'the benchmark with it',
    query: `autorun=msm-bench${where}&logn=10,12,14${chosen && `&${chosen}`}`,
  };
  const comparison = { text: 'the comparison with the defaults', query: `autorun=accum-ab${where}&logn=12${against}` };
  return [
    headline(
      chosen === ''
        ? 'The defaults are the best setting for this device: no other was more than 3 % faster, also in the final check.'
        : `The best setting for this device is ${spell(chosen)}: it is faster than the defaults.`,
    ),
    tiles(
      ['Settings tried', String(trials.length)],
      ['Duration', `${seconds(row.tookMs)} s`, `including ${seconds(row.compileMs)} s of compilation`],
    ),
    tableOf(
      'Settings tried on a small MSM, one knob at a time, each interleaved with the defaults',
      trials,
      [
        ['Setting', ({ query }) => spell(query)],
        ['ms', ({ ms }) => (ms === null ? 'wrong or not supported' : formatMs(ms))],
        ['Defaults in these rounds, ms', ({ defaults }) => (defaults ? formatMs(defaults.ms) : '–')],
        ['÷ defaults', ({ defaults }) => (defaults ? { text: defaults.ratio.toFixed(3), as: 'strong' } : '–')],
        ['95 % CI', ({ defaults: of }) => (of ? `${of.low.toFixed(3)} to ${of.high.toFixed(3)}` : '–')],
        ['Chosen', ({ query }) => (query === chosen ? '✓ chosen' : '')],
      ],
      { of: ({ ms }) => (ms === null ? { is: 'failed' } : {}) },
    ),
    notes(
      'Each setting is compared with the defaults of the same rounds; medians of different rows are not comparable. A setting is chosen if it is more than 3 % faster than the defaults, and significantly so, in its rounds and in a final check.',
      [`${kept} To measure its gain, see `, benchmark, ...(chosen === '' ? [] : [', ', comparison]), '.'],
    ),
  ];
}
