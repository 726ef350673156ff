/** Keys of PLONK and FFLONK: how they are opened, how they prove, and what a running proof holds. */
import type { MsmEngine } from '../../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../../api/fields.js';
import { assertNotAborted, badArgument, type MsmError, openUntilAborted } from '../../errors.js';
import type { FileOrigin, FileSource } from '../../formats/source.js';
import { fileOf, type PlonkZkey } from '../../formats/zkey.js';
import { createMsmEngine } from '../../index.js';
import { readOptions } from '../../option-table.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import { canShare } from '../../threads/platform.js';
import type { CircuitFacts, ProvingKeyOptions } from '../api.js';
import {
  CircuitProver,
  type KeySettings,
  keyOptions,
  keySettingsOf,
  loadThroughCache,
  type ProofRun,
  type Statement,
  warnOfOldNode,
} from '../circuit-prover.js';
import { type CheckedReader, KeyPoints } from '../key-points.js';
import { type InEngine, KeyVectors, type Load, wantsBoth } from '../key-vectors.js';
import { publicSignalsOf } from '../snarkjs-json.js';
import { type DrawScalar, numberOf, numbersIn, readWitness, SCALAR_BYTES } from '../witness.js';
import {
  extendWitness,
  openPolynomials,
  type PlonkishCircuit,
  type PolynomialPlaces,
  type ReadPolynomial,
} from './circuit.js';
import { planKey, type VectorCounts } from './memory.js';
import { encodeCommitment } from './transcript.js';

/** A key's file, and the engine of its sums, which a loaded key destroys. */
export interface OpenedFile {
  readonly zkey: PlonkZkey;
  /** null without a cache. */
  readonly reader: CheckedReader | null;
  readonly g1: MsmEngine;
  readonly settings: KeySettings;
  readonly signal: AbortSignal | undefined;
}

/** Opens a key of a proof system. @param load loads the key @throws errors of `openProvingKey` */
export const openKey = async <Key extends Pick<CircuitProver<never>, 'keptBy'>>(
  source: FileOrigin,
  options: ProvingKeyOptions,
  protocol: PlonkZkey['protocol'],
  load: (file: OpenedFile) => Promise<Key>,
): Promise<Key> => {
  const read = readOptions(keyOptions, options);
  const { signal } = read;
  const settings = keySettingsOf(read);
  const { ofEngines } = settings;
  assertNotAborted(signal);
  return loadThroughCache(source, read, async (zkey, reader) => {
    if (zkey.protocol !== protocol) {
      throw badArgument(
        `zkey is a key of ${zkey.protocol}; openProvingKey of webgpu-msm/${protocol} opens keys of ${protocol}`,
      );
    }
    const g1 = await openUntilAborted(createMsmEngine({ ...ofEngines, curve: zkey.curve }), signal);
    warnOfOldNode(zkey, g1, ofEngines);
    try {
      return await load({ zkey: zkey as PlonkZkey, reader, g1, settings, signal });
    } catch (error) {
      g1.destroy();
      throw error;
    }
  });
};

/** Powers of τ, where vectors have room, and how polynomials are read. */
interface OpenedPowers {
  readonly powers: KeyPoints<bigint>;
  /** Adds up the sums of pages; null if all powers are loaded. */
  readonly few: MsmEngine | null;
  /** True if the key keeps its polynomials alone. */
  readonly isLimited: boolean;
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
  /** The least `memoryLimit` that the key opens with, in bytes. */
  readonly leastLimit: number;
  readonly readPolynomial: ReadPolynomial;
  readonly memory: Parameters<typeof KeyVectors.open>[5];
}

/**
 * Plans what stays loaded, and loads the first powers of τ.
 *
 * @param key section and number of the powers, places of polynomials, and vectors that the system takes
 * @throws MsmError `out-of-memory` naming the least limit; as `loadBases`, naming the section
 */
