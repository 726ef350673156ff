/**
 * Opens snarkjs with a key of one proof system. A proof is made by snarkjs with its own MSMs or
 * those of the library, or by the library alone.
 */
import type { MemoryFile, UniversalSystem } from 'snarkjs';
import { openProvingKey as openFflonk } from '../../../../src/fflonk.js';
import { openProvingKey as openGroth16, type ProvingKeyOptions } from '../../../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../../../src/plonk.js';
import { accelerate } from '../../../../src/provers/accelerate.js';
import type { AccelerateOptions } from '../../../../src/provers/accelerate-options.js';
import type { FfCurveName, FfGroup, MultiExpAffine } from '../../../../src/provers/ffjavascript.js';
import { makeCircuit } from '../../../trial-keys/circuit.js';
import { type KeyCurve, makeKeys } from '../../../trial-keys/keys.js';
import { wordKnob } from '../../knob.js';
import { knownPowers } from '../../known-powers.js';
import { type ProofGraph, predictMs } from './spread.js';
import { traceProof } from './trace.js';

/** Proofs that are traced, and those before them, in which modules are compiled. */
const [TRACES, WARM_UPS] = [5, 4];

/** Words for the provers that snarkjs is compared with. */
export const provers = ['accelerated', 'library'] as const;

/** Provers: snarkjs alone, with the library's MSMs, or the library alone. */
export const sides = ['plain', 'ours', 'whole'] as const;
export type Side = (typeof sides)[number];

export const sideNames: Readonly<Record<Side, string>> = {
  plain: 'snarkjs alone',
  ours: 'snarkjs with the library',
  whole: 'the library alone',
};

export const systems = ['groth16', 'plonk', 'fflonk'] as const;
export type System = (typeof systems)[number];

/** Kinds of witnesses: large values, or bits of which one in eight is set. */
const witnesses = ['dense', 'sparse'] as const;
export type Witness = (typeof witnesses)[number];

export const witnessKnob = wordKnob(['Witness', 'Kind of witness: large values, or bits.'], witnesses, 'dense');

interface ProofTime {
  readonly ms: number;
  /**
   * Milliseconds of the proof that MSMs took; of several proofs at once the sum. null for the
   * library alone, whose parts overlap.
   */
  readonly msmMs: number | null;
}

interface Made {
  readonly proof: object;
  readonly publicSignals: readonly string[];
}

/** A key that the library proves with. */
interface OwnKey {
  prove(witness: Uint8Array): Promise<Made>;
  destroy(): void;
}

const openers: Readonly<Record<System, (zkey: Uint8Array, options: ProvingKeyOptions) => Promise<OwnKey>>> = {
  groth16: openGroth16,
  plonk: openPlonk,
  fflonk: openFflonk,
};

interface ProvingCurve extends KeyCurve {
  readonly G1: FfGroup & KeyCurve['G1'];
  readonly G2: FfGroup & KeyCurve['G2'];
  terminate(): Promise<void>;
}

const theirNames: Readonly<Partial<Record<string, string>>> = {
  bn254: 'bn128',
  'bls12-381': 'bls12381',
} satisfies Record<FfCurveName, string>;

const file = (data: Uint8Array) => ({ type: 'mem' as const, data });

/** @throws Error if snarkjs is not installed */
export async function loadSnarkjs(): Promise<typeof import('snarkjs')> {
  // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
  const name = 'snarkjs';
  return import(/* @vite-ignore */ name).catch((cause: unknown) => {
    throw new Error('snarkjs is not installed; run npm install snarkjs', { cause });
  });
}

type ProvingGroup = ProvingCurve['G1' | 'G2'];

/** Runs `work` with the given MSM function of each group, and adds up their time. */
async function timed<Result>(
  groups: readonly ProvingGroup[],
  functions: readonly MultiExpAffine[],
  work: () => Promise<Result>,
) {
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
}

async function setUp(system: UniversalSystem, curve: FfCurveName, logn: number, r1cs: Uint8Array) {
  const zkey: MemoryFile = { type: 'mem' };
  // FFLONK takes nine powers for each row, PLONK fewer
  await system.setup(file(r1cs), file(await knownPowers(curve, logn, 9 * 2 ** logn + 18)), zkey);
  return file(zkey.data as Uint8Array);
}

/**
 * @param logn logarithm of the size of the domain
 * @throws Error if snarkjs is not installed, or does not support the curve
 */
