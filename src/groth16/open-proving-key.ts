/** Opens keys of Groth16. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine } from '../api/fields.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { progressRow } from '../engine/options.js';
import { assertNotAborted, badArgument, notLoaded, warnBy } from '../errors.js';
import type { PackedEntries } from '../fields/program/entries.js';
import { type OpenField, openField } from '../fields/program/open-field.js';
import type { KeyReader } from '../formats/cached-file.js';
import type { FileOrigin, FileSource, PointSection } from '../formats/source.js';
import { fileOf, type Groth16Zkey } from '../formats/zkey.js';
import { type OptionTable, readOptions } from '../option-table.js';
import type { EngineOptions } from '../proofs/api.js';
import {
  CircuitProver,
  type KeySettings,
  keyOptions,
  keySettingsOf,
  loadThroughCache,
  type PointBytes,
  type ProofRun,
  type Statement,
  warnOfOldNode,
} from '../proofs/circuit-prover.js';
import { assertFinite, inSection, readPoint } from '../proofs/few-points.js';
import type { KeyLimit, KeyPlan } from '../proofs/key-memory.js';
import { KeyPoints } from '../proofs/key-points.js';
import { KeyVectors } from '../proofs/key-vectors.js';
import { publicSignalsOf } from '../proofs/snarkjs-json.js';
import { type DrawScalar, drawRandomScalar, dropCopy, readWitness } from '../proofs/witness.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { canShare } from '../threads/platform.js';
import { type ProofResult, type ProvingKey, type ProvingKeyOptions, writeProof } from './api.js';
import {
  areInOrder,
  CoefficientSection,
  type PackedLoader,
  type ReadMatrices,
  readCoefficients,
} from './coefficients.js';
import { hasRoom, mayStayWhole, mostBytesOfQuotient, planKey } from './memory.js';
import {
  bytesOfQuotient,
  computePoints,
  cosetOf,
  destroyEngines,
  type Engines,
  type HeaderPoints,
  type LoadedKey,
  type MatrixPlace,
  openEngines,
} from './prove.js';
import { verify } from './verify.js';

/** Sections that are loaded: the matrices, the points of the header, and those of five sums. */
const PARTS = 7;

/** Returns what loads the matrices into an engine. */
const matrixLoader =
  ([a, b]: ReadMatrices['matrices']) =>
  async (fr: FieldEngine, ending: AbortSignal | undefined) => {
    // values times 2^512 are read as values times 2^256
    const options = { encoding: 'le-montgomery', ...(ending && { signal: ending }) } as const;
    const loadOne = (entries: PackedEntries) => (fr as PackedLoader).loadPackedMatrix(entries, options);
    return { fr, a: await loadOne(a), b: await loadOne(b) };
  };

const readFinite = async <Of extends Coordinate>(
  engine: MsmEngine<Of>,
  section: PointSection,
): Promise<AffinePoint<Of>> => {
  assertFinite(section, await section.points());
  return readPoint(engine, section);
};

const loadPoints = async (
  { few1, few2 }: Engines,
  { alpha1, beta1, beta2, gamma2, delta1, delta2 }: Groth16Zkey['sections'],
): Promise<HeaderPoints> => {
  const read1 = (section: PointSection) => inSection(section.name, () => readFinite(few1, section));
  const read2 = (section: PointSection) => inSection(section.name, () => readFinite(few2, section));
  return {
    ...{ alpha1: await read1(alpha1), beta1: await read1(beta1), beta2: await read2(beta2) },
    ...{ gamma2: await read2(gamma2), delta1: await read1(delta1), delta2: await read2(delta2) },
  };
};

/** Warns of a key that newZKey of snarkjs made and nobody contributed to: γ and δ are 1. */
const warnOfSetup = ({ gamma2, delta2 }: HeaderPoints, { onWarning }: EngineOptions): void => {
  const numbers = ({ x, y }: AffinePoint<Fp2>): string => [x, y].flatMap(({ c0, c1 }) => [c0, c1]).join();
  if (numbers(gamma2) !== numbers(delta2)) return;
  warnBy(
    onWarning,
    'zkey: γ equals δ, as before the first contribution to phase 2 of its setup: whoever has the key can make proofs of false statements that verify. Use it for tests alone',
  );
};

/** Loads the points of the verifier. */
const loadVerifier = async ({ few1 }: Engines, ic: PointSection, signal: AbortSignal | undefined): Promise<Bases> => {
  const bytes = await ic.points();
  assertNotAborted(signal);
  const options = { label: ic.name, encoding: ic.encoding, ...(signal && { signal }) };
  return inSection(ic.name, () => few1.loadBases(bytes, options));
};

/** Reads the matrices, as an earlier visit prepared them if a cache has that. */
const readMatrices = async (
  section: CoefficientSection,
  zkey: Groth16Zkey,
  reader: KeyReader | null,
  timeSlice: TimeSlice,
): Promise<ReadMatrices> => {
  if (reader === null) return readCoefficients(section, zkey, timeSlice);
  const { preparedOf, readPrepared } = await import('./prepared-matrices.js').catch(notLoaded('prepared-matrices'));
  const kept = reader.prepared && (await readPrepared(reader.prepared, zkey, timeSlice));
  if (kept !== null) return kept;
  const read = await readCoefficients(section, zkey, timeSlice);
  await reader.prepare?.(...preparedOf(read));
  return read;
};

