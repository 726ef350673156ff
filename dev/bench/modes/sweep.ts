/** `sweep`: times every combination of the listed knobs. */
import { ofMsm } from '../common-knobs.js';
import { runTimings } from '../timings.js';
import { benchMode } from './mode.js';
import { timingsResult } from './timings-result.js';

export const sweep = benchMode({
  title: 'Sweep',
  about: 'times every combination of the listed knobs, in turns: which setting is best?',
  takes: '10 to 20 s a setting',
  example: 'run --logn 14 --walkertpb 32,64,128 --c 10..13',
  limits: 'Each knob of the engine may have a list of values: 32,64,128 or 8..12. At most 64 settings.',
  runsOn: 'either',
  timesCases: true,
  settings: 'lists',
  ...ofMsm,
  defaults: { reps: 7 },
  knobs: {},
  run: (run, host, knobs) => runTimings(run, host, knobs, { bounded: true }),
  show: timingsResult,
});
