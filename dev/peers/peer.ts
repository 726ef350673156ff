/** A peer: another MSM implementation, timed in the same run, on the same adapter and inputs. */
import type { AffinePoint, Coordinate } from '../oracle/known-bases.js';

/** The problem to compute, in the formats that libraries take. */
export interface PeerProblem {
  readonly points: readonly AffinePoint<Coordinate>[];
  readonly scalars: readonly bigint[];
  /** 32 little-endian bytes each. */
  readonly scalarBytes: Uint8Array<ArrayBuffer>;
  /** The sum by the oracle. */
  readonly expected: AffinePoint<Coordinate>;
}

/**
 * A module of this folder exports a function that makes a peer; index.ts lists them. Peers stay in
 * the bench: none is a dependency of the package.
 */
export interface Peer<Result = unknown> {
  readonly name: string;
  /**
   * Largest number of points that takes about a second; larger sizes run only if the peer is asked
   * for. 0: only if asked for.
   */
  readonly quickUpTo: number;
  /** Converts the problem, and does what is possible before scalars are known. Not timed. */
  prepare(problem: PeerProblem): Promise<void>;
  /** Computes one MSM of the prepared problem. Timed. */
  run(): Promise<Result>;
  /** Returns whether the result is correct. Not timed; a time counts only if it is. */
  check(result: Result): boolean;
}
