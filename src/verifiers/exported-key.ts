/**
 * Verification keys out of `.zkey` files, in the JSON of snarkjs. The header is read, and of Groth16
 * the section IC: no other points, however large the key is.
 */
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { scalarFieldOf } from '../curves/scalar-field.js';
import { notLoaded } from '../errors.js';
import { invert, mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import { Fields, readCurve, sectionOf } from '../formats/binfile.js';
import type { PointSection } from '../formats/source.js';
import { fileOf, type Groth16Zkey, type PlonkZkey, type Zkey } from '../formats/zkey.js';
import { openHeader } from '../proofs/plonkish/circuit.js';
import { decodeCommitment } from '../proofs/plonkish/transcript.js';
import { projective, snarkjsNames } from '../proofs/snarkjs-json.js';
import { numberOf } from '../proofs/witness.js';

/** A verification key as snarkjs writes it: numbers in decimal, points projective. */
export type JsonKey = Readonly<Record<string, unknown>>;

/** Returns a point of G1 in JSON. */
const json1 = (point: AffinePoint): readonly string[] => projective(point, 0n, 1n, String);

/** Returns a point of G2 in JSON. */
const json2 = (point: AffinePoint<Fp2>): readonly (readonly string[])[] =>
  projective(point, { c0: 0n, c1: 0n }, { c0: 1n, c1: 0n }, ({ c0, c1 }) => [String(c0), String(c1)]);

/** Reads a verification key. @throws MsmError `bad-argument` for a file that contradicts itself; errors of reading it */
export const readVerificationKey = (zkey: Zkey): Promise<JsonKey> =>
  zkey.protocol === 'groth16' ? readGroth16(zkey).then(({ json }) => json) : readPlonkish(zkey);

/**
 * Reads a verification key with all that snarkjs exports: Groth16 has e(α, β), too.
 *
 * @param signal ends the pairing
 * @throws as `readVerificationKey`
 */
export const exportVerificationKey = async (zkey: Zkey, signal?: AbortSignal): Promise<JsonKey> => {
  if (zkey.protocol !== 'groth16') return readPlonkish(zkey);
  const { json, alpha1, beta2 } = await readGroth16(zkey);
  const { IC, ...members } = json;
  return { ...members, vk_alphabeta_12: await jsonOfPairing(zkey.curve, alpha1, beta2, signal), IC };
};

/** Reads coordinates in Montgomery form, little-endian. */
class PointReader {
  readonly #prime: bigint;
  readonly #bytes: number;
  readonly #inverse: bigint;

  constructor(prime: bigint, bytes: number) {
    this.#prime = prime;
    this.#bytes = bytes;
    this.#inverse = invert(1n << BigInt(8 * bytes), prime);
  }

  /** Opens a reader for the curve of a key. */
  static async of(zkey: Zkey): Promise<PointReader> {
    const { file, sections } = fileOf(zkey);
    const header = await Fields.read(file, sectionOf(file, sections, 2, 'header'), 'section 2 (header)');
    const { prime, primeBytes } = readCurve(file, header);
    return new PointReader(prime, primeBytes);
  }

  async points1(section: PointSection): Promise<AffinePoint[]> {
    return this.#points(section, 2, ([x, y]) => ({ x, y }));
  }

  async point2(section: PointSection): Promise<AffinePoint<Fp2>> {
    const [point] = await this.#points(section, 4, ([x0, x1, y0, y1]) => ({
      x: { c0: x0, c1: x1 },
      y: { c0: y0, c1: y1 },
    }));
    return point as AffinePoint<Fp2>;
  }

  /** Reads all points of a section. Infinity is zeros. */
  async #points<Of extends Coordinate>(
    section: PointSection,
    count: number,
    make: (numbers: readonly [bigint, bigint, bigint, bigint]) => { readonly x: Of; readonly y: Of },
  ): Promise<AffinePoint<Of>[]> {
    const bytes = await section.points();
    return Array.from({ length: section.count }, (_, i) => {
      const numbers = Array.from({ length: count }, (_, k) => this.#coordinate(bytes, (i * count + k) * this.#bytes));
      const point = make(numbers as unknown as readonly [bigint, bigint, bigint, bigint]);
      return { ...point, infinity: numbers.every((each) => each === 0n) };
    });
  }

  #coordinate(bytes: Uint8Array, at: number): bigint {
    return (numberOf(bytes.subarray(at, at + this.#bytes)) * this.#inverse) % this.#prime;
  }
}

interface Groth16Key {
  readonly json: JsonKey;
  readonly alpha1: AffinePoint;
  readonly beta2: AffinePoint<Fp2>;
}

const readGroth16 = async (zkey: Groth16Zkey): Promise<Groth16Key> => {
  const { curve, publicSignals, sections } = zkey;
  const reader = await PointReader.of(zkey);
  const [alpha1] = (await reader.points1(sections.alpha1)) as [AffinePoint];
  const beta2 = await reader.point2(sections.beta2);
  return {
    json: {
      ...{ protocol: 'groth16', curve: snarkjsNames[curve], nPublic: publicSignals },
      ...{ vk_alpha_1: json1(alpha1), vk_beta_2: json2(beta2) },
      vk_gamma_2: json2(await reader.point2(sections.gamma2)),
      vk_delta_2: json2(await reader.point2(sections.delta2)),
      IC: (await reader.points1(sections.ic)).map(json1),
    },
    ...{ alpha1, beta2 },
  };
};

/** Returns e(α, β) in the tower of snarkjs: pairs of coefficients of v⁰, v¹, v² for w⁰ and w¹, with v = w². */
const jsonOfPairing = async (
  curve: Zkey['curve'],
  alpha1: AffinePoint,
  beta2: AffinePoint<Fp2>,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly (readonly string[])[])[]> => {
  const { pairingCurve, pairingProduct } = await import('../pairing/pairing.js').catch(notLoaded('pairing'));
  const value = await pairingProduct(curve, [[alpha1, beta2]], signal);
  const { p } = pairingCurve(curve).field;
  const pairs = value.map(({ c0, c1 }) => [String(mod(c0, p)), String(mod(c1, p))]);
  return [0, 1].map((parity) => pairs.filter((_, i) => i % 2 === parity));
};

/** Commitments in the header of a key of PLONK, in their order. */
const ofPlonk = ['Qm', 'Ql', 'Qr', 'Qo', 'Qc', 'S1', 'S2', 'S3'] as const;

/** Roots of unity in the header of a key of FFLONK, in their order. */
const roots = ['w3', 'w4', 'w8', 'wr'] as const;

const readPlonkish = async (zkey: PlonkZkey): Promise<JsonKey> => {
  const { protocol, curve, publicSignals, domainSize } = zkey;
  const header = await openHeader(zkey);
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order: header.order });
  const commitment = (): readonly string[] => json1(decodeCommitment(header.commitment()));
  const shared = {
    ...{ protocol, curve: snarkjsNames[curve], nPublic: publicSignals, power: Math.log2(domainSize) },
    ...{ k1: String(header.k1), k2: String(header.k2) },
  };
  const w = String(power(rootOfUnity as bigint, 2n ** BigInt(twoAdicity) / BigInt(domainSize), header.order));
  if (protocol === 'plonk') {
    const commitments = Object.fromEntries(ofPlonk.map((name) => [name, commitment()]));
    return { ...shared, ...commitments, X_2: json2(header.point2()), w };
  }
  const ofHeader = Object.fromEntries(roots.map((name) => [name, String(header.scalar())]));
  const X_2 = json2(header.point2());
  return { ...shared, w, ...ofHeader, X_2, C0: commitment() };
};
