/** What the bench can run. */

export const modes = {
  'msm-cross-check': {
    title: 'Cross-check',
    about: 'compares case after case with the oracles: is it right?',
  },
  'msm-bench': {
    title: 'Benchmark',
    about: 'checks the answer, then times repetitions at each size, beside noble and the roofline: how fast is it?',
  },
  'msm-trace': {
    title: 'Trace',
    about: 'the passes of one MSM on a time line: where does the time go?',
  },
  'accum-ab': {
    title: 'A against B',
    about:
      'two settings in turns, and whether their difference is more than noise: does private or workgroup scratch win?',
  },
  sweep: {
    title: 'Sweep',
    about: 'every combination of the listed knobs, in turns: which setting is best?',
  },
  'field-bench': {
    title: 'Field arithmetic',
    about: 'products, squares and inversions beside the device’s peaks: how far from the roofline?',
  },
  calibrate: {
    title: 'Calibrate',
    about: 'what the library’s own calibrate() finds for this device',
  },
} as const;

export type Mode = keyof typeof modes;

export const modeNames = Object.keys(modes) as Mode[];

/** Those that multiply what the knobs say, rather than something of their own. */
export const msmModes: readonly Mode[] = ['msm-cross-check', 'msm-bench', 'msm-trace', 'accum-ab', 'sweep'];
