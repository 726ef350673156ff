/** `msm-bench`: checks and times MSMs of one setting at each size. */
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
  timesCases: true,
  ...ofMsm,
  defaults: {},
  knobs: {
    peers: wordsKnob(
      ['Compare with', 'Other libraries to time in the same run, interleaved.'],
      [...peerNames, NONE],
      'automatic, by size',
    ),
  },
  run: (run, host, knobs) =>
    runTimings(run, host, knobs, { bounded: true, peers: knobs.peers?.filter((name) => name !== NONE) ?? null }),
  show: timingsResult,
});
