/**
 * Points in tests/vectors/ that other software wrote, compared byte by byte with noble's k·G in
 * each encoding. tests/vectors/make/README.md says what is in the files.
 */
import { readFileSync } from 'node:fs';
import { Field } from '@noble/curves/abstract/modular.js';
import { weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { babyjubjub, jubjub } from '@noble/curves/misc.js';
import { bytesToHex, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';
import { describe, expect, test } from 'vitest';
import { type CurveGroup, groupsOf, oracleOf, oracles, oraclesOfG2, pairNames } from '../../dev/oracle/curves.js';
import { isOdd, pointWriter } from '../../dev/oracle/encodings.js';
import {
  type AffinePoint,
  type Coordinate,
  type Fp2,
  infinityOf,
  numbersOf,
  type OraclePoint,
  toAffinePoint,
} from '../../dev/oracle/known-bases.js';
import type { PointEncoding } from '../../src/api/values.js';
import type { Group, PairingName } from '../../src/curves/more-curves.js';
import { inProject } from '../support/run-script.js';

interface PointSet extends CurveGroup {
  readonly order: string;
  readonly k: readonly string[];
  readonly encodings: Readonly<Record<string, readonly (string | null)[]>>;
}
type Pair = readonly [x: string, y: string];
interface EdwardsSet extends Readonly<Record<'curve' | 'p' | 'a' | 'd' | 'order' | 'cofactor', string>> {
  readonly k: readonly string[];
  readonly points: readonly Pair[];
  readonly weierstrass?: { readonly a: string; readonly b: string; readonly points: readonly (Pair | null)[] };
}
interface VectorFile {
  readonly curves: readonly PointSet[];
  readonly edwards?: readonly EdwardsSet[];
}
const read = <Contents>(name: string): Contents =>
  JSON.parse(readFileSync(inProject(`tests/vectors/${name}.json`), 'utf8')) as Contents;
const software = ['arkworks', 'gnark', 'zkcrypto', 'halo2curves', 'aztec'] as const;
const files = software.map((name) => [name, read<VectorFile>(name)] as const);

const concat = (parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** Parameters of halo2curves for writing a point; `bits` is the length of p. */
interface Halo2 {
  readonly of: CurveGroup;
  readonly point: AffinePoint<Coordinate>;
  readonly bits: number;
}
const isBls = ({ of }: Halo2): boolean => of.curve === 'bls12-381';
const bytesIn = ({ bits }: Halo2): number => Math.ceil(bits / 8);

/** halo2curves, serde.rs: c0 first and little-endian, but big-endian in BLS12-381. */
const halo2Numbers = (coordinates: readonly Coordinate[], told: Halo2): Uint8Array => {
  const toBytes = isBls(told) ? numberToBytesBE : numberToBytesLE;
  return concat(coordinates.flatMap(numbersOf).map((value) => toBytes(value, bytesIn(told))));
};
const halo2 = (told: Halo2): Uint8Array => halo2Numbers([told.point.x, told.point.y], told);
/**
 * Odd y, infinity; without spare bits in a byte that comes first, with one no infinity, which x = 0
 * tells, with three as ZCash.
 */
const halo2Compressed = (told: Halo2): Uint8Array => {
  const { x, y, infinity } = told.point;
  const bytes = halo2Numbers([x], told);
  if (isBls(told)) {
    // the flags are ZCash's, but not the order of c0 and c1
    const [first] = pointWriter(oracleOf(told.of), 'zcash-compressed')(told.point) as Uint8Array;
    bytes[0]! |= first! & 0xe0;
    return bytes;
  }
  const odd = isOdd(y) ? 0x80 : 0;
  const flags = odd | (infinity ? 0x40 : 0);
  const spare = bytesIn(told) * 8 - told.bits;
  if (spare === 0) return concat([Uint8Array.of(flags), bytes]);
  bytes[bytes.length - 1]! |= spare === 1 ? odd : flags;
  return bytes;
};
const ofHalo2: Readonly<Record<string, (told: Halo2) => Uint8Array>> = { halo2, 'halo2-compressed': halo2Compressed };

const pointOf = (group: CurveGroup): OraclePoint<Coordinate> => oracleOf(group).Point.BASE;
/** k·G, of every group once. */
const multiples = new Map<string, OraclePoint<Coordinate>>();
const multiple = (group: CurveGroup, k: bigint): OraclePoint<Coordinate> => {
  const key = `${group.curve} ${group.group} ${k}`;
  const known = multiples.get(key) ?? pointOf(group).multiplyUnsafe(k);
  multiples.set(key, known);
  return known;
};

const kinds = (n: bigint): bigint[] => [0n, 1n, 2n, 3n, n - 1n, n - 2n, 5n, 1234567890123456789n];

describe.each(files)('%s', (_, { curves, edwards: twisted = [] }) => {
  const sets = curves.map((set) => [set.curve, set.group, set] as const);
  test.each(sets)('%s %s', (curve, group, set) => {
    const p = oracles[curve].Point.Fp.ORDER;
    const n = oracles[curve].Point.Fn.ORDER;
    expect(set.order).toBe(n.toString());
    const ks = set.k.map(BigInt);
    expect(ks.slice(0, 8)).toEqual(kinds(n));
    expect(ks).toHaveLength(16);
    const points = ks.map((k) => toAffinePoint(multiple({ curve, group }, k)));
    const bits = p.toString(2).length;
    for (const [name, written] of Object.entries(set.encodings)) {
      const write = pointWriter(oracleOf(set), name as PointEncoding);
      const expected = points.map((point) => ofHalo2[name]?.({ of: set, point, bits }) ?? write(point));
      expect(written, name).toEqual(expected.map((bytes) => bytes && bytesToHex(bytes)));
    }
  });

  if (twisted.length > 0)
    test.each(twisted.map((set) => [set.curve, set] as const))('%s', (curve, set) => {
      const [p, a, d, n, h] = ([set.p, set.a, set.d, set.order, set.cofactor] as const).map(BigInt) as Five;
      expect({ p, n, h, twist: form({ p, a, d }) }).toEqual(published(curve));
      expect(set.k.map(BigInt).slice(0, 8)).toEqual(kinds(n));
      const points = set.points.map((point) => point.map(BigInt)) as [bigint, bigint][];
      const G = points[1]!;
      expect((a * G[0] ** 2n + G[1] ** 2n - 1n - d * (G[0] * G[1]) ** 2n) % p).toBe(0n);
      expect(points).toEqual(set.k.map((k) => edwardsMultiple({ p, a, d }, G, BigInt(k))));
      if (set.weierstrass) isSameCurve(set, set.weierstrass, { x: G[0], y: G[1] });
    });
});

type Five = [bigint, bigint, bigint, bigint, bigint];
type Edwards = Readonly<Record<'p' | 'a' | 'd', bigint>>;

/**
 * By doubling and adding, projective: https://eprint.iacr.org/2008/013, section 6. noble has
 * Edwards curves with a square a only, and Bandersnatch has none; nor is the sum then complete, but
 * in the subgroup, whose order is odd, it is.
 */
const edwardsMultiple = ({ p, a, d }: Edwards, G: [bigint, bigint], k: bigint): [bigint, bigint] => {
  type Projective = [X: bigint, Y: bigint, Z: bigint];
  const add = ([X1, Y1, Z1]: Projective, [X2, Y2, Z2]: Projective): Projective => {
    const [A, C, D] = [(Z1 * Z2) % p, (X1 * X2) % p, (Y1 * Y2) % p];
    const [B, E] = [(A * A) % p, (((d * C) % p) * D) % p];
    const [F, H] = [B - E, B + E];
    return [(((A * F) % p) * ((X1 + Y1) * (X2 + Y2) - C - D)) % p, (((A * H) % p) * (D - a * C)) % p, (F * H) % p];
  };
  let sum: Projective = [0n, 1n, 1n];
  for (const bit of k.toString(2)) {
    sum = add(sum, sum);
    if (bit === '1') sum = add(sum, [...G, 1n]);
  }
  const Fp = Field(p);
  const [X, Y, Z] = sum.map((number) => Fp.create(number)) as Projective;
  return [Fp.div(X, Z), Fp.div(Y, Z)];
};

/** x may be scaled, by which a and d are by the same square: what stays is their ratio. */
const form = ({ p, a, d }: Edwards): bigint => Field(p).div(d, a);

/**
 * EIP-2494, the ZCash protocol specification 5.4.9.3, and for Bandersnatch
 * https://eprint.iacr.org/2021/1152, section 3.
 */
const published = (name: string) => {
  const ofNoble = { 'ed-on-bn254': babyjubjub, jubjub }[name];
  const { p, n, h, a, d } = ofNoble?.Point.CURVE() ?? bandersnatch;
  return { p, n, h, twist: form({ p, a, d }) };
};
const bandersnatch = {
  p: jubjub.Point.Fp.ORDER,
  n: 0x1cfb69d4ca675f520cce760202687600ff8f87007419047174fd06b52876e7e1n,
  h: 4n,
  a: -5n,
  d: 45022363124591815672509500913686876175488063829319466900776701791074614335719n,
};

/**
 * By way of Montgomery's form: B·v² = u³ + A·u² + u, with u = (1 + y) / (1 − y), v = u / x; then X
 * = (u + A / 3) / B, Y = v / B.
 */
const isSameCurve = (set: EdwardsSet, shown: NonNullable<EdwardsSet['weierstrass']>, G: { x: bigint; y: bigint }) => {
  const Fp = Field(BigInt(set.p));
  const [a, d] = [BigInt(set.a), BigInt(set.d)];
  const A = Fp.div(2n * (a + d), Fp.create(a - d));
  const B = Fp.div(4n, Fp.create(a - d));
  const coefficients = {
    a: Fp.div(Fp.create(3n - A * A), Fp.create(3n * B * B)),
    b: Fp.div(Fp.create(2n * A ** 3n - 9n * A), Fp.create(27n * B ** 3n)),
  };
  expect({ a: BigInt(shown.a), b: BigInt(shown.b) }).toEqual(coefficients);
  const u = Fp.div(Fp.create(1n + G.y), Fp.create(1n - G.y));
  const Gx = Fp.div(u + Fp.div(A, 3n), B);
  const Gy = Fp.div(Fp.div(u, G.x), B);
  const Point = weierstrass({ p: Fp.ORDER, n: BigInt(set.order), h: BigInt(set.cofactor), ...coefficients, Gx, Gy });
  const points = set.k.map((k) => toAffinePoint(Point.BASE.multiplyUnsafe(BigInt(k))));
  expect(shown.points).toEqual(points.map(({ x, y, infinity }) => (infinity ? null : [x.toString(), y.toString()])));
};

test('arkworks and gnark-crypto write points of BLS12-381 as zkcrypto does', () => {
  const ofBls = (file: VectorFile) =>
    file.curves.filter(({ curve }) => curve === 'bls12-381').map((set) => Object.values(set.encodings));
  const [arkworks, gnarkCrypto, zkcrypto] = files.map(([, file]) => ofBls(file));
  expect(arkworks).toEqual(zkcrypto);
  expect(gnarkCrypto).toEqual(zkcrypto);
});

type Text = string | readonly [c0: string, c1: string];
interface Outsider {
  readonly x: Text;
  readonly y: Text;
}
interface OutsidersOfGroup extends CurveGroup {
  readonly curve: PairingName;
  readonly cofactor: string;
  readonly points: readonly Outsider[];
  readonly ofSmallOrder: readonly (Outsider & { readonly order: string })[];
}
const coordinateOf = (text: Text): Coordinate =>
  typeof text === 'string' ? BigInt(text) : { c0: BigInt(text[0]), c1: BigInt(text[1]) };
const outsiders = read<{ groups: readonly OutsidersOfGroup[] }>('outsiders').groups;
const pointsOf = ({ points, ofSmallOrder }: OutsidersOfGroup): AffinePoint<Coordinate>[] =>
  [...points, ...ofSmallOrder].map(({ x, y }) => ({ x: coordinateOf(x), y: coordinateOf(y), infinity: false }));

/** k·P. noble takes no points of order 2. */
const product = (group: CurveGroup, { x, y }: AffinePoint<Coordinate>, k: bigint): AffinePoint<Coordinate> => {
  const { Point } = oracleOf(group);
  if (Point.Fp.is0(y)) return k % 2n === 0n ? infinityOf(Point) : { x, y, infinity: false };
  const point = Point.fromAffine({ x, y });
  const multiple = point.multiplyUnsafe(k < 0n ? -k : k);
  return toAffinePoint(k < 0n ? multiple.negate() : multiple);
};

describe('points outside the subgroup', () => {
  test('exist for every group with a cofactor', () => {
    const withCofactor = pairNames.flatMap((curve) => groupsOf(curve).map((group) => ({ curve, group })));
    expect(outsiders.map(({ curve, group }) => ({ curve, group }))).toEqual(
      withCofactor.filter((of) => oracleOf(of).Point.CURVE().h !== 1n),
    );
  });
  test.each(outsiders.map((of) => [of.curve, of.group, of] as const))('%s %s', (_, __, of) => {
    const { Point } = oracleOf(of);
    const { a, b, n, h } = Point.CURVE();
    const { Fp } = Point;
    expect(of.cofactor).toBe(h.toString());
    expect(of.points).toHaveLength(4);
    for (const point of pointsOf(of)) {
      const { x, y } = point;
      expect(Fp.sqr(y)).toEqual(Fp.add(Fp.mul(Fp.add(Fp.sqr(x), a), x), b));
      // (n − 1)·P = −P?
      expect(product(of, point, n - 1n)).not.toEqual({ ...point, y: Fp.neg(y) });
    }
    for (const [i, { order }] of of.ofSmallOrder.entries()) {
      expect(h % BigInt(order)).toBe(0n);
      expect(product(of, pointsOf(of)[4 + i]!, BigInt(order)).infinity).toBe(true);
    }
  });
});

interface Endomorphisms extends Readonly<Record<'seed' | 'beta' | 'lambda' | 'mu', string>> {
  readonly curve: PairingName;
  readonly psi: Readonly<Record<'x' | 'y', readonly [c0: string, c1: string]>>;
}
const signed = (text: string): bigint => (text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text));

describe('endomorphisms', () => {
  const { curves } = read<{ curves: readonly Endomorphisms[] }>('endomorphisms');
  test('exist for every curve that has two groups', () => {
    expect(curves.map(({ curve }) => curve)).toEqual(pairNames);
  });

  test.each(curves.map((of) => [of.curve, of] as const))('%s', (curve, { seed, beta, lambda, psi, mu }) => {
    const x = signed(seed);
    const { p, n } = oracles[curve].Point.CURVE();
    const [l, m, square] = [signed(lambda), signed(mu), x * x];
    expect(l).toBe(curve === 'bn254' ? 36n * x * square + 18n * square + 6n * x + 1n : -square);
    expect(m).toBe(curve === 'bn254' ? 6n * square : x);
    expect((m - p) % n).toBe(0n);
    expect((l * l + l + 1n) % n).toBe(0n);

    const { Fp } = oracles[curve].Point;
    const phi = (point: AffinePoint): AffinePoint => ({ ...point, x: Fp.mul(point.x, BigInt(beta)) });
    isProduct({ curve, group: 'g1' }, l, phi as (point: AffinePoint<Coordinate>) => AffinePoint<Coordinate>);

    const { Fp: Fp2 } = oraclesOfG2[curve].Point;
    const [cx, cy] = [coordinateOf(psi.x), coordinateOf(psi.y)] as [Fp2, Fp2];
    const conjugate = ({ c0, c1 }: Fp2): Fp2 => ({ c0, c1: Fp.neg(c1) });
    const ofPsi = (point: AffinePoint<Fp2>): AffinePoint<Fp2> => ({
      ...point,
      x: Fp2.mul(conjugate(point.x), cx),
      y: Fp2.mul(conjugate(point.y), cy),
    });
    isProduct({ curve, group: 'g2' }, m, ofPsi as (point: AffinePoint<Coordinate>) => AffinePoint<Coordinate>);
  });
});

/** In the subgroup, and of no point outside it. */
const isProduct = (
  of: { curve: PairingName; group: Group },
  k: bigint,
  map: (point: AffinePoint<Coordinate>) => AffinePoint<Coordinate>,
): void => {
  for (const log of [1n, 2n, 1234567890123456789n]) {
    const point = toAffinePoint(multiple(of, log));
    expect(product(of, point, k)).toEqual(map(point));
  }
  const strangers = outsiders.filter(({ curve, group }) => curve === of.curve && group === of.group).flatMap(pointsOf);
  for (const point of strangers) expect(product(of, point, k)).not.toEqual(map(point));
};