/** Plans what of the key stays loaded, and loads the matrices, if they have room. */
const openMatrices = async (
  { g1 }: Engines,
  zkey: Groth16Zkey,
  reader: KeyReader | null,
  facts: { readonly field: OpenField; readonly coset: bigint },
  { ofEngines, limit }: KeyOptions,
  signal: AbortSignal | undefined,
): Promise<{ readonly matrices: MatrixPlace; readonly plan: KeyPlan }> => {
  const { curve, variables, domainSize } = zkey;
  const timeSlice = new TimeSlice(() => assertNotAborted(signal));
  const isOnGpu = ofEngines.backend === 'gpu';
  const sizes = { variables, domainSize, sections: sectionsOfSums(zkey), isOnGpu };
  const section = await CoefficientSection.open(zkey);
  const entries = section.bytesOfChunks;
  const inFile = async (isInOrder: boolean) => {
    const plan = planKey(sizes, { quotient: Number.POSITIVE_INFINITY, isInOrder, entries }, limit);
    const { StreamedQuotient } = await import('./streamed-quotient.js').catch(notLoaded('streamed-quotient'));
    const vectors = new StreamedQuotient({ section, ...facts, domainSize, isInOrder });
    return { matrices: { kind: 'in file', vectors }, plan } as const;
  };
  if (!isOnGpu && !mayStayWhole(sizes, limit)) {
    return inFile(await areInOrder(section, timeSlice));
  }
  const { matrices, isInOrder } = await readMatrices(section, zkey, reader, timeSlice);
  // Workers that share no memory add up the witness while this thread computes the quotient.
  const memory = { isAlone: !canShare() };
  const vectors = await KeyVectors.open(curve, g1, ofEngines, matrixLoader(matrices), signal, memory);
  try {
    let quotient = isOnGpu ? 0 : mostBytesOfQuotient(sizes, vectors.memoryUsed);
    // a plan of the vectors takes memory and time, which a key far below the limit need not
    if (!isOnGpu && !hasRoom(sizes, { quotient, isInOrder, entries }, limit)) {
      quotient = await bytesOfQuotient(vectors.home, facts.coset, variables);
    }
    const plan = planKey(sizes, { quotient, isInOrder, entries }, limit);
    if (!plan.isLimited || isOnGpu) return { matrices: { kind: 'in memory', vectors }, plan };
  } catch (error) {
    vectors.destroy();
    throw error;
  }
  vectors.destroy();
  return inFile(isInOrder);
};

/** Sections of the five sums, in the order in which they are loaded. */
const sectionsOfSums = ({ sections: { a, b1, b2, c, h } }: Groth16Zkey): readonly PointSection[] => [a, b1, b2, c, h];

/** Options of a key. */
interface KeyOptions {
  readonly ofEngines: EngineOptions;
  readonly limit: KeyLimit;
}

const loadKey = async (
  zkey: Groth16Zkey,
  reader: KeyReader | null,
  engines: Engines,
  options: KeyOptions,
  { signal, onProgress }: Pick<ProvingKeyOptions, 'signal' | 'onProgress'>,
): Promise<LoadedKey> => {
  let done = 0;
  const step = <Result>(result: Result): Result => {
    onProgress?.({ phase: 'load', done: ++done, total: PARTS });
    assertNotAborted(signal);
    return result;
  };
  const { curve, variables, publicSignals, domainSize, sections } = zkey;
  const { file } = fileOf(zkey);
  const field = await openField(`${curve}-fr`);
  if (domainSize > 2 ** (field.twoAdicity - 1)) {
    throw badArgument(`zkey: a domain of ${domainSize} is too large; at most 2^${field.twoAdicity - 1} is supported`);
  }
  const ic = await loadVerifier(engines, sections.ic, signal);
  const points = step(await loadPoints(engines, sections));
  warnOfSetup(points, options.ofEngines);
  const coset = cosetOf(field, domainSize);
  const { matrices, plan } = await openMatrices(engines, zkey, reader, { field, coset }, options, signal);
  const counts = new Map(sectionsOfSums(zkey).map((section, i) => [section, plan.counts[i] as number]));
  const { pagePoints } = plan;
  const load = async <Of extends Coordinate>(section: PointSection, engine: MsmEngine<Of>): Promise<KeyPoints<Of>> => {
    const place = { section, engine, file, reader, pagePoints, refusesInfinity: section === sections.h };
    return step(await KeyPoints.load(place, counts.get(section) as number, signal));
  };
  const { g1, g2 } = engines;
  const { a, b1, b2, c, h } = sections;
  try {
    step(matrices);
    return {
      ...{ curve, variables, publicSignals, domainSize, engines, order: field.p },
      ...{ coset, ic, points, matrices, isLimited: plan.isLimited },
      ...{ leastLimit: plan.leastLimit, proofsAtATime: plan.proofsAtATime },
      inOrder: plan.isLimited ? oneAfterTheOther() : (sum) => sum(),
      sections: {
        // one after the other: of a key that is read in parts, one section is in memory at a time
        ...{ a: await load(a, g1), b1: await load(b1, g1), b2: await load(b2, g2) },
        ...{ c: c.count === 0 ? step(null) : await load(c, g1), h: await load(h, g1) },
      },
    };
  } catch (error) {
    matrices.vectors.destroy();
    throw error;
  }
};

