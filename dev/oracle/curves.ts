/** Curves of the oracles: those of noble, and those that noble lacks, on its arithmetic. */
import { Field, FpInvertBatch, FpPow, type IField } from '@noble/curves/abstract/modular.js';
import { weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { babyjubjub, jubjub } from '@noble/curves/misc.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { Curve } from '../../src/curves/curve.js';
import type { EdwardsName, Group, PairingName, WeierstrassName } from '../../src/curves/more-curves.js';
import {
  bn254G1,
  type Coordinate,
  type Fp2,
  type OracleCurve,
  type OraclePoint,
  type OraclePoints,
  type WeierstrassOracle,
} from './known-bases.js';

export const quadraticField = (p: bigint, nonResidue: bigint): IField<Fp2> => {
  const Fp = Field(p);
  const ZERO = { c0: 0n, c1: 0n };
  const ONE = { c0: 1n, c1: 0n };
  const create = ({ c0, c1 }: Fp2): Fp2 => ({ c0: Fp.create(c0), c1: Fp.create(c1) });
  const number = (value: Fp2 | bigint): Fp2 => (typeof value === 'bigint' ? { c0: value, c1: 0n } : value);
  const mul = (a: Fp2, other: Fp2 | bigint): Fp2 => {
    const b = number(other);
    return create({ c0: a.c0 * b.c0 + nonResidue * a.c1 * b.c1, c1: a.c0 * b.c1 + a.c1 * b.c0 });
  };
  const inv = ({ c0, c1 }: Fp2): Fp2 => {
    const inverse = Fp.inv(Fp.create(c0 * c0 - nonResidue * c1 * c1));
    return create({ c0: c0 * inverse, c1: -c1 * inverse });
  };
  const add = (a: Fp2, b: Fp2): Fp2 => create({ c0: a.c0 + b.c0, c1: a.c1 + b.c1 });
  const sub = (a: Fp2, b: Fp2): Fp2 => create({ c0: a.c0 - b.c0, c1: a.c1 - b.c1 });
  const is0 = ({ c0, c1 }: Fp2): boolean => c0 === 0n && c1 === 0n;
  const isValid = ({ c0, c1 }: Fp2): boolean => Fp.isValid(c0) && Fp.isValid(c1);
  const field: IField<Fp2> = {
    ORDER: p * p,
    BYTES: 2 * Fp.BYTES,
    BITS: 2 * Fp.BITS,
    isLE: Fp.isLE,
    ZERO,
    ONE,
    create,
    isValid,
    is0,
    isValidNot0: (a) => isValid(a) && !is0(a),
    neg: (a) => sub(ZERO, a),
    inv,
    sqrt: () => {
      throw new Error('the oracle field has no square roots');
    },
    sqr: (a) => mul(a, a),
    eql: (a, b) => a.c0 === b.c0 && a.c1 === b.c1,
    add,
    sub,
    mul,
    pow: (a, power) => FpPow(field, a, power),
    div: (a, b) => mul(a, inv(number(b))),
    addN: add,
    subN: sub,
    mulN: mul,
    sqrN: (a) => mul(a, a),
    isOdd: ({ c0, c1 }) => (c0 !== 0n ? c0 : c1) % 2n === 1n,
    toBytes: () => {
      throw new Error('the oracle field writes no bytes');
    },
    fromBytes: () => {
      throw new Error('the oracle field reads no bytes');
    },
    cmov: (a, b, condition) => (condition ? b : a),
    invertBatch: (all) => FpInvertBatch(field, all) as Fp2[],
  };
  return field;
};

interface EdwardsConstants {
  readonly p: bigint;
  /**
   * Order of the generator. It is odd, so no sum of its multiples is an exception of the addition
   * law.
   */
  readonly n: bigint;
  readonly a: bigint;
  readonly d: bigint;
  readonly Gx: bigint;
  readonly Gy: bigint;
}

/**
 * Points (X : Y : Z) with the formulas of Bernstein, Birkner, Joye, Lange, Peters, "Twisted Edwards
 * Curves", https://eprint.iacr.org/2008/013, section 6.
 */
const twistedEdwards = ({ p, n, a, d, Gx, Gy }: EdwardsConstants): OraclePoints<bigint> => {
  const Fp = Field(p);

  class Point implements OraclePoint<bigint> {
    static readonly Fp = Fp;
    static readonly Fn = Field(n);
    static readonly BASE = new Point(Gx, Gy, 1n);
    static readonly ZERO = new Point(0n, 1n, 1n);
    static fromAffine({ x, y }: { readonly x: bigint; readonly y: bigint }): Point {
      return new Point(x, y, 1n);
    }

    readonly X: bigint;
    readonly Y: bigint;
    readonly Z: bigint;

    constructor(X: bigint, Y: bigint, Z: bigint) {
      [this.X, this.Y, this.Z] = [X, Y, Z];
    }

    add({ X, Y, Z }: Point): Point {
      const A = Fp.mul(this.Z, Z);
      const B = Fp.sqr(A);
      const C = Fp.mul(this.X, X);
      const D = Fp.mul(this.Y, Y);
      const E = Fp.mul(d * C, D);
      const [F, G] = [B - E, B + E];
      const cross = (this.X + this.Y) * (X + Y) - C - D;
      return new Point(Fp.mul(A * F, cross), Fp.mul(A * G, D - a * C), Fp.mul(F, G));
    }

    double(): Point {
      return this.add(this);
    }

    negate(): Point {
      return new Point(Fp.neg(this.X), this.Y, this.Z);
    }

    multiply(k: bigint): Point {
      return [...k.toString(2)].reduce((sum, bit) => (bit === '1' ? sum.double().add(this) : sum.double()), Point.ZERO);
    }

    multiplyUnsafe(k: bigint): Point {
      return this.multiply(k);
    }

    is0(): boolean {
      return this.X === 0n && this.Y === this.Z;
    }

    toAffine(invertedZ = Fp.inv(this.Z)): { x: bigint; y: bigint } {
      return { x: Fp.mul(this.X, invertedZ), y: Fp.mul(this.Y, invertedZ) };
    }

    assertValidity(): void {
      const { x, y } = this.toAffine();
      const [xx, yy] = [x * x, y * y];
      if (Fp.create(a * xx + yy - 1n - d * xx * yy) !== 0n) throw new Error('not on the curve');
    }
  }
  return Point;
};

type PointClass = WeierstrassOracle['Point'];

/** Converts a curve of noble to the library's terms. */
const fromNoble = (name: string, Point: PointClass): Curve => {
  const { p, n, a, b, Gx, Gy } = Point.CURVE();
  return { name, p, order: n, a, b, generator: { x: Gx, y: Gy } };
};

const oracle = <Class extends OracleCurve['Point']>(name: string, Point: Class, coordinateBytes: number) => ({
  name,
  group: 'g1' as const,
  Point,
  coordinateBytes,
  scalarBytes: 32,
});

/**
 * BLS12-381, 381 bits: 30 limbs, 12 words, 96 bytes a point, which do not divide a 256-byte binding
 * offset.
 */
export const bls12381 = fromNoble('bls12-381', bls12_381.G1.Point);
export const bls12381Oracle = oracle('bls12-381', bls12_381.G1.Point, 48);

/**
 * P-256 with a = −3, which adds a term to the doubling of the walk and to the equation of the
 * import. Its order is just below 2^256.
 */
export const p256Curve = fromNoble('p256', p256.Point);
export const p256Oracle = oracle('p256', p256.Point, 32);

export const bn254FromNoble = fromNoble('bn254', bn254.G1.Point);

/**
 * NIST P-192: 192 bits take 15 limbs (195 bits) in 8 words (256 bits), so the words hold numbers
 * that the limbs do not. The constants are from FIPS 186-4, D.1.2.1, because noble no longer has
 * the curve. Its tests check that the generator is on the curve and has the order below.
 */
const P192 = weierstrass({
  p: 2n ** 192n - 2n ** 64n - 1n,
  n: 0xffffffffffffffffffffffff99def836146bc9b1b4d22831n,
  h: 1n,
  a: 2n ** 192n - 2n ** 64n - 4n,
  b: 0x64210519e59c80e70fa7e9ab72243049feb8deecc146b9b1n,
  Gx: 0x188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012n,
  Gy: 0x07192b95ffc8da78631011ed6b24cdd573f977a11e794811n,
});
export const secp192r1 = fromNoble('secp192r1', P192);
export const secp192r1Oracle = oracle('secp192r1', P192, 32);

/** Constants of a curve y² = x³ + b of order n. */
type PlainConstants = Readonly<Record<'p' | 'n' | 'h' | 'b' | 'Gx' | 'Gy', bigint>>;

const plainCurve = (constants: PlainConstants): PointClass => weierstrass({ ...constants, a: 0n });

/**
 * Returns parameters of the BLS12 family: Barreto, Lynn, Scott, "Constructing elliptic curves with
 * prescribed embedding degrees", https://eprint.iacr.org/2002/088.
 */
const bls12 = (x: bigint) => {
  const r = x ** 4n - x ** 2n + 1n;
  const h2 = (x ** 8n - 4n * x ** 7n + 5n * x ** 6n - 4n * x ** 4n + 6n * x ** 3n - 4n * x ** 2n - 4n * x + 13n) / 9n;
  return { r, p: ((x - 1n) ** 2n * r) / 3n + x, h: (x - 1n) ** 2n / 3n, h2 };
};
const { p: p377, r: r377, h: h377, h2: h377OfG2 } = bls12(0x8508c00000000001n);

/** BLS12-377, with the generator in decimal, as arkworks writes it. */
const BLS12_377 = plainCurve({
  ...{ p: p377, n: r377, h: h377, b: 1n },
  Gx: 81937999373150964239938255573465948239988671502647976594219695644855304257327692006745978603320413799295628339695n,
  Gy: 241266749859715473739788878240585681733927191168601896383759122102112907357779751001206799952863815012735208165030n,
});

/** Grumpkin, whose generator has the smaller root of −16. */
const { Fp: bn254Base, Fn: bn254Scalars } = bn254.G1.Point;
const rootOfMinus16 = bn254Scalars.sqrt(bn254Scalars.create(-16n));
const smaller = (root: bigint): bigint => (2n * root < bn254Scalars.ORDER ? root : bn254Scalars.ORDER - root);
const GRUMPKIN = plainCurve({
  ...{ p: bn254Scalars.ORDER, n: bn254Base.ORDER, h: 1n, b: bn254Scalars.create(-17n) },
  ...{ Gx: 1n, Gy: smaller(rootOfMinus16) },
});

/** Base field primes of Pallas and Vesta: 2^254 plus a decimal remainder. */
const PALLAS_BASE = 2n ** 254n + 45560315531419706090280762371685220353n;
const VESTA_BASE = 2n ** 254n + 45560315531506369815346746415080538113n;
const PALLAS = plainCurve({ p: PALLAS_BASE, n: VESTA_BASE, h: 1n, b: 5n, Gx: PALLAS_BASE - 1n, Gy: 2n });
const VESTA = plainCurve({ p: VESTA_BASE, n: PALLAS_BASE, h: 1n, b: 5n, Gx: VESTA_BASE - 1n, Gy: 2n });

/**
 * BLS12-377 G2. b is that of G1 divided by u, and the generator in decimal, as arkworks writes it.
 */
const Fp2of377 = quadraticField(p377, -5n);
const BLS12_377_G2 = weierstrass<Fp2>(
  {
    p: Fp2of377.ORDER,
    n: r377,
    h: h377OfG2,
    a: Fp2of377.ZERO,
    b: Fp2of377.inv({ c0: 0n, c1: 1n }),
    Gx: {
      c0: 233578398248691099356572568220835526895379068987715365179118596935057653620464273615301663571204657964920925606294n,
      c1: 140913150380207355837477652521042157274541796891053068589147167627541651775299824604154852141315666357241556069118n,
    },
    Gy: {
      c0: 63160294768292073209381361943935198908131692476676907196754037919244929611450776219210369229519898517858833747423n,
      c1: 149157405641012693445398062341192467754805999074082136895788947234480009303640899064710353187729182149407503257491n,
    },
  },
  { Fp: Fp2of377 },
);

const oracleOfPairs = (
  name: string,
  Point: WeierstrassOracle<Fp2>['Point'],
  coordinateBytes: number,
): WeierstrassOracle<Fp2> => ({
  name,
  group: 'g2',
  Point,
  coordinateBytes,
  scalarBytes: 32,
});

/** Oracles of G2 by name, for curves that have one. */
export const oraclesOfG2: Readonly<Record<PairingName, WeierstrassOracle<Fp2>>> = {
  bn254: oracleOfPairs('bn254', bn254.G2.Point, 64),
  'bls12-381': oracleOfPairs('bls12-381', bls12_381.G2.Point, 96),
  'bls12-377': oracleOfPairs('bls12-377', BLS12_377_G2, 96),
};

/**
 * Bandersnatch: −5·x² + y² = 1 + d·x²·y² over Jubjub's field, in decimal, as arkworks writes it.
 * Noble has no such curve, because −5 is not a square.
 */
const BANDERSNATCH = twistedEdwards({
  p: jubjub.Point.Fp.ORDER,
  n: 13108968793781547619861935127046491459309155893440570251786403306729687672801n,
  a: jubjub.Point.Fp.create(-5n),
  d: 45022363124591815672509500913686876175488063829319466900776701791074614335719n,
  Gx: 18886178867200960497001835917649091219057080094937609519140440539760939937304n,
  Gy: 19188667384257783945677642223292697773471335439753913231509108946878080696678n,
});

/** Short Weierstrass curves by their names in the library. */
const oraclesOfWeierstrass: Readonly<Record<WeierstrassName, WeierstrassOracle>> = {
  bn254: bn254G1,
  'bls12-381': bls12381Oracle,
  'bls12-377': oracle('bls12-377', BLS12_377, 48),
  grumpkin: oracle('grumpkin', GRUMPKIN, 32),
  pallas: oracle('pallas', PALLAS, 32),
  vesta: oracle('vesta', VESTA, 32),
  secp256k1: oracle('secp256k1', secp256k1.Point, 32),
  p256: p256Oracle,
};
/** Twisted Edwards curves by their names in the library. */
const oraclesOfEdwards: Readonly<Record<EdwardsName, OracleCurve>> = {
  'baby-jubjub': oracle('baby-jubjub', babyjubjub.Point, 32),
  jubjub: oracle('jubjub', jubjub.Point, 32),
  bandersnatch: oracle('bandersnatch', BANDERSNATCH, 32),
  ed25519: oracle('ed25519', ed25519.Point, 32),
};
export const oracles = { ...oraclesOfWeierstrass, ...oraclesOfEdwards };

/** Names of curves in the library. */
export type CurveName = keyof typeof oracles;
export const curveNames = Object.keys(oracles) as CurveName[];
export const weierstrassNames = Object.keys(oraclesOfWeierstrass) as WeierstrassName[];
export const edwardsNames = Object.keys(oraclesOfEdwards) as EdwardsName[];

export interface CurveGroup {
  readonly curve: CurveName;
  readonly group: Group;
}

const hasG2 = (curve: CurveName): curve is PairingName => Object.hasOwn(oraclesOfG2, curve);

export const groupsOf = (curve: CurveName): readonly Group[] => (hasG2(curve) ? ['g1', 'g2'] : ['g1']);

/** Names of the curves with a second group. */
export const pairNames = curveNames.filter(hasG2);

/** Returns the error text for a curve without a second group. */
export const noSuchGroup = (curve: CurveName): string => `group: ${curve} has no g2; ${pairNames.join(', ')} have one`;

/**
 * Returns the oracle of a group. Callers only pass coordinates on, so the type does not say which
 * field they are in.
 */
export function oracleOf(of: CurveGroup & { readonly curve: WeierstrassName }): WeierstrassOracle<Coordinate>;
export function oracleOf(of: CurveGroup): OracleCurve<Coordinate>;
export function oracleOf({ curve, group }: CurveGroup): OracleCurve<Coordinate> {
  if (group === 'g1') return oracles[curve] as unknown as OracleCurve<Coordinate>;
  if (!hasG2(curve)) throw new RangeError(noSuchGroup(curve));
  return oraclesOfG2[curve] as unknown as OracleCurve<Coordinate>;
}
