/**
 * The modes of the bench, as plain data: `npm run bench -- --help` needs no build. dev/bench/modes
 * has their code. The durations, with defaults, are of two busy cores with SwiftShader; the shorter
 * end of each, and both ends of `targets`, are estimates.
 */
export const modes = /** @type {const} */ ({
  'msm-cross-check': {
    title: 'Cross-check',
    about: 'compares every case with the oracles: is it right?',
    takes: '5 to 20 s',
  },
  'msm-bench': {
    title: 'Benchmark',
    about: 'checks the result, then times repetitions at each size, beside noble and the roofline: how fast is it?',
    takes: '10 to 30 s',
  },
  'msm-trace': {
    title: 'Trace',
    about: 'shows the passes of one MSM on a timeline: where does the time go?',
    takes: '5 to 15 s',
  },
  'accum-ab': {
    title: 'A against B',
    about:
      'times two settings in turns and tests whether they differ by more than noise: does private or workgroup scratch win?',
    takes: '15 to 40 s',
  },
  sweep: {
    title: 'Sweep',
    about: 'times every combination of the listed knobs, in turns: which setting is best?',
    takes: '10 to 20 s a setting',
  },
  'field-bench': {
    title: 'Field arithmetic',
    about: 'times products, squares and inversions beside the device’s peak rates: how far from the roofline?',
    takes: '20 to 50 s; with --variants all 1 to 3 min',
  },
  calibrate: {
    title: 'Calibrate',
    about: 'runs the library’s calibrate(): which tuning is fastest on this device?',
    takes: '25 to 65 s',
  },
  proofs: {
    title: 'Proofs',
    about: 'times Groth16 proofs by snarkjs, with and without the library, in turns: what does the one line gain?',
    takes: '1 to 2 min',
    nodeOnly: 'it needs snarkjs and reads the memory of the process; examples/prover/ is a page that proves',
  },
  load: {
    title: 'Load',
    about:
      'times the MSMs of a prover from 1 to 20 callers at once, with and without each way to share the device: what does each gain?',
    takes: '3 to 6 min',
  },
  loading: {
    title: 'Loading',
    about:
      'times loading of the same points: uncompressed, compressed, and with a subgroup check, in turns: what does each cost?',
    takes: '20 to 60 s',
  },
  'cpu-distribution': {
    title: 'Rows to threads',
    about:
      'times MSMs on CPU threads, with equal shares and with chunks of 2 to 256 rows on demand, in turns: which is best?',
    takes: '1 to 5 min',
    withoutGpu: true,
  },
  'cpu-pool': {
    title: 'Workers',
    about: 'measures the CPU’s workers: their start, MSMs that are too small for them, and their memory',
    takes: '30 s to 2 min',
    withoutGpu: true,
  },
  targets: {
    title: 'Targets',
    about: 'measures what the performance targets ask for: which are met, and which are missed?',
    takes: '4 to 10 min up to 2^16',
    nodeOnly: 'it needs the clocks of Node, and new devices that compile every kernel again',
  },
});

/** Returns whether a mode runs on the CPU alone and opens no GPU. @param {keyof typeof modes} mode */
export const isWithoutGpu = (mode) => 'withoutGpu' in modes[mode];

/** Names the machine that `takes` was measured on. @param {keyof typeof modes} mode */
export const seenOn = (mode) => (isWithoutGpu(mode) ? 'two cores' : 'two cores with a software adapter');
