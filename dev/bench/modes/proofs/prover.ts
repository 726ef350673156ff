/** snarkjs with a Groth16 key, which proves with its own MSMs or with the library's, as it is told before each proof. */
import { makeCircuit } from '../../../../examples/prover/circuit.js';
import { type KeyCurve, makeKeys } from '../../../../examples/prover/keys.js';
import { accelerate } from '../../../../src/provers/accelerate.js';
import type { AccelerateOptions } from '../../../../src/provers/accelerate-options.js';
import type { FfCurveName, FfGroup, MultiExpAffine, Snarkjs } from '../../../../src/provers/ffjavascript.js';

/** Who computes MSMs. */
export const sides = ['plain', 'ours'] as const;
export type Side = (typeof sides)[number];

/** One proof, which was verified. */
export interface ProofTime {
  readonly ms: number;
  /** What of it MSMs took. */
  readonly msmMs: number;
}

interface File {
  readonly type: 'mem';
  readonly data: Uint8Array;
}

interface Made {
  readonly proof: unknown;
  readonly publicSignals: readonly string[];
}

/** What is used of snarkjs. */
interface Snark extends Snarkjs {
  readonly curves: NonNullable<Snarkjs['curves']>;
  readonly groth16: {
    prove(zkey: File, witness: File): Promise<Made>;
    verify(key: unknown, publicSignals: readonly string[], proof: unknown): Promise<boolean>;
  };
  readonly zKey: { exportVerificationKey(zkey: File): Promise<unknown> };
}

interface ProvingCurve extends KeyCurve {
  readonly G1: FfGroup & KeyCurve['G1'];
  readonly G2: FfGroup & KeyCurve['G2'];
  terminate(): Promise<void>;
}

const theirNames: Readonly<Partial<Record<string, string>>> = {
  bn254: 'bn128',
  'bls12-381': 'bls12381',
} satisfies Record<FfCurveName, string>;

const file = (data: Uint8Array): File => ({ type: 'mem', data });

/** @throws Error where snarkjs is not installed, or does not know the curve */
export async function openProver(curve: string, logn: number, onKeys: (share: number) => void) {
  const theirName = theirNames[curve];
  if (theirName === undefined)
    throw new Error(`snarkjs does not know ${curve}; it knows ${Object.keys(theirNames).join(', ')}`);
  // not for a bundler to find: it is under the GPL, and no part of what we build
  const name = 'snarkjs';
  const snarkjs = (await import(/* @vite-ignore */ name).catch((cause: unknown) => {
    throw new Error('snarkjs is not installed here: npm install snarkjs', { cause });
  })) as Snark;
  const ff = (await snarkjs.curves.getCurveFromName(theirName)) as ProvingCurve;
  // a row more for the 1 and the public signal
  const circuit = makeCircuit(BigInt(ff.r), 2 ** logn - 2, 'dense');
  const zkey = file(await makeKeys(ff, circuit, onKeys));
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  const groups = [ff.G1, ff.G2];
  const plain = groups.map(({ multiExpAffine }) => multiExpAffine);
  let ours: { readonly functions: readonly MultiExpAffine[]; restore(): void } | null = null;

  /** Has MSMs computed by functions that add up what they take; `work` runs meanwhile. */
  const timed = async (functions: readonly MultiExpAffine[], work: () => Promise<Made>) => {
    let msmMs = 0;
    const before = groups.map(({ multiExpAffine }) => multiExpAffine);
    for (const [i, group] of groups.entries()) {
      const compute = functions[i] as MultiExpAffine;
      group.multiExpAffine = async (...given) => {
        const begun = performance.now();
        const sum = await compute.apply(group, given);
        msmMs += performance.now() - begun;
        return sum;
      };
    }
    const begun = performance.now();
    try {
      const made = await work();
      return { made, ms: performance.now() - begun, msmMs };
    } finally {
      for (const [i, group] of groups.entries()) group.multiExpAffine = before[i] as MultiExpAffine;
    }
  };

  return {
    constraints: circuit.constraints.length,
    zkeyBytes: zkey.data.length,

    /** From now on it can prove with the library. */
    async accelerate(options: AccelerateOptions): Promise<void> {
      const restore = await accelerate(snarkjs, options);
      ours = { functions: groups.map(({ multiExpAffine }) => multiExpAffine), restore };
    },

    /** @throws Error if the proof is wrong, or the library left anything to snarkjs */
    async prove(side: Side): Promise<ProofTime> {
      const functions = side === 'plain' ? plain : ours?.functions;
      if (functions === undefined) throw new Error('it was not accelerated');
      const { made, ms, msmMs } = await timed(functions, () => snarkjs.groth16.prove(zkey, file(circuit.witness)));
      const { proof, publicSignals } = made;
      const isRight =
        publicSignals.join() === circuit.publicSignals.join() &&
        (await snarkjs.groth16.verify(key, publicSignals, proof));
      if (!isRight) throw new Error(`a proof of ${side === 'plain' ? 'snarkjs alone' : 'ours'} does not verify`);
      if (accelerate.stats.fallbacks > 0) throw new Error('snarkjs computed by itself what the library could not');
      return { ms, msmMs };
    },

    async close(): Promise<void> {
      ours?.restore();
      await ff.terminate();
    },
  };
}
export type Prover = Awaited<ReturnType<typeof openProver>>;
