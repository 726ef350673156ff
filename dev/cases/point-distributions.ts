/**
 * Distributions of bases. Each point set is a function of n and a seed, is the same on every
 * machine, and has the discrete logarithm of each of its points; the logarithm 0 is infinity.
 */
import {
  type AffinePoint,
  bn254G1,
  type Coordinate,
  encodePoints,
  groupOrder,
  infinityOf,
  type KnownBases,
  knownBases,
  makeKnownBases,
  type OracleCurve,
  Random,
  toAffinePoint,
} from '../oracle/known-bases.js';

export type PointSet<Of extends Coordinate = bigint> = KnownBases<Of>;

export interface PointDistribution {
  /** One line for the help of the page and of scripts. */
  readonly about: string;
  /** True if some of a few dozen points are infinity. */
  readonly hasInfinity?: true;
  make: MakePoints;
}

/** Makes points over either field, on BN254 by default. */
type MakePoints = <Of extends Coordinate = bigint>(n: number, seed: number, curve?: OracleCurve<Of>) => PointSet<Of>;
type MakeOn = <Of extends Coordinate>(n: number, seed: number, curve: OracleCurve<Of>) => PointSet<Of>;

const orOnBn254 =
  (make: MakeOn): MakePoints =>
  <Of extends Coordinate = bigint>(n: number, seed: number, curve = bn254G1 as unknown as OracleCurve<Of>) =>
    make(n, seed, curve);

/** Selects one of a few known points, with a sign; null is infinity. */
type Choice = { readonly from: number; readonly negate?: boolean } | null;

function arrange<Of extends Coordinate>(
  curve: OracleCurve<Of>,
  n: number,
  known: PointSet<Of>,
  choose: (i: number) => Choice,
): PointSet<Of> {
  const infinity = infinityOf(curve.Point);
  const order = groupOrder(curve);
  const logs: bigint[] = [];
  const points: AffinePoint<Of>[] = [];
  for (let i = 0; i < n; i++) {
    const at = choose(i);
    const log = at === null ? 0n : (known.logs[at.from] ?? 0n);
    const point = at === null ? infinity : (known.points[at.from] ?? infinity);
    const negate = at?.negate === true && !point.infinity;
    logs.push(negate ? (order - log) % order : log);
    points.push(negate ? toAffinePoint(curve.Point.fromAffine({ x: point.x, y: point.y }).negate()) : point);
  }
  return { logs, points, bytes: encodePoints(curve, points) };
}

const distinct: MakeOn = (n, seed, curve) => makeKnownBases(curve, n, seed);

const allEqual: MakeOn = (n, seed, curve) => arrange(curve, n, distinct(1, seed, curve), () => ({ from: 0 }));

const allInfinity: MakeOn = (n, seed, curve) => arrange(curve, n, distinct(0, seed, curve), () => null);

const pairs: MakeOn = (n, seed, curve) =>
  arrange(curve, n, distinct(Math.ceil(n / 2), seed, curve), (i) => ({ from: i >> 1, negate: i % 2 === 1 }));

const mirroredHalves: MakeOn = (n, seed, curve) => {
  const half = Math.ceil(n / 2);
  return arrange(curve, n, distinct(half, seed, curve), (i) =>
    i < half ? { from: i } : { from: i - half, negate: true },
  );
};

const alternating: MakeOn = (n, seed, curve) =>
  arrange(curve, n, distinct(1, seed, curve), (i) => ({ from: 0, negate: i % 2 === 1 }));

const withInfinities: MakeOn = (n, seed, curve) => {
  const random = new Random(seed);
  return arrange(curve, n, distinct(n, seed, curve), (i) => {
    const drawn = random.below(4) === 0;
    return drawn || i === 0 || i === n - 1 ? null : { from: i };
  });
};

const fewDistinct: MakeOn = (n, seed, curve) => {
  const random = new Random(seed);
  return arrange(curve, n, distinct(8, seed, curve), () => ({ from: random.below(8) }));
};

const fewWithSigns: MakeOn = (n, seed, curve) => {
  const random = new Random(seed);
  return arrange(curve, n, distinct(4, seed, curve), () => {
    const draw = random.below(9);
    return draw === 8 ? null : { from: draw >> 1, negate: draw % 2 === 1 };
  });
};

const doublingChain: MakeOn = (n, seed, curve) => {
  const order = groupOrder(curve);
  let log = new Random(seed).belowBig(order - 1n) + 1n;
  let point = curve.Point.BASE.multiply(log);
  const logs: bigint[] = [];
  const chain: (typeof point)[] = [];
  for (let i = 0; i < n; i++) {
    if (i > 1) {
      log = (2n * log) % order;
      point = point.double();
    }
    logs.push(log);
    chain.push(point);
  }
  return knownBases(curve, logs, chain);
};

const consecutive: MakeOn = (n, _seed, curve) => {
  const generator = curve.Point.BASE;
  const multiples: (typeof generator)[] = [];
  for (let i = 0; i < n; i++) multiples.push(multiples.at(-1)?.add(generator) ?? generator);
  const logs = multiples.map((_, i) => BigInt(i + 1) % groupOrder(curve));
  return knownBases(curve, logs, multiples);
};

export const pointDistributions = {
  distinct: { about: 'random points, all different', make: orOnBn254(distinct) },
  'all-equal': { about: 'one point, n times', make: orOnBn254(allEqual) },
  pairs: { about: 'P, −P, Q, −Q, …', make: orOnBn254(pairs) },
  'mirrored-halves': { about: 'P, Q, …, −P, −Q, …', make: orOnBn254(mirroredHalves) },
  alternating: { about: 'P, −P, P, −P, … of one point', make: orOnBn254(alternating) },
  'with-infinities': {
    about: 'about one in four is infinity, the first and the last are',
    hasInfinity: true,
    make: orOnBn254(withInfinities),
  },
  'all-infinity': { about: 'all infinity', hasInfinity: true, make: orOnBn254(allInfinity) },
  'few-distinct': { about: '8 points, drawn repeatedly', make: orOnBn254(fewDistinct) },
  'few-with-signs': {
    about: '4 points, their negatives and infinity, drawn repeatedly',
    hasInfinity: true,
    make: orOnBn254(fewWithSigns),
  },
  'doubling-chain': { about: 'P, P, 2P, 4P, 8P, …: each is the sum of all before it', make: orOnBn254(doublingChain) },
  consecutive: { about: 'G, 2G, 3G, …: some are sums of others', make: orOnBn254(consecutive) },
} as const satisfies Record<string, PointDistribution>;

export type PointDistributionName = keyof typeof pointDistributions;
