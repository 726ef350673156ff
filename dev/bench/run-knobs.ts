/** Table of the knobs of a run; knobs of the engine are in settings.ts. */
import type { PointEncoding } from '../../src/api/values.js';
import { defaultCurve } from '../cases/address.js';
import { curveNames, pairNames } from '../oracle/curves.js';
import { peerNames } from '../peers/index.js';
import { systems } from './modes/proofs/system.js';
import { rowNames } from './modes/targets/row.js';
import { type Mode, modeNames, msmModes } from './modes.js';

/**
 * Label and help of a knob of a run, for the form and for help; knobs of the engine are in
 * settings.ts.
 */
export interface RunKnob {
  readonly label: string;
  readonly help: string;
  /** Modes that use the knob. */
  readonly modes: readonly Mode[];
}

/** Modes about threads of the CPU. */
export const ofThreads: readonly Mode[] = ['cpu-distribution', 'cpu-pool'];

export const timed: readonly Mode[] = ['msm-bench', 'msm-trace', 'accum-ab', 'sweep', 'loading', 'load', ...ofThreads];

/** Default encodings of `loading`. Edwards curves have only the first. */
export const defaultEncodings: readonly PointEncoding[] = ['le', 'ark-compressed'];

/** Knobs of a run, in the order of the form. */
export const runKnobs = {
  autorun: {
    label: 'What to run',
    help: 'Each mode answers a question. A URL without a mode starts nothing.',
    modes: modeNames,
  },
  curve: {
    label: 'Curve',
    help: `Curve of the points: ${curveNames.join(', ')}. Default ${defaultCurve}.`,
    modes: [...msmModes, 'proofs', 'loading', 'load', 'calibrate', ...ofThreads],
  },
  group: {
    label: 'Group',
    help: `Group of the curve: g1 (default), or g2, which ${pairNames.join(', ')} have. With a prefix (a.group), the group of that side of a comparison.`,
    modes: [...msmModes, 'loading', 'load', 'calibrate', ...ofThreads],
  },
  encoding: {
    label: 'Encoding',
    help: `Encoding that the points are loaded in: le (default), or another that the library supports for them. The cross-check also asks for the sum in it.`,
    modes: msmModes,
  },
  encodings: {
    label: 'Encodings',
    help: `Encodings that the points are loaded in, interleaved: be,gnark-compressed. The others are compared with the first. Default ${defaultEncodings.join(',')}, where the curve supports them.`,
    modes: ['loading'],
  },
  logn: {
    label: 'Sizes, log₂ n',
    help: 'Sizes as powers of two: 10 or 10,12,14 or 10..18. Default 12; 8,10 for the cross-check, 10 for load, 14 for loading, proofs and threads of the CPU. For targets the largest size (16 on a software adapter, 20 on a GPU).',
    modes: [...msmModes, 'proofs', 'loading', 'load', ...ofThreads, 'targets'],
  },
  n: {
    label: 'Other sizes',
    help: 'Sizes that are not powers of two: 1000 or 1000,4097.',
    modes: [...msmModes, 'loading', ...ofThreads],
  },
  points: { label: 'Points', help: 'Distribution of the points.', modes: msmModes },
  scalars: { label: 'Scalars', help: 'Distribution of the scalars.', modes: msmModes },
  case: {
    label: 'Cases',
    help: 'A case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
    modes: ['msm-cross-check'],
  },
  reps: {
    label: 'Repetitions',
    help: 'Timed repetitions (default 5; 7 in a sweep, field-bench and on threads of the CPU; 12 pairs of A and B), runs of each case (default 3), or passes of load (default 3).',
    modes: [...msmModes, 'field-bench', 'proofs', 'loading', 'load', ...ofThreads, 'targets'],
  },
  seed: {
    label: 'Seed',
    help: 'Seed of all points and scalars. Default 1.',
    modes: [...msmModes, 'loading', 'load', ...ofThreads],
  },
  peers: {
    label: 'Peers',
    help: `Other libraries timed in the same run, interleaved: ${peerNames.join(', ')}, or none. Default: each up to the size at which it is quick.`,
    modes: ['msm-bench'],
  },
  chains: { label: 'Chains', help: 'Independent chains a thread, 1 or 1,2,4,8. Default 1,4.', modes: ['field-bench'] },
  variants: {
    label: 'Products',
    help: 'The library’s own arithmetic (library, the default), or also other products and batches of inversions (all).',
    modes: ['field-bench'],
  },
  threads: {
    label: 'Threads',
    help: 'Threads of a dispatch. Default 256 on a software adapter, 65536 on a GPU.',
    modes: ['field-bench'],
  },
  ms: { label: 'Dispatch, ms', help: 'Shortest duration of a dispatch. Default 50.', modes: ['field-bench'] },
  concurrency: {
    label: 'Callers',
    help: 'Concurrent callers, each of which calls again as soon as it has its result: 1,2,5,10,15,20 (the default). Runs with one kind of sharing off use the largest number.',
    modes: ['load'],
  },
  jobs: { label: 'Jobs', help: 'Sums of a pass, over all callers. Default 60.', modes: ['load'] },
  mix: {
    label: 'Mix',
    help: 'Kind of sums: prover (the default), proof after proof of n constraints over three sets of points; or small, sums of n÷8 to 4n scalars over the same points.',
    modes: ['load'],
  },
  system: {
    label: 'Proof system',
    help: `Proof system of snarkjs: ${systems.join(', ')}. Default groth16.`,
    modes: ['proofs'],
  },
  rows: { label: 'Rows', help: `Some of ${rowNames.join(', ')}. Default all.`, modes: ['targets'] },
  strict: {
    label: 'Strict',
    help: 'Counts a missed target as a failure, like a wrong result.',
    modes: ['targets', 'cpu-pool', 'proofs', 'load'],
  },
} as const satisfies Readonly<Record<string, RunKnob>>;

export type RunKnobName = keyof typeof runKnobs;
