/**
 * Verification keys in the JSON of snarkjs. Their points are checked here, with the names that they
 * have in the file.
 */
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate, Fp2 } from '../api/values.js';
import { verify as verifyFflonk } from '../fflonk/verify.js';
import { orderOf } from '../formats/binfile.js';
import type { Zkey } from '../formats/zkey.js';
import { verify as verifyGroth16 } from '../groth16/verify.js';
import { MsmError } from '../index.js';
import { verify as verifyPlonk } from '../plonk/verify.js';
import { type FewPoints, openFewPoints } from '../proofs/few-points.js';
import { encodeCommitment } from '../proofs/plonkish/transcript.js';
import { inNumbers, inPairs, readJsonPoint, readNumber, type snarkjsNames } from '../proofs/snarkjs-json.js';

type KeyCurve = keyof typeof snarkjsNames;

/** Bytes of a coordinate in G1. */
const coordinateBytes: Readonly<Record<KeyCurve, number>> = { bn254: 32, 'bls12-381': 48 };

/** Largest number of public values, and largest power of the domain: counts of snarkjs's files are u32. */
const [MOST_SIGNALS, MOST_POWER] = [2 ** 32 - 1, 32];

/** Curves by the names that snarkjs takes, without case and punctuation. */
const curveNames: ReadonlyMap<string, KeyCurve> = /* @__PURE__ */ new Map([
  ['BN128', 'bn254'],
  ['BN254', 'bn254'],
  ['ALTBN128', 'bn254'],
  ['BLS12381', 'bls12-381'],
]);

const normalName = (name: unknown): string =>
  String(name)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '');

const refused = (message: string): MsmError => new MsmError('bad-argument', `key: ${message}`);

/** A key that is read: its members, and what reads its points. */
class KeyReader {
  readonly curve: KeyCurve;
  readonly publicSignals: number;
  readonly few: FewPoints;
  readonly #members: Readonly<Record<string, unknown>>;

  private constructor(members: Readonly<Record<string, unknown>>, curve: KeyCurve, few: FewPoints) {
    this.#members = members;
    this.curve = curve;
    this.few = few;
    this.publicSignals = this.count('nPublic', MOST_SIGNALS);
  }

  /** @throws MsmError `bad-argument` if it is no key of a curve that proofs have */
  static async open(key: unknown): Promise<KeyReader> {
    if (typeof key !== 'object' || key === null) throw refused('must be a verification key, an object');
    const members = key as Readonly<Record<string, unknown>>;
    const curve = curveNames.get(normalName(members.curve));
    if (curve === undefined)
      throw refused('curve must be bn128 or bls12381; pass the verification_key.json of snarkjs');
    return new KeyReader(members, curve, await openFewPoints(curve));
  }

  get protocol(): unknown {
    return this.#members.protocol;
  }

  number(name: string): bigint {
    return readNumber(`key: ${name}`, this.#members[name]);
  }

  /** Reads a count. @throws MsmError `bad-argument` */
  count(name: string, most: number): number {
    const value = this.number(name);
    if (value > BigInt(most)) throw refused(`${name} is ${value}, and ${most} is the most`);
    return Number(value);
  }

  point1(name: string): Promise<AffinePoint> {
    return this.#checked(this.few.few1, name, readJsonPoint(`key: ${name}`, this.#members[name], inNumbers));
  }

  point2(name: string): Promise<AffinePoint<Fp2>> {
    return this.#checked(this.few.few2, name, readJsonPoint(`key: ${name}`, this.#members[name], inPairs));
  }

  /** Reads a list of points in G1. */
  points1(name: string, count: number): AffinePoint[] {
    const list = this.#members[name];
    if (!Array.isArray(list) || list.length !== count) throw refused(`${name} must be an array of ${count} points`);
    return list.map((each, i) => readJsonPoint(`key: ${name}[${i}]`, each, inNumbers));
  }

  async #checked<Of extends Coordinate>(
    engine: MsmEngine<Of>,
    name: string,
    point: AffinePoint<Of>,
  ): Promise<AffinePoint<Of>> {
    try {
      (await engine.loadBases([point], { checkSubgroup: true })).destroy();
      return point;
    } catch (cause) {
      throw refused(`${name}: ${(cause as Error).message}`);
    }
  }

  destroy(): void {
    this.few.few1.destroy();
    this.few.few2.destroy();
  }
}

const byGroth16 = async (key: KeyReader, proof: unknown, publicSignals: unknown): Promise<boolean> => {
  const { curve, few } = key;
  const points = {
    alpha1: await key.point1('vk_alpha_1'),
    beta2: await key.point2('vk_beta_2'),
    gamma2: await key.point2('vk_gamma_2'),
    delta2: await key.point2('vk_delta_2'),
  };
  const ic = await few.few1.loadBases(key.points1('IC', key.publicSignals + 1), { label: 'IC', checkSubgroup: true });
  const verifying = { curve, publicSignals: key.publicSignals, order: orderOf(curve), engines: few, points, ic };
  return verifyGroth16(verifying, proof, publicSignals, undefined);
};

/** Reads what keys of PLONK and FFLONK share. */
const readPlonkish = async (key: KeyReader) => ({
  curve: key.curve,
  publicSignals: key.publicSignals,
  fr: { p: orderOf(key.curve) },
  domain: { n: 2 ** key.count('power', MOST_POWER), root: key.number('w') },
  k1: key.number('k1'),
  k2: key.number('k2'),
  tau2: await key.point2('X_2'),
});

const commitment = async (key: KeyReader, name: string): Promise<Uint8Array> =>
  encodeCommitment(await key.point1(name), coordinateBytes[key.curve]);

/** Commitments of a key of PLONK, in the order of its transcript. */
const ofPlonk = ['Qm', 'Ql', 'Qr', 'Qo', 'Qc', 'S1', 'S2', 'S3'] as const;

const byPlonk = async (key: KeyReader, proof: unknown, publicSignals: unknown): Promise<boolean> => {
  const shared = await readPlonkish(key);
  const commitments: Uint8Array[] = [];
  for (const name of ofPlonk) commitments.push(await commitment(key, name));
  return verifyPlonk({ ...shared, commitments }, proof, publicSignals, undefined);
};

const byFflonk = async (key: KeyReader, proof: unknown, publicSignals: unknown): Promise<boolean> => {
  const shared = await readPlonkish(key);
  return verifyFflonk({ ...shared, commitment: await commitment(key, 'C0') }, proof, publicSignals, undefined);
};

const verifiers: ReadonlyMap<unknown, typeof byGroth16> = new Map([
  ['groth16', byGroth16],
  ['plonk', byPlonk],
  ['fflonk', byFflonk],
]);

/**
 * Verifies a proof by a verification key.
 *
 * @param system the proof system, where the caller rather than the key names it
 * @throws MsmError `bad-argument` naming the member of the key or of the proof
 */
export const verifyByJsonKey = async (
  json: unknown,
  proof: unknown,
  publicSignals: unknown,
  system?: Zkey['protocol'],
): Promise<boolean> => {
  const key = await KeyReader.open(json);
  try {
    const verifyBy = verifiers.get(system ?? key.protocol);
    if (verifyBy === undefined) throw refused('protocol must be groth16, plonk or fflonk');
    return await verifyBy(key, proof, publicSignals);
  } finally {
    key.destroy();
  }
};