/** Returns what runs work after all work that it was given before. */
const oneAfterTheOther = (): LoadedKey['inOrder'] => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
};

/** `openProvingKey`. */
export const provingKeyOptions = {
  of: 'openProvingKey',
  rows: {
    ...keyOptions.rows,
    onProgress: progressRow,
  },
} as const satisfies OptionTable<ProvingKeyOptions>;

/** Does the work of `openProvingKey`; tests choose r and s. */
export const openProvingKeyWith = async (
  source: FileOrigin,
  options: ProvingKeyOptions,
  draw: DrawScalar,
): Promise<ProvingKey> => {
  const call = readOptions(provingKeyOptions, options);
  const settings = keySettingsOf(call);
  const { ofEngines, limit } = settings;
  assertNotAborted(call.signal);
  return loadThroughCache(source, call, async (zkey, reader) => {
    if (zkey.protocol !== 'groth16') {
      throw badArgument(`zkey is a key of ${zkey.protocol}; openProvingKey opens keys of groth16`);
    }
    assertNotAborted(call.signal);
    const engines = await openEngines(zkey.curve, ofEngines, call.signal);
    warnOfOldNode(zkey, engines.g1, ofEngines);
    try {
      const key = await loadKey(zkey, reader, engines, { ofEngines, limit }, call);
      return new LoadedProvingKey(key, draw, settings);
    } catch (error) {
      destroyEngines(engines);
      throw error;
    }
  });
};

/**
 * Loads a `.zkey` of Groth16, on BN254 or BLS12-381, to prove with it. The file is not needed
 * afterwards, unless the key is too large for the limit of memory (`memoryLimit`). Its points are checked, and kept in the memory of the device or of the CPU's workers.
 *
 * @param zkey bytes, a `Blob` or `File`, a source that is read in parts, a `Response`, a `URL`, text (a
 *   path in Node, an address in a page), or a stream
 * @throws MsmError `bad-argument` (another file, another protocol, a section that contradicts the
 *   header), `not-on-curve`, `out-of-memory`, `aborted`, `device-lost`; with `backend: 'gpu'` also
 *   `no-webgpu`, `unsupported-device`
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { openProvingKey } from 'webgpu-msm/groth16';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('circuit.zkey'));
 * const { proof, publicSignals } = await key.prove(await readFile('witness.wtns'));
 * console.log(proof.protocol, publicSignals.length === key.publicSignals); // groth16 true
 * key.destroy();
 * ```
 */
export const openProvingKey = (zkey: FileOrigin, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKeyWith(zkey, options, drawRandomScalar);

/* A key that proves. */

/** Parts of a proof: the scalars of H, five sums, the assembly of its points. */
const PROOF_PARTS = 7;

/** Returns the bytes of points in memory, and of those that each proof reads. */
const bytesOfPoints = ({ sections }: LoadedKey): PointBytes => {
  const { a, b1, b2, c, h } = sections;
  const all = [a, b1, b2, ...(c === null ? [] : [c]), h].map(({ bytes }) => bytes);
  const sumOf = (name: keyof PointBytes): number => all.reduce((sum, each) => sum + each[name], 0);
  return { loaded: sumOf('loaded'), paged: sumOf('paged') };
};

class LoadedProvingKey extends CircuitProver<ProofResult> implements ProvingKey {
  readonly #key: LoadedKey;
  readonly #draw: DrawScalar;

  /** @param draw draws r and s, in this order @param settings queue of its proofs, and warnings */
  constructor(key: LoadedKey, draw: DrawScalar, settings: KeySettings) {
    const { engines, matrices, leastLimit, proofsAtATime } = key;
    super(key, PROOF_PARTS, {
      ...{ settings, proofsAtATime },
      engines: [engines.g1, engines.g2],
      vectors: matrices.vectors,
      leastLimit,
      points: () => bytesOfPoints(key),
    });
    this.#key = key;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { curve, variables, publicSignals, order } = this.#key;
    const values = await readWitness(witness, { order, variables }, run);
    run.secrets.push(values);
    dropCopy(witness, run.secrets);
    const signals = publicSignalsOf(values, publicSignals);
    const blinding = { r: this.#draw(order), s: this.#draw(order) };
    run.secrets.push(blinding.r, blinding.s);
    const proof = writeProof(curve, await computePoints(this.#key, values, blinding, run));
    run.onPart('assembly');
    return { proof, publicSignals: signals };
  }

  protected check({ proof, publicSignals }: Statement, signal: AbortSignal | undefined): Promise<boolean> {
    return verify(this.#key, proof, publicSignals, signal);
  }

  protected free(): void {
    destroyEngines(this.#key.engines);
  }
}
