/** What page and worker tell each other. */

export interface Task {
  /** The circuit has nearly 2^logn constraints. */
  readonly logn: number;
  readonly backend: 'auto' | 'gpu' | 'cpu' | 'both';
}

/** The MSMs of a Groth16 proof, in the order in which snarkjs computes them. */
export const msmNames = ['A', 'B1', 'B2', 'C', 'H'] as const;

/** Milliseconds of one proof. */
export interface ProofTimes {
  readonly total: number;
  readonly msms: Readonly<Record<(typeof msmNames)[number], number>>;
}

export interface Outcome {
  readonly constraints: number;
  /** Each of proofs that were made one after the other. */
  readonly plain: readonly ProofTimes[];
  /** Loads the points. */
  readonly first: ProofTimes;
  readonly ours: readonly ProofTimes[];
  /** Whether snarkjs verified all proofs of each kind, and for the right public signal. */
  readonly verified: { readonly plain: boolean; readonly ours: boolean };
  /** Of our MSMs, how many what computed. */
  readonly on: { readonly gpu: number; readonly cpu: number; readonly both: number };
  readonly adapter: { readonly name: string; readonly software: boolean; readonly isGpu: boolean };
  /** Why snarkjs computed by itself what was to be ours; null if it did not. */
  readonly warning: string | null;
}

export type Message =
  | { readonly kind: 'stage'; readonly name: string; readonly share: number | null }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'problem'; readonly text: string };