export async function openProver(
  curve: string,
  logn: number,
  onKeys: (share: number) => void,
  name: System = 'groth16',
  witness: Witness = 'dense',
) {
  const theirName = theirNames[curve];
  if (theirName === undefined)
    throw new Error(`curve: snarkjs does not support ${curve}; use ${Object.keys(theirNames).join(' or ')}`);
  const snarkjs = await loadSnarkjs();
  const ff = (await snarkjs.curves.getCurveFromName(theirName)) as unknown as ProvingCurve;
  // Groth16's domain also has rows for the 1 and the public signal, PLONK's for the public signal
  const constraints = 2 ** logn - (name === 'groth16' ? 2 : 3);
  const circuit = makeCircuit(BigInt(ff.r), constraints, witness);
  const system = snarkjs[name];
  const zkey =
    name === 'groth16'
      ? file(await makeKeys(ff, circuit, onKeys))
      : await setUp(snarkjs[name], curve as FfCurveName, logn, circuit.r1cs);
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  const groups = [ff.G1, ff.G2];
  const plain = groups.map(({ multiExpAffine }) => multiExpAffine);
  let libraryKey: OwnKey | null = null;
  /** Keys by the number of threads. */
  const onThreads = new Map<number, OwnKey>();
  let ours: { readonly functions: readonly MultiExpAffine[]; restore(): void } | null = null;

  type ProveAll = (prove: () => Promise<Made>) => Promise<Made[]>;

  const proveAlone = async (proveAll: ProveAll, threads?: number) => {
    const opened = threads === undefined ? libraryKey : onThreads.get(threads);
    if (!opened) throw new Error('call open() before proving with the library alone');
    const begun = performance.now();
    const made = await proveAll(() => opened.prove(circuit.witness));
    return { made, ms: performance.now() - begun, msmMs: null };
  };

  const proveWith = (side: 'plain' | 'ours', proveAll: ProveAll) => {
    const functions = side === 'plain' ? plain : ours?.functions;
    if (functions === undefined) throw new Error('call accelerate() before proving with the library');
    return timed(groups, functions, () => proveAll(() => system.prove(zkey, file(circuit.witness))));
  };

  return {
    constraints: circuit.constraints.length,

    /** Enables proofs with the library. */
    async accelerate(options: AccelerateOptions): Promise<void> {
      const restore = await accelerate(snarkjs, { ...options, measure: false });
      ours = { functions: groups.map(({ multiExpAffine }) => multiExpAffine), restore };
    },

    /** Enables proofs by the library alone. */
    async open(options: ProvingKeyOptions): Promise<void> {
      libraryKey = await openers[name](zkey.data, options);
    },

    /** Enables proofs by the library alone on some threads of the CPU, and makes two, which start them. */
    async openOn(threads: number, options: ProvingKeyOptions): Promise<void> {
      const key = await openers[name](zkey.data, { ...options, backend: 'cpu', maxWorkers: threads - 1 });
      onThreads.set(threads, key);
      for (let proofs = 0; proofs < 2; proofs++) await key.prove(circuit.witness);
    },

    /** Returns the parts of a proof by the library alone on one thread: those of the median of some proofs. */
    async trace(options: ProvingKeyOptions): Promise<ProofGraph> {
      const key = await openers[name](zkey.data, { ...options, backend: 'cpu', maxWorkers: 0 });
      try {
        const graphs: ProofGraph[] = [];
        for (let proofs = 0; proofs < WARM_UPS; proofs++) await key.prove(circuit.witness);
        for (let proofs = 0; proofs < TRACES; proofs++) {
          graphs.push(await traceProof(() => key.prove(circuit.witness)));
        }
        const [middle] = graphs.sort((a, b) => predictMs(a, 1) - predictMs(b, 1)).slice(TRACES >> 1);
        return middle as ProofGraph;
      } finally {
        key.destroy();
      }
    },

    /**
     * Makes proofs at once, and verifies them.
     *
     * @param threads of a key of `openOn`
     * @throws Error if a proof does not verify, or the library fell back to snarkjs
     */
    async prove(side: Side, count = 1, threads?: number): Promise<ProofTime> {
      const proveAll: ProveAll = (prove) => Promise.all(Array.from({ length: count }, prove));
      const { made, ms, msmMs } = await (side === 'whole' ? proveAlone(proveAll, threads) : proveWith(side, proveAll));
      for (const { proof, publicSignals } of made) {
        const isRight =
          publicSignals.join() === circuit.publicSignals.join() && (await system.verify(key, publicSignals, proof));
        if (!isRight) throw new Error(`the proof of ${sideNames[side]} does not verify`);
      }
      if (accelerate.stats.fallbacks > 0) throw new Error('the library failed, and snarkjs computed instead');
      return { ms, msmMs };
    },

    async close(): Promise<void> {
      libraryKey?.destroy();
      for (const key of onThreads.values()) key.destroy();
      ours?.restore();
      await ff.terminate();
    },
  };
}
