/** Opens keys of PLONK. */
import type { MsmEngine } from '../api/engine.js';
import type { FieldVector } from '../api/field-vectors.js';
import type { FieldEngine } from '../api/fields.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { openField } from '../fields/program/open-field.js';
import type { FileSource } from '../formats/source.js';
import type { PlonkZkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import { createMsmEngine } from '../index.js';
import { type EngineOptions, readKeyOptions } from '../proofs/engine-options.js';
import { inSection } from '../proofs/in-section.js';
import { KeyVectors } from '../proofs/key-vectors.js';
import { type DrawScalar, drawRandomScalar } from '../proofs/randomness.js';
import type { ProvingKey, ProvingKeyOptions } from './api.js';
import {
  type CircuitPolynomial,
  circuitPolynomials,
  type PlonkCircuit,
  readPlonkCircuit,
  sectionNames,
} from './circuit.js';
import { computeCosetValues, cosetLength, domainOf, type LoadedKey } from './loaded-key.js';
import { LoadedProvingKey } from './proving-key.js';

/** Longest coset whose values are kept for later proofs. */
const MOST_KEPT = 2 ** 18;

/** Parts of a key that do not depend on the engine of its vectors. */
type Shared = Omit<LoadedKey, 'fr' | 'coefficients' | 'ones' | 'permutations' | 'cosetValues'>;

/** Loads vectors of a key into an engine. */
const loadVectors = async (
  fr: FieldEngine,
  shared: Shared,
  polynomials: PlonkCircuit['coefficients'],
  signal: AbortSignal | undefined,
): Promise<LoadedKey> => {
  const { domain } = shared;
  const options = signal === undefined ? {} : { signal };
  const coefficients = {} as Record<CircuitPolynomial, FieldVector>;
  for (const name of circuitPolynomials) {
    const load = () => fr.load(polynomials[name], { encoding: 'le-montgomery', ...options });
    coefficients[name] = await inSection(sectionNames[name], load);
  }
  const one = new Uint8Array(domain.size * fr.numberBytes);
  for (let i = 0; i < one.length; i += fr.numberBytes) one[i] = 1;
  const ones = await fr.load(one, options);
  const { s1, s2, s3 } = coefficients;
  const parts = { domain, coefficients, ones };
  const { permutations, cosetValues } = await fr.run((ops) => {
    const values = domain.size <= MOST_KEPT ? computeCosetValues(ops, parts, fr.p) : null;
    for (const vector of values === null ? [] : (Object.values(values) as FieldVector[])) ops.keep(vector);
    return { permutations: [s1, s2, s3].map((s) => ops.keep(ops.ntt(s))), cosetValues: values };
  }, options);
  return {
    ...{ ...shared, fr, coefficients, ones, cosetValues },
    permutations: permutations as unknown as LoadedKey['permutations'],
  };
};

const loadKey = async (
  zkey: PlonkZkey,
  g1: MsmEngine,
  ofEngines: EngineOptions,
  signal: AbortSignal | undefined,
): Promise<KeyVectors<LoadedKey>> => {
  const { curve, variables, publicSignals, domainSize: n, sections } = zkey;
  const { p, twoAdicity, rootOfUnity } = await openField(`${curve}-fr`);
  const longest = 2 ** twoAdicity;
  if (cosetLength(n) > longest) throw badArgument(`zkey: a domain of ${n} is too large for the field`);
  const { coefficients, ...circuit } = await readPlonkCircuit(zkey, signal);
  assertNotAborted(signal);
  const { ptau } = sections;
  const options = { label: 'ptau', encoding: ptau.encoding, ...(signal && { signal }) };
  const powers = await ptau.points(0, n + 6);
  const bases = await inSection('14 (ptau)', () => g1.loadBases(powers, options));
  const shared = {
    ...{ curve, variables, publicSignals, domainSize: n, g1, bases, ...circuit },
    domain: domainOf(n, p, longest, rootOfUnity),
  };
  const load = (fr: FieldEngine, ending: AbortSignal | undefined) => loadVectors(fr, shared, coefficients, ending);
  return KeyVectors.open(curve, g1, ofEngines, load, signal);
};

/** Does the work of `openProvingKey`; tests choose the blinding. */
export const openProvingKeyWith = async (
  source: FileSource,
  options: ProvingKeyOptions,
  draw: DrawScalar,
): Promise<ProvingKey> => {
  const { own, ofEngines } = readKeyOptions(options, ['signal']);
  const { signal } = own;
  assertNotAborted(signal);
  const zkey = await openZkey(source);
  if (zkey.protocol !== 'plonk') {
    throw badArgument(`zkey is a key of ${zkey.protocol}; openProvingKey of webgpu-msm/plonk opens keys of plonk`);
  }
  const g1 = await createMsmEngine({ ...ofEngines, curve: zkey.curve });
  try {
    return new LoadedProvingKey(await loadKey(zkey, g1, ofEngines, signal), draw);
  } catch (error) {
    g1.destroy();
    throw error;
  }
};

/**
 * Loads a `.zkey` of PLONK, on BN254 or BLS12-381, to prove with it. The file is not needed
 * afterwards.
 *
 * @param zkey bytes, a `Blob` or `File`, or a source that is read in parts
 * @throws MsmError `bad-argument` (another file, another protocol, a section that contradicts the
 *   header), `not-on-curve`, `out-of-memory`, `aborted`, `device-lost`; with `backend: 'gpu'` also
 *   `no-webgpu`, `unsupported-device`
 * @example
 * ```ts
 * import { openAsBlob } from 'node:fs';
 * import { readFile } from 'node:fs/promises';
 * import { openProvingKey } from 'webgpu-msm/plonk';
 *
 * const key = await openProvingKey(await openAsBlob('plonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await readFile('plonk.wtns'));
 * console.log(proof.protocol, publicSignals.length === key.publicSignals); // plonk true
 * key.destroy();
 * ```
 */
export const openProvingKey = (zkey: FileSource, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKeyWith(zkey, options, drawRandomScalar);
