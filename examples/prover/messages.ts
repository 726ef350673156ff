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

/** snarkjs alone, and snarkjs with this library. */
export type Side = 'plain' | 'ours';

export interface Outcome {
  readonly constraints: number;
  /** The first proof of each kind: snarkjs starts its workers, and we load the points and compile. */
  readonly first: Readonly<Record<Side, ProofTimes>>;
  /** The proofs after it: the one at an index took turns with that of the other kind at the same index. */
  readonly plain: readonly ProofTimes[];
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
