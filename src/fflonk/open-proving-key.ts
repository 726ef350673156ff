/** Opens keys of FFLONK. */
import type { FieldEngine, FieldVector } from '../api/fields.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { openField } from '../fields/program/open-field.js';
import type { FileOrigin } from '../formats/source.js';
import type { ProvingKeyOptions } from '../proofs/api.js';
import type { KeyVectors } from '../proofs/key-vectors.js';
import { loadPolynomials, type ReadPolynomial } from '../proofs/plonkish/circuit.js';
import { columnsOf, keepColumns } from '../proofs/plonkish/columns.js';
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
import { projective } from '../proofs/snarkjs-json.js';
import { type DrawScalar, drawRandomScalar } from '../proofs/witness.js';
import {
  evaluationNames,
  type FflonkProof,
  type ProofEvaluations,
  type ProofPolynomials,
  type ProvingKey,
  polynomialNames,
} from './api.js';
import { columnNames, type LoadedKey, places, readFflonkCircuit } from './circuit.js';
import { interleavedCircuit, Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

/** Largest domain: C2 has nine coefficients for each element, and a vector has at most 2^27. */
const LARGEST_DOMAIN = 2 ** 23;

/** Largest domain whose values on cosets are kept for later proofs. */
const MOST_KEPT = 2 ** 16;

/** Vectors that a key and a proof have at most: with values on columns, without them, and the polynomials alone. */
const [WITH_COLUMNS, WITHOUT_COLUMNS, LEAST_VECTORS] = [150, 120, 54];

/** Parts of a key that do not depend on the engine of its vectors. */
type Shared = Omit<LoadedKey, 'fr' | 'coefficients' | 'ones' | 'kept' | 'columnValues'> & {
  /** True if only the polynomials are kept. */
  readonly isLimited: boolean;
};

/** Loads vectors of a key into an engine. */
const loadVectors = async (
  fr: FieldEngine,
  shared: Shared,
  read: ReadPolynomial,
  mostKept: number,
  signal: AbortSignal | undefined,
): Promise<LoadedKey> => {
  const { domain, columns, p, isLimited } = shared;
  const options = signal === undefined ? {} : { signal };
  const coefficients = await loadPolynomials(fr, read, places, signal);
  const ones = await loadOnes(fr, domain, options);
  const { qm, ql, qr, qo, qc, s1, s2, s3 } = coefficients;
  const loaded = { ...shared, fr, coefficients, ones };
  if (isLimited) return { ...loaded, kept: null, columnValues: null };
  const computed = await fr.run((ops) => {
    const here = (each: FieldVector): FieldVector => ops.keep(ops.ntt(each));
    return {
      kept: {
        c0: ops.keep(interleavedCircuit(ops, coefficients)),
        selectors: { qm: here(qm), ql: here(ql), qr: here(qr), qo: here(qo), qc: here(qc) },
        permutations: [here(s1), here(s2), here(s3)] as const,
      },
      columnValues: domain.n <= mostKept ? keepColumns(ops, { p, coefficients, ones, columns }, columnNames) : null,
    };
  }, options);
  return { ...loaded, ...computed };
};

const loadKey = async (opened: OpenedFile, mostKept: number): Promise<KeyVectors<LoadedKey>> => {
  const { zkey, g1, signal } = opened;
  const { curve, variables, publicSignals, domainSize: n } = zkey;
  if (n > LARGEST_DOMAIN) {
    throw badArgument(`zkey: a domain of ${n} is too large; at most ${LARGEST_DOMAIN} is supported`);
  }
  const field = await openField(`${curve}-fr`);
  const circuit = await readFflonkCircuit(zkey, signal);
  assertNotAborted(signal);
  const vectors = { whole: n <= mostKept ? WITH_COLUMNS : WITHOUT_COLUMNS, least: LEAST_VECTORS };
  const loaded = await loadPowers(opened, circuit, { section: 16, count: 9 * n, places, vectors });
  const { powers, few, isLimited, leastLimit, proofsAtATime, readPolynomial } = loaded;
  const domain = domainOf(field, n, 4 * n);
  const shared = {
    ...{ curve, variables, publicSignals, domainSize: n, ...circuit },
    ...{ g1, powers, few, isLimited, leastLimit, proofsAtATime },
    p: field.p,
    domain,
    columns: columnsOf(domain, field.p),
  };
  const load = (fr: FieldEngine, ending: AbortSignal | undefined) =>
    loadVectors(fr, shared, readPolynomial, mostKept, ending);
  return openVectors(opened, loaded, load);
};

/** Does the work of `openProvingKey`; tests choose the blinding, and what is kept. */
export const openProvingKeyWith = (
  source: FileOrigin,
  options: ProvingKeyOptions,
  draw: DrawScalar,
  mostKept = MOST_KEPT,
): Promise<ProvingKey> =>
  openKey(source, options, 'fflonk', async (opened) => {
    const { curve } = opened.zkey;
    // snarkjs has the roots of unity of the header for this curve alone
    if (curve !== 'bn254') throw badArgument(`zkey is a key on ${curve}; FFLONK of snarkjs has bn254 alone`);
    return new PlonkishProvingKey(await loadKey(opened, mostKept), draw, fflonk, opened.settings);
  });

/**
 * Loads a `.zkey` of FFLONK, on BN254, to prove with it. The file is not needed afterwards,
 * unless the key is too large for the limit of memory (`memoryLimit`).
 *
 * @param zkey bytes, a `Blob` or `File`, a source that is read in parts, a `Response`, a `URL`, text (a
 *   path in Node, an address in a page), or a stream
 * @throws MsmError `bad-argument` (another file, another protocol or curve, a section that
 *   contradicts the header), `not-on-curve`, `out-of-memory`, `aborted`, `device-lost`; with
 *   `backend: 'gpu'` also `no-webgpu`, `unsupported-device`
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { openProvingKey } from 'webgpu-msm/fflonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('fflonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await readFile('fflonk.wtns'));
 * console.log(proof.protocol, publicSignals.length === key.publicSignals); // fflonk true
 * key.destroy();
 * ```
 */
export const openProvingKey = (zkey: FileOrigin, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKeyWith(zkey, options, drawRandomScalar);

/* The proof system: how a key of it proves and verifies. */

const writeProof = ({ commitments, evaluations, inverse }: RawProof): FflonkProof => {
  const points = commitments.map((each) => projective(decodeCommitment(each), 0n, 1n, String));
  const polynomials = polynomialNames.map((name, i) => [name, points[i]]);
  const values = evaluationNames.map((name, i) => [name, String(evaluations[i])]);
  return {
    polynomials: Object.fromEntries(polynomials) as unknown as ProofPolynomials,
    evaluations: Object.fromEntries([...values, ['inv', String(inverse)]]) as unknown as ProofEvaluations,
    ...{ protocol: 'fflonk', curve: 'bn128' },
  };
};

const fflonk: PlonkishSystem<LoadedKey, FflonkProof> = {
  lengths: ({ domainSize }) => 9 * domainSize,
  prove: async (key, run, witness, draw) => writeProof(await new Proof(key, run).compute(witness, draw)),
  verify,
};