export const loadPowers = async (
  { zkey, reader, g1, settings: { ofEngines, limit }, signal }: OpenedFile,
  circuit: PlonkishCircuit,
  {
    section,
    count,
    places,
    vectors,
  }: {
    readonly section: number;
    readonly count: number;
    readonly places: PolynomialPlaces;
    readonly vectors: VectorCounts;
  },
): Promise<OpenedPowers> => {
  const { curve, sections } = zkey;
  const { ptau } = sections;
  const plan = planKey(zkey, circuit, count, vectors, limit, ofEngines);
  const { isLimited, leastLimit, memoryBudget, proofsAtATime } = plan;
  // proofs whose sums walk pages compute their vectors at home
  const isHomeOnly = isLimited || plan.count < count;
  const isReadAgain = !isHomeOnly && wantsBoth(g1, ofEngines.backend);
  const readPolynomial = await openPolynomials(zkey, places, isReadAgain);
  const place = {
    section: {
      ...{ name: `${section} (ptau)`, encoding: ptau.encoding, pointBytes: ptau.pointBytes, count },
      points: (from?: number, to?: number) => ptau.points(from, to),
    },
    ...{ engine: g1, reader, file: fileOf(zkey).file, pagePoints: plan.pagePoints },
    refusesInfinity: true,
  };
  const powers = await KeyPoints.load(place, plan.count, signal);
  const few = powers.whole === null ? await createMsmEngine({ curve, backend: 'cpu', maxWorkers: 0 }) : null;
  // workers that share no memory take vectors by copies of their own
  const memory = { isAlone: isLimited && !canShare(), isHomeOnly, memoryBudget };
  return { powers, few, isLimited, leastLimit, proofsAtATime, readPolynomial, memory };
};

/** Loads the vectors of a key. Ends the engine of `loadPowers` if that fails. @throws MsmError as `KeyVectors.open` */
export const openVectors = <Loaded extends InEngine>(
  { zkey, g1, settings: { ofEngines }, signal }: OpenedFile,
  { few, memory }: OpenedPowers,
  load: Load<Loaded>,
): Promise<KeyVectors<Loaded>> =>
  KeyVectors.open(zkey.curve, g1, ofEngines, load, signal, memory).catch((error: unknown) => {
    few?.destroy();
    throw error;
  });

/** Bytes of a coordinate in G1. */
const COORDINATE_BYTES = { bn254: 32, 'bls12-381': 48 } as const;

/** Rounds of a proof, in both proof systems. */
const ROUNDS = 5;

/** A loaded key of a proof system. */
interface PlonkishKey extends CircuitFacts, ComputingKey {
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
  /** The least `memoryLimit` that the key opens with, in bytes. */
  readonly leastLimit: number;
}

/** A proof, and the public values that it is verified with. */
interface Result<Proof> {
  readonly proof: Proof;
  readonly publicSignals: string[];
}

/** Differences of proof systems. */
export interface PlonkishSystem<Key extends PlonkishKey, Proof> {
  /** Lengths of the longest sums of a proof. */
  lengths(key: Key): number | readonly number[];
  /** Proves. @param witness 32 little-endian bytes for each variable but the additions */
  prove(key: Key, run: ProofRun, witness: Uint8Array, draw: DrawScalar): Promise<Proof>;
  verify(key: Key, proof: unknown, publicSignals: unknown, signal: AbortSignal | undefined): Promise<boolean>;
}

export class PlonkishProvingKey<Key extends PlonkishKey, Proof> extends CircuitProver<Result<Proof>> {
  readonly #vectors: KeyVectors<Key>;
  readonly #draw: DrawScalar;
  readonly #system: PlonkishSystem<Key, Proof>;

  /** @param draw draws b1, b2 and so on, in this order @param settings queue of its proofs, and warnings */
  constructor(vectors: KeyVectors<Key>, draw: DrawScalar, system: PlonkishSystem<Key, Proof>, settings: KeySettings) {
    const { g1, powers, leastLimit, proofsAtATime } = vectors.home;
    const points = () => powers.bytes;
    super(vectors.home, ROUNDS, { settings, proofsAtATime, leastLimit, engines: [g1], vectors, points });
    this.#vectors = vectors;
    this.#draw = draw;
    this.#system = system;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<Result<Proof>> {
    const { home } = this.#vectors;
    const { variables, publicSignals, fr, additions, powers } = home;
    const circuit = { order: fr.p, variables: variables - additions.variables.length / 2 };
    const values = await readWitness(witness, circuit, run);
    run.secrets.push(values);
    const signals = publicSignalsOf(values, publicSignals);
    const bases = powers.whole;
    const sums = bases === null ? null : { bases, lengths: this.#system.lengths(home) };
    const proof = await this.#vectors.compute(sums, run.ending.signal, (key) =>
      this.#system.prove(key, run, values, this.#draw),
    );
    return { proof, publicSignals: signals };
  }

  protected check({ proof, publicSignals }: Statement, signal: AbortSignal | undefined): Promise<boolean> {
    return this.#system.verify(this.#vectors.home, proof, publicSignals, signal);
  }

  protected free(): void {
    this.#vectors.home.g1.destroy();
    this.#vectors.home.few?.destroy();
  }
}

