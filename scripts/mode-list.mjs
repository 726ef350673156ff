/**
 * What the bench can run: plain data, so that `npm run bench -- --help` needs no build. What each mode does is in dev/bench/modes. How long it
 * takes with its defaults was seen on two cores with SwiftShader that had much else to do; the shorter end, and that of `targets`, are estimates.
 */
export const modes = /** @type {const} */ ({
  'msm-cross-check': {
    title: 'Cross-check',
    about: 'compares case after case with the oracles: is it right?',
    takes: '5 to 20 s',
  },
  'msm-bench': {
    title: 'Benchmark',
    about: 'checks the answer, then times repetitions at each size, beside noble and the roofline: how fast is it?',
    takes: '10 to 30 s',
  },
  'msm-trace': {
    title: 'Trace',
    about: 'the passes of one MSM on a time line: where does the time go?',
    takes: '5 to 15 s',
  },
  'accum-ab': {
    title: 'A against B',
    about:
      'two settings in turns, and whether their difference is more than noise: does private or workgroup scratch win?',
    takes: '15 to 40 s',
  },
  sweep: {
    title: 'Sweep',
    about: 'every combination of the listed knobs, in turns: which setting is best?',
    takes: '10 to 20 s a setting',
  },
  'field-bench': {
    title: 'Field arithmetic',
    about: 'products, squares and inversions beside the device’s peaks: how far from the roofline?',
    takes: '20 to 50 s; with --variants all 1 to 3 min',
  },
  calibrate: {
    title: 'Calibrate',
    about: 'what the library’s own calibrate() finds for this device',
    takes: '25 to 65 s',
  },
  crossover: {
    title: 'CPU or GPU',
    about: 'the same MSMs on the CPU and on the GPU, from 1 point on: up to which n is the CPU faster?',
    takes: '30 to 90 s',
  },
  replay: {
    title: 'Replay',
    about:
      'the calls of a prover, by the GPU alone, the CPU alone, both, and as the library decides, in turns: how good are its decisions?',
    takes: '40 s to 3 min',
  },
  proofs: {
    title: 'Proofs',
    about: 'Groth16 proofs of snarkjs, alone and with the library, in turns: what does the one line gain?',
    takes: '1 to 2 min',
    nodeOnly: 'it takes snarkjs and the memory of the process; examples/prover/ is a page that proves',
  },
  load: {
    title: 'Load',
    about:
      'the sums of a prover from 1 to 20 callers at once, and without each way in which calls share the device: what does each gain?',
    takes: '3 to 6 min',
  },
  loading: {
    title: 'Loading',
    about:
      'the same points whole, compressed, and asked whether they are in the group, in turns: what does loading take?',
    takes: '20 to 60 s',
  },
  'cpu-distribution': {
    title: 'Rows to threads',
    about:
      'MSMs on the threads of the CPU, in equal shares and in chunks of 2 to 256 rows that whoever is done draws, in turns: which is best?',
    takes: '1 to 5 min',
    withoutGpu: true,
  },
  'cpu-pool': {
    title: 'Workers',
    about: 'what workers of the CPU take to start, where there is too little for them to do, and of the memory?',
    takes: '30 s to 2 min',
    withoutGpu: true,
  },
  targets: {
    title: 'Targets',
    about: 'what the library is meant to reach, measured: what is met, and what is missed?',
    takes: '4 to 10 min up to 2^16',
    nodeOnly: 'it needs the clocks of Node, and devices that compile anew',
  },
});

/** Whether a mode is about the CPU alone: no GPU is opened. @param {keyof typeof modes} mode */
export const isWithoutGpu = (mode) => 'withoutGpu' in modes[mode];

/** What `takes` was seen on. @param {keyof typeof modes} mode */
export const seenOn = (mode) => (isWithoutGpu(mode) ? 'two cores' : 'two cores that play GPU');
