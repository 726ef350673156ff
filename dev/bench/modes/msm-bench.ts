/** `msm-bench` and `sweep`: check and time MSMs of one setting, or of each combination of lists. */
import { peerNames } from '../../peers/index.js';
import { ofMsm } from '../common-knobs.js';
import { wordsKnob } from '../knob.js';
import { runTimings } from '../timings.js';
import { benchMode } from './mode.js';
import { timingsResult } from './timings-result.js';

const NONE = 'none';

export const msmBench = benchMode({
  title: 'Benchmark',
  about:
    'checks the result, then times repetitions at each size, against noble and the hardware limit: how fast is it?',
  takes: '10 to 30 s',
  example: 'run --logn 10..16 --reps 7',
  runsOn: 'either',
  ...ofMsm,
  defaults: {},
  knobs: {
    peers: wordsKnob(
      ['Compare with', 'Other libraries to time in the same run, interleaved.'],
      [...peerNames, NONE],
      'automatic, by size',
    ),
  },
  run: (bench, knobs) =>
    runTimings(bench, knobs, { bounded: true, peers: knobs.peers?.filter((name) => name !== NONE) ?? null }),
  show: timingsResult,
});

export const sweep = benchMode({
  title: 'Sweep',
  about: 'times every combination of the listed knobs, in turns: which setting is best?',
  takes: '10 to 20 s a setting',
  example: 'run --logn 14 --walkertpb 32,64,128 --c 10..13',
  limits: 'Each knob of the engine may have a list of values: 32,64,128 or 8..12. At most 64 settings.',
  runsOn: 'either',
  settings: 'lists',
  ...ofMsm,
  defaults: { reps: 7 },
  knobs: {},
  run: (bench, knobs) => runTimings(bench, knobs, { bounded: true }),
  show: timingsResult,
});
