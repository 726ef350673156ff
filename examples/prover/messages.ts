/** Messages between page and worker. */

export type System = 'groth16' | 'plonk' | 'fflonk';

export interface Task {
  readonly system: System;
  /** The domain has 2^logn elements. */
  readonly logn: number;
  readonly backend: 'auto' | 'gpu' | 'cpu' | 'both';
}

/** A stage of a proof, in the order of snarkjs. */
export interface Stage {
  readonly name: string;
  /** Message with which snarkjs begins it; none for the first. */
  readonly begins?: string;
  /** Parts of a proof of webgpu-msm. */
  readonly parts: readonly string[];
}

const sumOf = (name: string): Stage => ({ name: `MSM ${name}`, begins: `Reading ${name} Points`, parts: [name] });
const round = (number: number): Stage => ({
  name: `round ${number}`,
  ...(number > 1 && { begins: `> ROUND ${number}` }),
  parts: [`round ${number}`],
});

export const stagesOf: Readonly<Record<System, readonly Stage[]>> = {
  groth16: [
    { name: 'scalars of H', parts: ['quotient'] },
    ...['A', 'B1', 'B2', 'C'].map(sumOf),
    { ...sumOf('H'), name: 'MSM H, assembly', parts: ['H', 'assembly'] },
  ],
  plonk: [1, 2, 3, 4, 5].map(round),
  fflonk: [1, 2, 3, 4, 5].map(round),
};

/** Milliseconds of one proof. */
export interface ProofTimes {
  readonly total: number;
  /** Milliseconds of each stage. */
  readonly stages: readonly number[];
}

/** snarkjs alone, or this library alone. */
export type Side = 'plain' | 'ours';

export interface Outcome {
  readonly system: System;
  readonly constraints: number;
  /** First proof of each side: snarkjs starts its workers, and the library loads the key. */
  readonly first: Readonly<Record<Side, ProofTimes>>;
  /** Later proofs. Proofs with the same index are a pair, which ran interleaved. */
  readonly plain: readonly ProofTimes[];
  readonly ours: readonly ProofTimes[];
  /** True if snarkjs verified all proofs of a side, for the correct public signal. */
  readonly verified: { readonly plain: boolean; readonly ours: boolean };
  /** Backends that the library chooses from. */
  readonly backends: readonly ('gpu' | 'cpu')[];
  readonly adapter: { readonly name: string; readonly software: boolean; readonly isGpu: boolean };
  /** Warning of the library; null if there is none. */
  readonly warning: string | null;
}

export type Message =
  | { readonly kind: 'stage'; readonly name: string; readonly share: number | null }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'problem'; readonly text: string };
