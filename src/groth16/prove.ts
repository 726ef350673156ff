/** How a loaded key of Groth16 proves: `computePoints` has the order. */

import type { Bases, MsmEngine, Scalars } from '../api/engine.js';
import type { FieldEngine, FieldOperations, FieldRunOptions, FieldVector, SparseMatrix } from '../api/fields.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import { assertNotAborted, openUntilAborted } from '../errors.js';
import { rootOfOrder } from '../field/powers.js';
import type { OpenField } from '../fields/program/open-field.js';
import { createMsmEngine } from '../index.js';
import type { CircuitFacts, EngineOptions } from '../proofs/api.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { combine, type FewPoints, ONE, openFewPoints } from '../proofs/few-points.js';
import type { KeyPoints } from '../proofs/key-points.js';
import type { InEngine, KeyVectors } from '../proofs/key-vectors.js';
import { SCALAR_BYTES } from '../proofs/witness.js';
import type { ProofPoints } from './api.js';
import type { StreamedQuotient } from './streamed-quotient.js';

/*
 * The three points of a proof: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2. Its part
 * r·(ΣB + β + s·δ) − r·s·δ of π_C is r·(ΣB + β).
 */

/** Secrets of a proof: r and s, which blind it. */
interface Blinding {
  readonly r: Uint8Array<ArrayBuffer>;
  readonly s: Uint8Array<ArrayBuffer>;
}

/**
 * Computes the points of a proof. The factors of few points are multiplied while the sums of many
 * are computed.
 *
 * @param values the witness, which this function takes over
 */
export const computePoints = async (
  key: LoadedKey,
  values: Uint8Array<ArrayBuffer>,
  { r, s }: Blinding,
  run: ProofRun,
): Promise<ProofPoints> => {
  const { points, engines } = key;
  const { few1, few2 } = engines;
  const sums = new Sums(key, values, run);
  const ofA = async (): Promise<AffinePoint> =>
    combine(few1, [
      [await sums.a(), ONE],
      [points.alpha1, ONE],
      [points.delta1, r],
    ]);
  const ofB = async (): Promise<AffinePoint<Fp2>> =>
    combine(few2, [
      [await sums.b2(), ONE],
      [points.beta2, ONE],
      [points.delta2, s],
    ]);
  const [a, b1] = [ofA(), sums.b1()];
  const ofBlinding = async (): Promise<AffinePoint> =>
    combine(few1, [
      [await a, s],
      [await b1, r],
      [points.beta1, r],
    ]);
  try {
    const parts = [a, b1, ofB(), ofBlinding(), sums.c(), sums.h] as const;
    const [pointA, , pointB, blinded, sumC, sumH] = await settleAll(parts, () => run.ending.abort());
    const added = [blinded, sumH, ...(sumC === null ? [] : [sumC])];
    const pointC = await combine(
      few1,
      added.map((each) => [each, ONE] as const),
    );
    return { a: pointA, b: pointB, c: pointC };
  } finally {
    sums.destroy();
  }
};

/* The five sums of a proof, whose scalars are the witness and the quotient. */

class Sums {
  readonly #key: LoadedKey;
  readonly #run: ProofRun;
  /** Scalars of the other sums, once they may begin. */
  readonly #witness: Promise<Scalars>;
  /** Sum H. */
  readonly h: Promise<AffinePoint>;

  /**
   * Begins to compute H, and loads the scalars of the other sums.
   *
   * @param values the witness, which the sums take over
   */
  constructor(key: LoadedKey, values: Uint8Array<ArrayBuffer>, run: ProofRun) {
    this.#key = key;
    this.#run = run;
    // A GPU computes in the order of the calls. H waits for the quotient, so that goes first.
    let begin = (): void => undefined;
    const mayBegin = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.h = this.#ofQuotient(values, begin).finally(begin);
    const loading = key.engines.g1.loadScalars(handOver(values), this.#options);
    this.#witness = Promise.all([loading, mayBegin]).then(([scalars]) => scalars);
  }

  get #options() {
    const { turn, ending } = this.#run;
    return { ...turn, signal: ending.signal };
  }

