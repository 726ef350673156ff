/** Points of named curves that are outside the group of order r. */
import { expect } from 'vitest';
import { type Coordinate, groupOrder, type Random, type WeierstrassOracle } from '../../dev/oracle/known-bases.js';
import { type CurveContext, cubic } from '../../src/curves/curve.js';
import { type Affine, addAffine, multiply, toAffine } from '../../src/curves/jacobian.js';
import type { Group, WeierstrassName } from '../../src/curves/more-curves.js';
import { squareRootIn } from '../../src/field/powers.js';

/**
 * A point of the curve, by the square root of the library's; that it is one, is checked by noble.
 */
const anyPoint = (oracle: WeierstrassOracle<Coordinate>, curve: CurveContext, random: Random) => {
  const { coordinates: f, p } = curve;
  for (;;) {
    const x = f.of(Array.from({ length: f.degree }, () => random.belowBig(p)));
    const y = squareRootIn(f, cubic(curve, x));
    if (y === null) continue;
    // noble has an opinion of its own on whether it is on the curve
    const { Fp, CURVE } = oracle.Point;
    const { a, b } = CURVE();
    expect(Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.add(Fp.sqr(x), a), x), b))).toBe(true);
    expect(oracle.Point.fromAffine({ x, y }).isTorsionFree()).toBe(false);
    return { x, y };
  }
};

const cofactors: Readonly<Record<string, bigint>> = {
  // Zexe, figure 16, and the orders of the twists: EIP-197 has none for BN254, so by the trace, p +
  // (t − 1)
  'bn254 g2': 0x30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8dn,
  'bls12-381 g1': 0x396c8c005555e1568c00aaab0000aaabn,
  'bls12-381 g2':
    0x5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef21537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5n,
  'bls12-377 g1': 0x170b5d44300000000000000000000000n,
};

/**
 * Returns the cofactor of BLS12-377's G2: (s⁸ − 4·s⁷ + 5·s⁶ − 4·s⁴ + 6·s³ − 4·s² − 4·s + 13) / 9
 * (Budroni and Pintore, https://eprint.iacr.org/2017/419).
 */
const twistCofactor377 = (): bigint => {
  const s = 0x8508c00000000001n;
  return (s ** 8n - 4n * s ** 7n + 5n * s ** 6n - 4n * s ** 4n + 6n * s ** 3n - 4n * s ** 2n - 4n * s + 13n) / 9n;
};

/** Returns the cofactor of a group that has one. */
export const cofactorOf = (name: WeierstrassName, group: Group): bigint =>
  cofactors[`${name} ${group}`] ?? twistCofactor377();

/** Groups with a cofactor other than 1. */
export const groupsWithCofactor = [
  ['bn254', 'g2'],
  ['bls12-381', 'g1'],
  ['bls12-381', 'g2'],
  ['bls12-377', 'g1'],
  ['bls12-377', 'g2'],
] as const;

/**
 * Returns points outside the group: random ones, points of small order, one of the cofactor's
 * order, and the sum of that with a point of the group.
 */
export const outsidePoints = (
  oracle: WeierstrassOracle<Coordinate>,
  curve: CurveContext,
  name: WeierstrassName,
  group: Group,
  random: Random,
): NonNullable<Affine>[] => {
  const r = groupOrder(oracle);
  const outside = [0, 1, 2].map(() => anyPoint(oracle, curve, random));
  const times = (k: bigint, point: Affine): Affine => toAffine(curve, multiply(curve, k, point));
  const cofactor = cofactorOf(name, group);
  const orders = [2n, 3n, 4n, 5n, 7n, 11n, 13n, 10069n];
  const small = orders.flatMap((order) => {
    const point = cofactor % order === 0n ? times((cofactor / order) * r, outside[0] as Affine) : null;
    return point === null ? [] : [point];
  });
  const apart = times(r, outside[0] as Affine);
  const sum = toAffine(
    curve,
    addAffine(curve, { ...(apart as NonNullable<Affine>), z: curve.coordinates.one }, oracle.Point.BASE.toAffine()),
  );
  // of order 2, on y² = x³ + 1
  const two = name === 'bls12-377' && group === 'g1' ? [{ x: curve.p - 1n, y: 0n }] : [];
  const all = [...outside, ...small, apart, sum, ...two] as NonNullable<Affine>[];
  for (const point of all) expect(times(r, point)).not.toBeNull();
  return all;
};
