/** Rows of `proofs`. */
import type { Side } from './prover.js';
import type { System, Witness } from './system.js';

declare module '../../rows.js' {
  interface Rows {
    /** One verified proof. */
    readonly proof: {
      /** Absent in old rows, which are of Groth16. */
      readonly system?: System;
      /** Absent in old rows, which are of dense ones. */
      readonly witness?: Witness;
      /** Logarithm of the size of the domain. */
      readonly logn: number;
      readonly constraints: number;
      readonly side: Side;
      /**
       * `first`: the first proof of a side, which loads what it keeps. `by itself`: before the
       * other sides are opened, or after it. `in turns`: all sides interleaved.
       */
      readonly when: 'first' | 'by itself' | 'in turns';
      readonly repetition: number;
      readonly ms: number;
      /** Milliseconds of the proof that MSMs took; null if they overlap with other parts. */
      readonly msmMs: number | null;
      /**
       * Peak memory of the process during the proof, with what sides before it hold; null if
       * unknown.
       */
      readonly peakBytes: number | null;
    };
    /** Proofs made at once, as a proving service makes them; all verified. */
    readonly proving: {
      readonly system: System;
      readonly witness?: Witness;
      readonly logn: number;
      readonly side: Side;
      readonly concurrency: number;
      readonly repetition: number;
      readonly ms: number;
      readonly secondsPerProof: number;
    };
  }
}