  async #sum<Of extends Coordinate>(
    name: string,
    points: KeyPoints<Of>,
    few: MsmEngine<Of>,
    scalars: Scalars | FieldVector,
  ): Promise<AffinePoint<Of>> {
    const result = await this.#key.inOrder(() => points.sum(scalars, few, this.#options));
    this.#run.onPart(name);
    return result;
  }

  #ofQuotient(values: Uint8Array, begin: () => void): Promise<AffinePoint> {
    const { engines, matrices: place, coset, sections, domainSize, isLimited } = this.#key;
    if (place.kind === 'in file') return this.#ofStream(place.vectors, values, begin);
    const { vectors } = place;
    if (isLimited) return this.#afterQuotient(vectors, values, begin);
    const { ending, onPart } = this.#run;
    const { signal } = ending;
    const sums = { bases: sections.h.whole as Bases, lengths: domainSize };
    return vectors.compute(sums, signal, async ({ fr, ...matrices }, isOnGpu) => {
      // Threads that can share vectors compute the quotient first, since H waits for it, and add up afterwards. A
      // single worker has enough to add up meanwhile, unless the witness is mostly short (row `vectors-one-worker-bits`).
      const least = isMostlyShort(values) ? 1 : 2;
      const isShared = fr.workers >= least && !engines.g1.backends.includes('gpu');
      if (!isOnGpu && !isShared) begin();
      // w/2^256: matrices are in memory times 2^256
      const witness = await fr.load(values, { ...this.#options, encoding: 'le-montgomery' });
      try {
        const scalars = await computeQuotient(fr, matrices, coset, witness, this.#options);
        begin();
        try {
          onPart('quotient');
          return await this.#sum('H', sections.h, engines.few1, scalars);
        } finally {
          scalars.destroy();
        }
      } finally {
        // not before: after a loss of the device the scalars are computed of it again
        witness.destroy();
      }
    });
  }

  /** Computes the quotient on a GPU whose sums walk pages of points, which take no vectors. */
  async #afterQuotient(
    vectors: KeyVectors<MatricesInEngine>,
    values: Uint8Array,
    begin: () => void,
  ): Promise<AffinePoint> {
    const { coset } = this.#key;
    const { ending } = this.#run;
    const quotient = await vectors.compute(null, ending.signal, async ({ fr, ...matrices }) => {
      // w/2^256: matrices are in memory times 2^256
      const witness = await fr.load(values, { ...this.#options, encoding: 'le-montgomery' });
      try {
        const scalars = await computeQuotient(fr, matrices, coset, witness, this.#options);
        return await fr.read(scalars, this.#options);
      } finally {
        witness.destroy();
      }
    });
    begin();
    return this.#sumOfNumbers(quotient);
  }

  /** Computes the quotient with matrices in the file, while the other sums are added up. */
  async #ofStream(quotient: StreamedQuotient, values: Uint8Array, begin: () => void): Promise<AffinePoint> {
    begin();
    const { signal } = this.#run.ending;
    return this.#sumOfNumbers(await quotient.compute(values, () => assertNotAborted(signal, 'proof'), signal));
  }

  /** Computes H. @param quotient its scalars, which this function takes over */
  async #sumOfNumbers(quotient: Uint8Array<ArrayBuffer>): Promise<AffinePoint> {
    const { engines, sections } = this.#key;
    const { onPart, secrets } = this.#run;
    secrets.push(quotient);
    onPart('quotient');
    const scalars = await engines.g1.loadScalars(handOver(quotient), this.#options);
    try {
      return await this.#sum('H', sections.h, engines.few1, scalars);
    } finally {
      scalars.destroy();
    }
  }

  async a(): Promise<AffinePoint> {
    return this.#sum('A', this.#key.sections.a, this.#key.engines.few1, await this.#witness);
  }

  async b1(): Promise<AffinePoint> {
    return this.#sum('B1', this.#key.sections.b1, this.#key.engines.few1, await this.#witness);
  }

  async b2(): Promise<AffinePoint<Fp2>> {
    return this.#sum('B2', this.#key.sections.b2, this.#key.engines.few2, await this.#witness);
  }

  /** Returns sum C; null if the circuit has no private variables. */
  async c(): Promise<AffinePoint | null> {
    const { engines, sections, publicSignals } = this.#key;
    if (sections.c !== null) {
      return this.#sum('C', sections.c, engines.few1, (await this.#witness).subarray(publicSignals + 1));
    }
    this.#run.onPart('C');
    return null;
  }

  destroy(): void {
    this.#witness.then((scalars) => scalars.destroy()).catch(() => undefined);
  }
}

/** Values of a witness that are looked at, and the share of long ones from which on their sums take long. */
const [SAMPLE, LONG_SHARE] = [1024, 1 / 8];

/** Returns whether most values have at most 32 bits. @param values a witness, little-endian */
const isMostlyShort = (values: Uint8Array): boolean => {
  const count = values.length / SCALAR_BYTES;
  const step = Math.max(1, Math.floor(count / SAMPLE));
  let long = 0;
  for (let i = 0; i < count; i += step) {
    if (values.subarray(i * SCALAR_BYTES + 4, (i + 1) * SCALAR_BYTES).some((byte) => byte !== 0)) long++;
  }
  return long * step < LONG_SHARE * count;
};

/*
 * The scalars of H: values of A·B − C on the coset of odd powers of a root of order 2n, where A, B
 * and C interpolate the two matrices' products with the witness and the products of those on the
 * n-th roots of unity. On that coset the vanishing polynomial is constant, and the key contains its
 * inverse. Source: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2.
 */

/** The matrices of a circuit, times 2^256, so that products with w/2^256 are those with w. */
interface LoadedMatrices {
  readonly a: SparseMatrix;
  readonly b: SparseMatrix;
}

/** The matrices in memory, and the engine that has them. */
export interface MatricesInEngine extends LoadedMatrices, InEngine {}

/** Matrices in memory, or in the file, which proofs read. */
export type MatrixPlace =
  | { readonly kind: 'in memory'; readonly vectors: KeyVectors<MatricesInEngine> }
  | { readonly kind: 'in file'; readonly vectors: StreamedQuotient };

/** Returns the root of unity of order 2n, which shifts the n-th roots to the coset. */
export const cosetOf = (field: OpenField, n: number): bigint => rootOfOrder(field, 2 * n);

const valuesOnCoset = (ops: FieldOperations, values: FieldVector, coset: bigint): FieldVector =>
  ops.ntt(ops.intt(values, { to: 'reversed' }), { from: 'reversed', coset });

/**
 * Computes the scalars of H, one for each element of the domain; the caller destroys them.
 *
 * @param witness w/2^256
 * @param options turn and signal of the run
 * @throws MsmError `aborted`, `destroyed`, `out-of-memory`
 */
const computeQuotient = (
  fr: FieldEngine,
  matrices: LoadedMatrices,
  coset: bigint,
  witness: FieldVector,
  options: FieldRunOptions,
): Promise<FieldVector> => fr.run((ops) => quotientOf(ops, matrices, coset, witness), options);

const quotientOf = (
  ops: FieldOperations,
  { a, b }: LoadedMatrices,
  coset: bigint,
  witness: FieldVector,
): FieldVector => {
  const left = ops.apply(a, witness);
  const right = ops.apply(b, witness);
  const product = valuesOnCoset(ops, ops.multiply(left, right), coset);
  const [leftThere, rightThere] = [valuesOnCoset(ops, left, coset), valuesOnCoset(ops, right, coset)];
  return ops.keep(ops.multiplySubtract(leftThere, rightThere, product));
};

/** Returns the bytes of all vectors and matrices while the scalars of H are computed. */
export const bytesOfQuotient = async (
  { fr, ...matrices }: MatricesInEngine,
  coset: bigint,
  variables: number,
): Promise<number> => {
  const witness = await fr.load(handOver(new Uint8Array(variables * SCALAR_BYTES)));
  try {
    const { bytes } = await fr.plan((ops) => quotientOf(ops, matrices, coset, witness));
    return fr.memory.used + bytes;
  } finally {
    witness.destroy();
  }
};

/* A key in the engines that compute with it. */

/** Engines of a curve. */
export interface Engines extends FewPoints {
  readonly g1: MsmEngine;
  readonly g2: MsmEngine<Fp2>;
}

/** Points of the verifying key; α, β and δ are parts of proofs, too. */
export interface HeaderPoints {
  readonly alpha1: AffinePoint;
  readonly beta1: AffinePoint;
  readonly beta2: AffinePoint<Fp2>;
  readonly gamma2: AffinePoint<Fp2>;
  readonly delta1: AffinePoint;
  readonly delta2: AffinePoint<Fp2>;
}

/** Sections of points. */
export interface KeySections extends Readonly<Record<'a' | 'b1' | 'h', KeyPoints<bigint>>> {
  readonly b2: KeyPoints<Fp2>;
  readonly c: KeyPoints<bigint> | null;
}

/** A key in the memory of engines. */
export interface LoadedKey extends CircuitFacts {
  readonly engines: Engines;
  readonly points: HeaderPoints;
  readonly matrices: MatrixPlace;
  /** Prime of the scalar field. */
  readonly order: bigint;
  /** Shifts the n-th roots of unity to the coset of H. */
  readonly coset: bigint;
  /** True if memory has no room for everything, so that sums may walk pages of points. */
  readonly isLimited: boolean;
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
  /** The least `memoryLimit` that the key opens with, in bytes. */
  readonly leastLimit: number;
  /** Runs sums, one after the other if memory is limited. */
  readonly inOrder: <Result>(sum: () => Promise<Result>) => Promise<Result>;
  /** Points of the five sums; C has none if the circuit has no private variables. */
  readonly sections: KeySections;
  /** Points of the verifier for the constant 1 and the public values, in `few1`. */
  readonly ic: Bases;
}

export const destroyEngines = (engines: Partial<Engines>): void => {
  for (const engine of Object.values(engines) as MsmEngine<Coordinate>[]) engine.destroy();
};

/** Creates the engines of a curve. @throws MsmError as `createMsmEngine` */
export const openEngines = async (
  curve: CircuitFacts['curve'],
  options: EngineOptions,
  signal: AbortSignal | undefined,
): Promise<Engines> => {
  const made: { -readonly [Name in keyof Engines]?: Engines[Name] } = {};
  try {
    made.g1 = await openUntilAborted(createMsmEngine({ ...options, curve }), signal);
    made.g2 = await openUntilAborted(createMsmEngine({ ...options, curve, group: 'g2', deviceOf: made.g1 }), signal);
    Object.assign(made, await openFewPoints(curve));
    return made as Engines;
  } catch (error) {
    destroyEngines(made);
    throw error;
  }
};

/**
 * Waits for all of some work, also after a failure, so that none of it uses what is freed then.
 *
 * @param onFailure called once, at the first failure, to end the rest
 * @throws the error of the first failure
 */
const settleAll = async <Results extends readonly unknown[]>(
  work: { readonly [Index in keyof Results]: Promise<Results[Index]> },
  onFailure: () => void,
): Promise<Results> => {
  let failure: { readonly error: unknown } | null = null;
  const results = await Promise.all(
    work.map((each: Promise<unknown>) =>
      each.catch((error: unknown) => {
        if (failure !== null) return;
        failure = { error };
        onFailure();
      }),
    ),
  );
  const failed = failure as { readonly error: unknown } | null;
  if (failed !== null) throw failed.error;
  return results as unknown as Results;
};