/** Parts of a loaded key that every proof uses. */
interface ComputingKey extends Pick<PlonkishCircuit, 'additions' | 'wires'>, Pick<CircuitFacts, 'curve'> {
  readonly fr: FieldEngine;
  readonly g1: MsmEngine;
  /** Powers of τ. */
  readonly powers: KeyPoints<bigint>;
  /** Adds up the sums of pages; null if all powers are loaded. */
  readonly few: MsmEngine | null;
  readonly publicSignals: number;
}

export class Computation {
  readonly #key: ComputingKey;
  readonly #run: ProofRun;
  /** Vectors with secrets. */
  readonly #vectors: FieldVector[] = [];

  constructor(key: ComputingKey, run: ProofRun) {
    this.#key = key;
    this.#run = run;
  }

  get #options() {
    const { turn, ending } = this.#run;
    return { ...turn, signal: ending.signal };
  }

  /** Frees a vector with the computation. */
  own<Vector extends FieldVector>(vector: Vector): Vector {
    this.#vectors.push(vector);
    return vector;
  }

  record<Result>(record: (operations: FieldOperations) => Result): Promise<Result> {
    return this.#key.fr.run(record, this.#options);
  }

  /** Commits to polynomials. @returns x‖y, big-endian */
  async commit(...polynomials: readonly FieldVector[]): Promise<Uint8Array[]> {
    const { g1, powers, few, fr, curve } = this.#key;
    const { whole } = powers;
    if (whole !== null) return g1.msmBatch(whole, polynomials, { ...this.#options, result: 'be' });
    const slice = (of: readonly FieldVector[], from: number, to: number): Promise<readonly FieldVector[]> => {
      const sliced = (ops: FieldOperations): readonly FieldVector[] =>
        of.map((each) => ops.keep(ops.slice(each, from, Math.min(to, each.length))));
      return fr.run(sliced, this.#options);
    };
    const sums = await powers.commit(polynomials, slice, few as MsmEngine, this.#options);
    return sums.map((sum) => encodeCommitment(sum, COORDINATE_BYTES[curve]));
  }

  /** Returns the numbers of a vector that has no secrets. */
  async read(vector: FieldVector): Promise<bigint[]> {
    return numbersIn(await this.#key.fr.read(vector, this.#options));
  }

  /**
   * Loads the values of all variables, and then random numbers.
   *
   * @param witness 32 little-endian bytes for each variable but the additions
   * @param order the numbers, counted from 1, in the order in which they follow the variables
   * @returns the vector, and the first values of the wire a
   */
  async load(
    witness: Uint8Array,
    order: readonly number[],
    draw: DrawScalar,
  ): Promise<{ inputs: FieldVector; publicValues: bigint[] }> {
    const { additions, fr, wires, publicSignals } = this.#key;
    const { secrets, ending } = this.#run;
    const all = await extendWitness(witness, additions, fr.p, order.length * SCALAR_BYTES, async () => {
      await nextTurn();
      assertNotAborted(ending.signal, 'proof');
    });
    const drawn = order.map(() => draw(fr.p));
    secrets.push(all, ...drawn);
    const first = all.length - order.length * SCALAR_BYTES;
    for (const [i, number] of order.entries()) all.set(drawn[number - 1] as Uint8Array, first + i * SCALAR_BYTES);
    const value = (variable: number): bigint =>
      numberOf(all.subarray(variable * SCALAR_BYTES, (variable + 1) * SCALAR_BYTES));
    const publicValues = Array.from(wires[0].subarray(0, publicSignals), value);
    const inputs = this.own(await fr.load(all, this.#options));
    // the vector has the numbers, so their memory is given back
    all.fill(0);
    secrets.splice(secrets.indexOf(all), 1);
    return { inputs, publicValues };
  }

  /**
   * Returns the error of a witness, with the first constraint that it does not satisfy.
   *
   * @param remainders 0 for each constraint that is satisfied
   */
  async unsatisfied(remainders: FieldVector): Promise<MsmError> {
    const { fr } = this.#key;
    const bytes = await fr.read(remainders, this.#options);
    const first = Math.floor(bytes.findIndex((byte) => byte !== 0) / fr.numberBytes);
    bytes.fill(0);
    const which = first < 0 ? 'the circuit' : `constraint ${first} of the key`;
    return badArgument(`witness: it does not satisfy ${which}`);
  }

  /** Frees the vectors. */
  end(): void {
    for (const vector of this.#vectors) vector.destroy();
  }
}
