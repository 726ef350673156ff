/** Messages between page and worker. */

export interface Task {
  /** The circuit has 2^logn − 2 constraints. */
  readonly logn: number;
  readonly backend: 'auto' | 'gpu' | 'cpu' | 'both';
}

/** MSMs of a Groth16 proof, in the order of snarkjs. */
export const msmNames = ['A', 'B1', 'B2', 'C', 'H'] as const;

/** Milliseconds of one proof. */
export interface ProofTimes {
  readonly total: number;
  readonly msms: Readonly<Record<(typeof msmNames)[number], number>>;
}

/** snarkjs alone, or with this library. */
export type Side = 'plain' | 'ours';

export interface Outcome {
  readonly constraints: number;
  /**
   * First proof of each side: snarkjs starts its workers, and the library loads points and
   * compiles.
   */
  readonly first: Readonly<Record<Side, ProofTimes>>;
  /** Later proofs. Proofs with the same index are a pair, which ran interleaved. */
  readonly plain: readonly ProofTimes[];
  readonly ours: readonly ProofTimes[];
  /** True if snarkjs verified all proofs of a side, for the correct public signal. */
  readonly verified: { readonly plain: boolean; readonly ours: boolean };
  /** Number of the library's MSMs by backend. */
  readonly on: { readonly gpu: number; readonly cpu: number; readonly both: number };
  readonly adapter: { readonly name: string; readonly software: boolean; readonly isGpu: boolean };
  /** Reason why snarkjs computed instead of the library; null if it did not. */
  readonly warning: string | null;
}

export type Message =
  | { readonly kind: 'stage'; readonly name: string; readonly share: number | null }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'problem'; readonly text: string };
