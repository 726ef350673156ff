/** Opens keys of Groth16. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine } from '../api/fields.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import { progressRow } from '../engine/options.js';
import { assertNotAborted, badArgument, warnBy } from '../errors.js';
import type { PackedEntries } from '../fields/program/entries.js';
import { openField } from '../fields/program/open-field.js';
import { CHUNK_BYTES, type FileSource, type PointSection } from '../formats/source.js';
import { fileOf, type Groth16Zkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import { type OptionTable, readOptions } from '../option-table.js';
import type { EngineOptions } from '../proofs/api.js';
import {
  CircuitProver,
  type KeySettings,
  keyOptions,
  keySettingsOf,
  type ProofRun,
  type Statement,
  warnOfOldNode,
} from '../proofs/circuit-prover.js';
import { assertFinite, inSection, readPoint } from '../proofs/few-points.js';
import { KeyVectors } from '../proofs/key-vectors.js';
import { publicSignalsOf } from '../proofs/snarkjs-json.js';
import { type DrawScalar, drawRandomScalar, readWitness } from '../proofs/witness.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { type ProofResult, type ProvingKey, type ProvingKeyOptions, writeProof } from './api.js';
import { type PackedLoader, readCoefficients } from './coefficients.js';
import {
  computePoints,
  cosetOf,
  destroyEngines,
  type Engines,
  type HeaderPoints,
  type LoadedKey,
  openEngines,
} from './prove.js';
import { verify } from './verify.js';

/** Sections that are loaded: the matrices, the points of the header, and those of five sums. */
const PARTS = 7;

const loadMatrices = async (
  { g1 }: Engines,
  zkey: Groth16Zkey,
  ofEngines: EngineOptions,
  signal: AbortSignal | undefined,
): Promise<LoadedKey['vectors']> => {
  const [a, b] = await readCoefficients(zkey, new TimeSlice(() => assertNotAborted(signal)));
  const load = async (fr: FieldEngine, ending: AbortSignal | undefined) => {
    // values times 2^512 are read as values times 2^256
    const options = { encoding: 'le-montgomery', ...(ending && { signal: ending }) } as const;
    const loadOne = (entries: PackedEntries) => (fr as PackedLoader).loadPackedMatrix(entries, options);
    return { fr, a: await loadOne(a), b: await loadOne(b) };
  };
  return KeyVectors.open(zkey.curve, g1, ofEngines, load, signal);
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

const loadSection = async (
  { g1, g2 }: Pick<Engines, 'g1' | 'g2'>,
  section: PointSection,
  inMemory: boolean,
  signal: AbortSignal | undefined,
): Promise<Bases> => {
  const { name, encoding } = section;
  const bytes = await section.points();
  assertNotAborted(signal);
  const options = { label: name, encoding, ...(signal && { signal }) };
  // an array of several chunks was made for this call; a smaller one may be the source's own
  if (name === 'H') assertFinite(section, bytes);
  const points = !inMemory && bytes.byteLength > CHUNK_BYTES ? handOver(bytes) : bytes;
  return inSection(name, () => (section.group === 'g1' ? g1 : g2).loadBases(points, options));
};

const loadKey = async (
  zkey: Groth16Zkey,
  engines: Engines,
  ofEngines: EngineOptions,
  { signal, onProgress }: Pick<ProvingKeyOptions, 'signal' | 'onProgress'>,
): Promise<LoadedKey> => {
  let done = 0;
  const step = <Result>(result: Result): Result => {
    onProgress?.({ phase: 'load', done: ++done, total: PARTS });
    assertNotAborted(signal);
    return result;
  };
  const { curve, variables, publicSignals, domainSize, sections } = zkey;
  const { inMemory } = fileOf(zkey).file;
  const load = async (section: PointSection): Promise<Bases> =>
    step(await loadSection(engines, section, inMemory, signal));
  const { a, b1, b2, c, h, ic } = sections;
  const field = await openField(`${curve}-fr`);
  if (domainSize > 2 ** (field.twoAdicity - 1)) {
    throw badArgument(`zkey: a domain of ${domainSize} is too large; at most 2^${field.twoAdicity - 1} is supported`);
  }
  const ofVerifier = await loadSection({ g1: engines.few1, g2: engines.few2 }, ic, inMemory, signal);
  const points = step(await loadPoints(engines, sections));
  warnOfSetup(points, ofEngines);
  const vectors = await loadMatrices(engines, zkey, ofEngines, signal);
  try {
    step(vectors);
    return {
      ...{ curve, variables, publicSignals, domainSize, engines, order: field.p },
      ...{ coset: cosetOf(field, domainSize), ic: ofVerifier, points, vectors },
      bases: {
        // one after the other: of a key that is read in parts, one section is in memory at a time
        ...{ a: await load(a), b1: await load(b1), b2: await load(b2) },
        ...{ c: c.count === 0 ? step(null) : await load(c), h: await load(h) },
      },
    };
  } catch (error) {
    vectors.destroy();
    throw error;
  }
};

/** `openProvingKey`. */
export const provingKeyOptions = {
  of: 'openProvingKey',
  rows: { ...keyOptions.rows, onProgress: progressRow },
} as const satisfies OptionTable<ProvingKeyOptions>;

/** Does the work of `openProvingKey`; tests choose r and s. */
export const openProvingKeyWith = async (
  source: FileSource,
  options: ProvingKeyOptions,
  draw: DrawScalar,
): Promise<ProvingKey> => {
  const call = readOptions(provingKeyOptions, options);
  const { ofEngines, proofs } = keySettingsOf(call);
  assertNotAborted(call.signal);
  const zkey = await openZkey(source, { onWarning: ofEngines.onWarning, signal: call.signal });
  if (zkey.protocol !== 'groth16') {
    throw badArgument(`zkey is a key of ${zkey.protocol}; openProvingKey opens keys of groth16`);
  }
  assertNotAborted(call.signal);
  const engines = await openEngines(zkey.curve, ofEngines, call.signal);
  warnOfOldNode(zkey, engines.g1, ofEngines);
  try {
    return new LoadedProvingKey(await loadKey(zkey, engines, ofEngines, call), draw, { proofs, ofEngines });
  } catch (error) {
    destroyEngines(engines);
    throw error;
  }
};

/**
 * Loads a `.zkey` of Groth16, on BN254 or BLS12-381, to prove with it. The file is not needed
 * afterwards. Its points are checked, and kept in the memory of the device or of the CPU's workers.
 *
 * @param zkey bytes, a `Blob` or `File`, or a source that is read in parts
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
export const openProvingKey = (zkey: FileSource, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKeyWith(zkey, options, drawRandomScalar);

/* A key that proves. */

/** Parts of a proof: the scalars of H, five sums, the assembly of its points. */
const PROOF_PARTS = 7;

class LoadedProvingKey extends CircuitProver<ProofResult> implements ProvingKey {
  readonly #key: LoadedKey;
  readonly #draw: DrawScalar;

  /** @param draw draws r and s, in this order @param options queue of its proofs, and warnings */
  constructor(key: LoadedKey, draw: DrawScalar, options: KeySettings) {
    const { engines, vectors } = key;
    super(key, PROOF_PARTS, { ...options, engines: [engines.g1, engines.g2], vectors });
    this.#key = key;
    this.#draw = draw;
  }

  protected async compute(witness: FileSource, run: ProofRun): Promise<ProofResult> {
    const { curve, variables, publicSignals, order } = this.#key;
    const values = await readWitness(witness, { order, variables }, run);
    run.secrets.push(values);
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
