/** Rows that the page sends to its server. */

interface ReadmeRow {
  readonly event: 'readme';
  readonly ms: number;
  /** The text that it prints. */
  readonly printed: string;
}

export interface SumRow {
  readonly event: 'sum';
  readonly group: 'g1' | 'g2';
  readonly n: number;
  readonly arithmetic: string | null;
  readonly workers: number;
  /** The first call, which compiles and starts workers, and the later ones. */
  readonly firstMs: number;
  readonly ms: readonly number[];
  readonly isRight: boolean;
}

/** Proofs of the same statement in turns. */
export interface ProofRow {
  readonly event: 'proof';
  readonly logn: number;
  readonly snarkjsMs: readonly number[];
  readonly acceleratedMs: readonly number[];
  /** Whether snarkjs verified all proofs. */
  readonly verified: boolean;
}

export type Row =
  | { readonly event: 'browser'; readonly userAgent: string; readonly cores: number; readonly isolated: boolean }
  | ReadmeRow
  | SumRow
  | ProofRow
  | { readonly event: 'failed'; readonly text: string }
  | { readonly event: 'end' };
