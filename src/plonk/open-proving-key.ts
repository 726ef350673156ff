/** Opens keys of PLONK. */
import type { FieldEngine } from '../api/fields.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { openField } from '../fields/program/open-field.js';
import type { FileOrigin } from '../formats/source.js';
import type { ProvingKeyOptions } from '../proofs/api.js';
import type { KeyVectors } from '../proofs/key-vectors.js';
import { loadPolynomials, type ReadPolynomial } from '../proofs/plonkish/circuit.js';
import { type ColumnName, columnsOf, keepColumns } from '../proofs/plonkish/columns.js';
import {
  loadPowers,
  type OpenedFile,
  openKey,
  openVectors,
  PlonkishProvingKey,
  type PlonkishSystem,
} from '../proofs/plonkish/proving-key.js';
import { domainOf, loadOnes } from '../proofs/plonkish/relations.js';
import { decodeCommitment } from '../proofs/plonkish/transcript.js';
import { projective, snarkjsNames } from '../proofs/snarkjs-json.js';
import { type DrawScalar, drawRandomScalar } from '../proofs/witness.js';
import type { PlonkProof, ProofPoint, ProvingKey } from './api.js';
import { circuitPolynomials, cosetLength, type LoadedKey, places, readPlonkCircuit } from './circuit.js';
import { Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

/** Longest coset whose values are kept for later proofs. */
const MOST_KEPT = 2 ** 18;

/** Vectors that a key and a proof have at most: with values on columns, without them, and the polynomials alone. */
const [WITH_COLUMNS, WITHOUT_COLUMNS, LEAST_VECTORS] = [90, 50, 30];

/** Parts of a key that do not depend on the engine of its vectors. */
type Shared = Omit<LoadedKey, 'fr' | 'coefficients' | 'ones' | 'permutations' | 'columnValues'> & {
  /** True if only the polynomials are kept. */
  readonly isLimited: boolean;
};

/** Loads vectors of a key into an engine. */
const loadVectors = async (
  fr: FieldEngine,
  shared: Shared,
  read: ReadPolynomial,
  signal: AbortSignal | undefined,
): Promise<LoadedKey> => {
  const { domain, columns, p, isLimited } = shared;
  const options = signal === undefined ? {} : { signal };
  const coefficients = await loadPolynomials(fr, read, places, signal);
  const ones = await loadOnes(fr, domain, options);
  const { s1, s2, s3 } = coefficients;
  const loaded = { ...shared, fr, coefficients, ones };
  if (isLimited) return { ...loaded, permutations: null, columnValues: null };
  const isKept = domain.size <= MOST_KEPT;
  const kept = await fr.run((ops) => {
    const permutations = [ops.ntt(s1), ops.ntt(s2), ops.ntt(s3)] as const;
    for (const each of permutations) ops.keep(each);
    const names = (): readonly ColumnName[] => [...circuitPolynomials, 'x'];
    return { permutations, columnValues: isKept ? keepColumns(ops, { p, coefficients, ones, columns }, names) : null };
  }, options);
  return { ...loaded, ...kept };
};

const loadKey = async (opened: OpenedFile): Promise<KeyVectors<LoadedKey>> => {
  const { zkey, g1, signal } = opened;
  const { curve, variables, publicSignals, domainSize: n } = zkey;
  const field = await openField(`${curve}-fr`);
  if (n < 2) throw badArgument(`zkey: a domain of ${n} is too small; 2 rows are the least`);
  if (cosetLength(n) > 2 ** field.twoAdicity) throw badArgument(`zkey: a domain of ${n} is too large for the field`);
  const circuit = await readPlonkCircuit(zkey, signal);
  assertNotAborted(signal);
  const vectors = { whole: n * 4 <= MOST_KEPT ? WITH_COLUMNS : WITHOUT_COLUMNS, least: LEAST_VECTORS };
  const loaded = await loadPowers(opened, circuit, { section: 14, count: n + 6, places, vectors });
  const { powers, few, isLimited, leastLimit, proofsAtATime, readPolynomial } = loaded;
  const domain = domainOf(field, n, cosetLength(n));
  const shared = {
    ...{ curve, variables, publicSignals, domainSize: n, ...circuit },
    ...{ g1, powers, few, isLimited, leastLimit, proofsAtATime },
    p: field.p,
    domain,
    columns: columnsOf(domain, field.p),
  };
  const load = (fr: FieldEngine, ending: AbortSignal | undefined) => loadVectors(fr, shared, readPolynomial, ending);
  return openVectors(opened, loaded, load);
};

/** Does the work of `openProvingKey`; tests choose the blinding. */
export const openProvingKeyWith = (
  source: FileOrigin,
  options: ProvingKeyOptions,
  draw: DrawScalar,
): Promise<ProvingKey> =>
  openKey(
    source,
    options,
    'plonk',
    async (opened) => new PlonkishProvingKey(await loadKey(opened), draw, plonk, opened.settings),
  );

/**
 * Loads a `.zkey` of PLONK, on BN254 or BLS12-381, to prove with it. The file is not needed
 * afterwards, unless the key is too large for the limit of memory (`memoryLimit`).
 *
 * @param zkey bytes, a `Blob` or `File`, a source that is read in parts, a `Response`, a `URL`, text (a
 *   path in Node, an address in a page), or a stream
 * @throws MsmError `bad-argument` (another file, another protocol, a section that contradicts the
 *   header), `not-on-curve`, `out-of-memory`, `aborted`, `device-lost`; with `backend: 'gpu'` also
 *   `no-webgpu`, `unsupported-device`
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { openProvingKey } from 'webgpu-msm/plonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('plonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await readFile('plonk.wtns'));
 * console.log(proof.protocol, publicSignals.length === key.publicSignals); // plonk true
 * key.destroy();
 * ```
 */
export const openProvingKey = (zkey: FileOrigin, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKeyWith(zkey, options, drawRandomScalar);

/* The proof system: how a key of it proves and verifies. */

const pointOf = (commitment: Uint8Array): ProofPoint => projective(decodeCommitment(commitment), 0n, 1n, String);

const writeProof = (curve: LoadedKey['curve'], { commitments, evaluations }: RawProof): PlonkProof => {
  const [A, B, C, Z, T1, T2, T3, Wxi, Wxiw] = commitments.map(pointOf) as [
    ...[ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint],
  ];
  const [eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw] = evaluations.map(String) as [
    ...[string, string, string, string, string, string],
  ];
  return {
    ...{ A, B, C, Z, T1, T2, T3, Wxi, Wxiw, eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw },
    ...{ protocol: 'plonk', curve: snarkjsNames[curve] },
  };
};

const plonk: PlonkishSystem<LoadedKey, PlonkProof> = {
  lengths: ({ domainSize }) => [domainSize, domainSize, domainSize],
  prove: async (key, run, witness, draw) => writeProof(key.curve, await new Proof(key, run).compute(witness, draw)),
  verify,
};
