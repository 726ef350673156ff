import { numberToBytesLE } from '@noble/curves/utils.js';
import { describe, expect, it } from 'vitest';
import { formatCaseAddress, parseCaseAddress } from '../../dev/cases/address.js';
import { encodedPoints, isOnCurve, makeCase, makePoints } from '../../dev/cases/msm-case.js';
import { type PointDistributionName, pointDistributions } from '../../dev/cases/point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import {
  alternatingPlacement,
  caseSets,
  everyCase,
  everyGroup,
  listSizes,
  pairwiseCases,
  selectCases,
} from '../../dev/cases/select.js';
import { edwardsNames, oracleOf, oracles, oraclesOfG2 } from '../../dev/oracle/curves.js';
import { encodingsOf, pointsIn } from '../../dev/oracle/encodings.js';
import {
  bn254G1,
  groupOrder,
  infinityOf,
  numbersOf as numbersOfCoordinate,
  samePoint,
} from '../../dev/oracle/known-bases.js';
import type { PointEncoding } from '../../src/api/values.js';
import { resolveCurve } from '../../src/curves/open-curve.js';

const pointNames = Object.keys(pointDistributions) as PointDistributionName[];
const scalarNames = Object.keys(scalarDistributions) as ScalarDistributionName[];
const ofBn254 = { curve: 'bn254', group: 'g1', encoding: 'le' } as const;
const { Point } = bn254G1;
const r = groupOrder(bn254G1);

const countOf = <T>(values: readonly T[], which: (value: T) => boolean): number => values.filter(which).length;

/** Decodes little-endian numbers of 32 bytes. */
const numbersOf = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) =>
    bytes.subarray(32 * i, 32 * (i + 1)).reduceRight((sum, byte) => 256n * sum + BigInt(byte), 0n),
  );

describe.each(pointNames)('points=%s', (name) => {
  it.each([0, 1, 2, 3, 41])('gives n = %i points on the curve, with their logs and their bytes', (n) => {
    const set = pointDistributions[name].make(n, 7);
    expect(set.points).toHaveLength(n);
    expect(set.logs).toHaveLength(n);
    expect(set.bytes).toHaveLength(64 * n);
    set.points.forEach((point, i) => {
      const log = set.logs[i] ?? -1n;
      expect(isOnCurve(point, bn254G1)).toBe(true);
      expect(numbersOf(set.bytes.subarray(64 * i, 64 * (i + 1)))).toEqual(
        point.infinity ? [0n, 0n] : [point.x, point.y],
      );
      expect(log === 0n).toBe(point.infinity);
      if (!point.infinity) expect(Point.BASE.multiplyUnsafe(log).toAffine()).toEqual({ x: point.x, y: point.y });
    });
  });

  it('gives the same points for the same seed', () => {
    expect(pointDistributions[name].make(9, 3)).toEqual(pointDistributions[name].make(9, 3));
  });
});

describe.each(Object.keys(oraclesOfG2) as (keyof typeof oraclesOfG2)[])('the cases of G2 of %s', (curve) => {
  const oracle = oraclesOfG2[curve];

  it.each(pointNames)('points=%s: on the curve, with their logs and their bytes', (name) => {
    const n = 9;
    const set = pointDistributions[name].make(n, 7, oracle);
    // the logs are drawn below the order, which both groups of a curve have
    expect(set.logs).toEqual(pointDistributions[name].make(n, 7, oracleOf({ curve, group: 'g1' })).logs);
    expect(set.bytes).toHaveLength(2 * oracle.coordinateBytes * n);
    const bytesOfNumber = oracle.coordinateBytes / 2;
    set.points.forEach((point, i) => {
      const log = set.logs[i] ?? -1n;
      expect(isOnCurve(point, oracle)).toBe(true);
      expect(log === 0n).toBe(point.infinity);
      const { x, y } = oracle.Point.BASE.multiplyUnsafe(log).toAffine();
      if (!point.infinity) expect(point).toEqual({ x, y, infinity: false });
      const numbers = point.infinity ? [0n, 0n, 0n, 0n] : [x, y].flatMap(numbersOfCoordinate);
      numbers.forEach((number, j) => {
        const at = bytesOfNumber * (4 * i + j);
        const written = set.bytes.subarray(at, at + bytesOfNumber);
        expect(written.reduceRight((sum, byte) => 256n * sum + BigInt(byte), 0n)).toBe(number);
      });
    });
  });

  it('have the same sum by both oracles', () => {
    for (const [points, scalars] of [
      ['few-with-signs', 'r-and-above'],
      ['distinct', 'random'],
    ] as const) {
      const made = makeCase({ curve, group: 'g2', points, scalars, n: 12, seed: 3 });
      expect(made.direct).toEqual(made.expected);
      expect(made.expected.infinity).toBe(false);
      expect(isOnCurve(made.expected, made.curve)).toBe(true);
      // the same x with another y
      expect(isOnCurve({ ...made.expected, y: made.expected.x }, made.curve)).toBe(false);
    }
  });
});

describe.each(edwardsNames)('the cases of the Edwards curve %s', (curve) => {
  const oracle = oracles[curve];
  const p = oracle.Point.Fp.ORDER;
  const neutral = { x: 0n, y: 1n, infinity: true };

  it.each(pointNames)('points=%s: on the curve, with their logs and their bytes', (name) => {
    const n = 9;
    const set = pointDistributions[name].make(n, 7, oracle);
    set.points.forEach((point, i) => {
      const log = set.logs[i] ?? -1n;
      expect(isOnCurve(point, oracle)).toBe(true);
      expect(log === 0n).toBe(point.infinity);
      expect(point).toEqual(
        log === 0n ? neutral : { ...oracle.Point.BASE.multiplyUnsafe(log).toAffine(), infinity: false },
      );
      // zeros are infinity on every curve
      const { x, y } = point.infinity ? { x: 0n, y: 0n } : point;
      expect(numbersOf(set.bytes.subarray(64 * i, 64 * (i + 1)))).toEqual([x, y]);
    });
  });

  it('points=pairs: the opposite of (x, y) is (−x, y)', () => {
    const [P, minusP] = pointDistributions.pairs.make(2, 7, oracle).points;
    expect(minusP).toEqual({ x: p - (P?.x ?? 0n), y: P?.y, infinity: false });
  });

  it('points at infinity are (0, 1) in every encoding', () => {
    const one = (value: bigint) => numbersOf(numberToBytesLE(value, 32));
    const written = (encoding: PointEncoding) => pointsIn(oracle, [infinityOf(oracle.Point)], encoding);
    expect(numbersOf(written('le'))).toEqual([0n, 1n]);
    expect(numbersOf(written('be').toReversed())).toEqual([1n, 0n]);
    expect(numbersOf(written('le-montgomery'))).toEqual([0n, ...one(2n ** 256n % p)]);
  });

  it('have the same sum by both oracles', () => {
    for (const [points, scalars] of [
      ['few-with-signs', 'r-and-above'],
      ['distinct', 'random'],
      ['pairs', 'all-one'],
    ] as const) {
      const made = makeCase({ curve, points, scalars, n: 12, seed: 3 });
      expect(made.direct).toEqual(made.expected);
      expect(isOnCurve(made.expected, made.curve)).toBe(true);
      if (scalars === 'all-one') expect(made.expected).toEqual(neutral);
      else expect(isOnCurve({ ...made.expected, y: made.expected.x as bigint }, made.curve)).toBe(false);
    }
    const { x, y } = oracle.Point.BASE.toAffine();
    expect(isOnCurve({ x: x + p, y, infinity: false }, oracle)).toBe(false);
  });
});

describe('the promises of point distributions', () => {
  const n = 400;
  const logs = (name: PointDistributionName) => pointDistributions[name].make(n, 1).logs;
  const different = (name: PointDistributionName) => new Set(logs(name)).size;
  const infinities = (name: PointDistributionName) => countOf(logs(name), (log) => log === 0n);

  it('points repeat as often as promised', () => {
    expect(different('distinct')).toBe(n);
    expect(different('all-equal')).toBe(1);
    expect(different('pairs')).toBe(n);
    expect(different('mirrored-halves')).toBe(n);
    expect(different('alternating')).toBe(2);
    expect(different('all-infinity')).toBe(1);
    expect(different('few-distinct')).toBe(8);
    expect(different('few-with-signs')).toBe(9);
    expect(different('doubling-chain')).toBe(n - 1);
    expect(different('consecutive')).toBe(n);
  });

  it('infinities are where promised', () => {
    expect(infinities('all-infinity')).toBe(n);
    expect(infinities('with-infinities')).toBeGreaterThan(n / 8);
    expect(infinities('with-infinities')).toBeLessThan(n / 2);
    expect(logs('with-infinities')[0]).toBe(0n);
    expect(logs('with-infinities')[n - 1]).toBe(0n);
    expect(infinities('distinct')).toBe(0);
  });

  it.each([
    ['pairs', (i: number) => i ^ 1],
    ['alternating', (i: number) => i ^ 1],
    ['mirrored-halves', (i: number) => (i + n / 2) % n],
  ] as const)('%s: each point has its negative where it says', (name, partner) => {
    const all = logs(name);
    all.forEach((log, i) => {
      expect((log + (all[partner(i)] ?? 0n)) % r).toBe(0n);
    });
  });

  it('doubling-chain: each point from the second on is the sum of all before it', () => {
    let sum = 0n;
    logs('doubling-chain').forEach((log, i) => {
      if (i > 0) expect(log).toBe(sum);
      sum = (sum + log) % r;
    });
  });
});

describe('the promises of scalar distributions', () => {
  const n = 2000;
  const values = (name: ScalarDistributionName) => scalarDistributions[name].make(n, 1).values;

  it.each(scalarNames)('scalars=%s gives n 256-bit scalars and their bytes', (name) => {
    for (const size of [0, 1, 2, 100]) {
      const set = scalarDistributions[name].make(size, 5);
      expect(set.values).toHaveLength(size);
      expect(numbersOf(set.bytes)).toEqual(set.values);
      expect(set.values.every((value) => value >= 0n && value < 2n ** 256n)).toBe(true);
      expect(scalarDistributions[name].make(size, 5)).toEqual(set);
    }
  });

  it('zero, equal and short scalars are as many as promised', () => {
    expect(countOf(values('random'), (s) => s < r)).toBe(n);
    expect(new Set(values('random')).size).toBe(n);
    expect(countOf(values('all-zero'), (s) => s === 0n)).toBe(n);
    expect(countOf(values('all-one'), (s) => s === 1n)).toBe(n);
    const ones = countOf(values('zero-one'), (s) => s === 1n);
    expect(ones + countOf(values('zero-one'), (s) => s === 0n)).toBe(n);
    expect(Math.abs(ones - n / 2)).toBeLessThan(n / 10);
    expect(new Set(values('all-equal')).size).toBe(1);
    expect(countOf(values('r-minus-one'), (s) => s === r - 1n)).toBe(n);
    expect(new Set(values('r-and-above'))).toEqual(new Set([r, r + 1n, 2n ** 256n - 1n]));
    expect(countOf(values('unreduced'), (s) => s >= r)).toBeGreaterThan(n / 2);
    expect(countOf(values('short-32'), (s) => s < 2n ** 32n)).toBe(n);
    expect(countOf(values('one-nonzero'), (s) => s !== 0n)).toBe(1);
    expect(Math.abs(countOf(values('mostly-zero'), (s) => s === 0n) - 0.9 * n)).toBeLessThan(n / 20);
    const noisy = values('one-bucket-and-noise');
    const most = Math.max(...noisy.slice(0, 20).map((each) => countOf(noisy, (s) => s === each)));
    expect(Math.abs(most - 0.75 * n)).toBeLessThan(n / 20);
    expect(values('ascending')).toEqual(Array.from({ length: n }, (_, i) => BigInt(i)));
    expect(values('carry-patterns')).toContain(2n ** 255n);
  });
});

describe('the two oracles', () => {
  it.each(
    selectCases(
      ['points=*,scalars=random', 'points=*,scalars=all-equal', 'points=distinct,scalars=*'],
      [0, 1, 33],
      2,
    ).map(formatCaseAddress),
  )('%s', (address) => {
    const { curve, expected, direct } = makeCase(parseCaseAddress(address));
    expect(direct).not.toBeNull();
    expect(isOnCurve(expected, curve)).toBe(true);
    if (direct !== null) expect(samePoint(expected, direct)).toBe(true);
  });

  it('only the oracle with logs answers above 256 points', () => {
    expect(makeCase(parseCaseAddress('points=all-equal,scalars=random,n=257,seed=1')).direct).toBeNull();
  });
});

describe('addresses of cases', () => {
  it('are parsed as they are formatted', () => {
    const text = 'points=pairs,scalars=all-equal,n=4097,seed=1';
    const address = { ...ofBn254, points: 'pairs', scalars: 'all-equal', n: 4097, seed: 1 };
    expect(parseCaseAddress(text)).toEqual(address);
    expect(formatCaseAddress(parseCaseAddress(text))).toBe(text);
    expect(parseCaseAddress(`curve=pallas,${text}`)).toEqual({ ...address, curve: 'pallas' });
    expect(formatCaseAddress(parseCaseAddress(`${text},curve=pallas`))).toBe(`curve=pallas,${text}`);
    expect(formatCaseAddress(parseCaseAddress(`curve=bn254,${text}`))).toBe(text);
    expect(formatCaseAddress(parseCaseAddress(`curve=baby-jubjub,encoding=be,${text}`))).toBe(
      `curve=baby-jubjub,encoding=be,${text}`,
    );
    expect(parseCaseAddress(`curve=bls12-381,group=g2,${text}`)).toEqual({
      ...address,
      curve: 'bls12-381',
      group: 'g2',
    });
    expect(formatCaseAddress(parseCaseAddress(`${text},group=g2,curve=bls12-381`))).toBe(
      `curve=bls12-381,group=g2,${text}`,
    );
    expect(formatCaseAddress(parseCaseAddress(`group=g2,${text}`))).toBe(`group=g2,${text}`);
    expect(formatCaseAddress(parseCaseAddress(`curve=pallas,group=g1,${text}`))).toBe(`curve=pallas,${text}`);
  });

  it.each(everyGroup)('of $curve $group have the encodings of the library', async (of) => {
    const curve = await resolveCurve(of.curve, of.group);
    const { encodings = [] } = 'edwards' in curve ? {} : curve;
    expect(encodingsOf(of)).toEqual(['le', 'be', 'le-montgomery', ...encodings]);
  });

  it('have an encoding of their group', () => {
    const text = 'points=pairs,scalars=all-equal,n=9,seed=1';
    const address = { ...ofBn254, points: 'pairs', scalars: 'all-equal', n: 9, seed: 1 };
    const compressed = `encoding=gnark-compressed,${text}`;
    expect(parseCaseAddress(compressed)).toEqual({ ...address, encoding: 'gnark-compressed' });
    expect(formatCaseAddress(parseCaseAddress(`${text},encoding=gnark-compressed`))).toBe(compressed);
    expect(formatCaseAddress(parseCaseAddress(`encoding=le,${text}`))).toBe(text);
    expect(parseCaseAddress(`encoding=eip2537,curve=bls12-381,group=g2,${text}`).encoding).toBe('eip2537');
  });

  it.each([
    ['points=pears,scalars=random,n=1,seed=1', 'pears'],
    ['points=toString,scalars=random,n=1,seed=1', 'toString'],
    ['points=pairs,scalars=rnadom,n=1,seed=1', 'rnadom'],
    ['points=pairs,scalars=random,n=-1,seed=1', '"-1"'],
    ['points=pairs,scalars=random,n=1e3,seed=1', '"1e3"'],
    ['points=pairs,scalars=random,n=1,seed=x', '"x"'],
    ['points=pairs,scalars=random,n=1', '"seed" is missing'],
    ['points=pairs,scalars=random,n=1,seed=1,size=2', '"size"'],
    ['points=pairs,points=pairs,scalars=random,n=1,seed=1', '"points" occurs twice'],
    ['points=,scalars=random,n=1,seed=1', 'points=value'],
    ['group=g3,points=pairs,scalars=random,n=1,seed=1', 'group: "g3" is not g1 or g2'],
    [
      'curve=pallas,group=g2,points=pairs,scalars=random,n=1,seed=1',
      'group: pallas has no g2; bn254, bls12-381, bls12-377 have one',
    ],
    [
      'encoding=zcash,points=pairs,scalars=random,n=1,seed=1',
      'encoding: "zcash" is not an encoding of bn254, g1; use le, be, le-montgomery, eip196, ark',
    ],
    [
      'curve=ed25519,group=g2,points=pairs,scalars=random,n=1,seed=1',
      'group: ed25519 has no g2; bn254, bls12-381, bls12-377 have one',
    ],
    [
      'curve=ed25519,encoding=ark,points=pairs,scalars=random,n=1,seed=1',
      'encoding: "ark" is not an encoding of ed25519, g1; use le, be, le-montgomery',
    ],
    [
      'curve=bn254,group=g2,encoding=aztec-compressed,points=pairs,scalars=random,n=1,seed=1',
      'not an encoding of bn254, g2',
    ],
    ['', '""'],
  ])('%s is refused by name', (text, named) => {
    expect(() => parseCaseAddress(text)).toThrow(RangeError);
    expect(() => parseCaseAddress(text)).toThrow(named);
  });
});

describe('the list of cases', () => {
  const all = everyCase(ofBn254, 1);
  const tenth = pairwiseCases(ofBn254, 1);

  it('is the full product, with each case once', () => {
    expect(all).toHaveLength(pointNames.length * scalarNames.length * listSizes.length);
    expect(new Set(all.map(formatCaseAddress)).size).toBe(all.length);
    expect(selectCases(['all'], [7], 1).map(formatCaseAddress).sort()).toEqual(all.map(formatCaseAddress).sort());
  });

  it('has a tenth in which every pair of points, scalars and n occurs', () => {
    expect(tenth.length).toBeLessThanOrEqual(all.length / 10);
    const names = new Set(all.map(formatCaseAddress));
    for (const address of tenth) expect(names).toContain(formatCaseAddress(address));
    const pairsOf = (cases: typeof all): Set<string> =>
      new Set(
        cases.flatMap(({ points, scalars, n }) => [`${points} × ${scalars}`, `${points} × ${n}`, `${scalars} × ${n}`]),
      );
    expect(pairsOf(tenth)).toEqual(pairsOf(all));
  });

  it('gives each placement half of every distribution, of every size, and of the tenth', () => {
    const halves = (cases: typeof all) => {
      const ofPrivate = countOf(cases, (address) => alternatingPlacement(address) === 'private');
      return Math.abs(ofPrivate - cases.length / 2);
    };
    for (const name of pointNames) expect(halves(all.filter(({ points }) => points === name))).toBeLessThanOrEqual(6);
    for (const name of scalarNames)
      expect(halves(all.filter(({ scalars }) => scalars === name))).toBeLessThanOrEqual(6);
    for (const size of listSizes) expect(halves(all.filter(({ n }) => n === size))).toBeLessThanOrEqual(6);
    expect(halves(tenth)).toBeLessThanOrEqual(tenth.length / 10);
  });
});

describe('selecting cases', () => {
  it('expands stars, sizes and sets, with each case once', () => {
    expect(selectCases(['points=*,scalars=random'], [4, 5], 1)).toHaveLength(2 * pointNames.length);
    expect(selectCases(['points=pairs'], [4], 1)).toHaveLength(scalarNames.length);
    expect(selectCases(['points=pairs,scalars=random,n=9,seed=3'], [4], 1).map(formatCaseAddress)).toEqual([
      'points=pairs,scalars=random,n=9,seed=3',
    ]);
    const all = selectCases(['distributions', 'distributions', 'core'], [1000], 1).map(formatCaseAddress);
    expect(new Set(all).size).toBe(all.length);
    for (const name of pointNames) expect(all).toContain(`points=${name},scalars=all-equal,n=1000,seed=1`);
    for (const name of scalarNames) expect(all).toContain(`points=distinct,scalars=${name},n=1000,seed=1`);
  });

  it('takes the group of the run, unless a filter names another curve or group', () => {
    const of = { curve: 'bls12-381', group: 'g2', encoding: 'zcash' } as const;
    const where = (filter: string) =>
      new Set(selectCases([filter], [4], 1, of).map(({ curve, group }) => `${curve} ${group}`));
    const inOne = Object.keys(caseSets).filter((set) => !['groups', 'encodings'].includes(set));
    for (const filter of [...inOne, 'points=pairs']) expect(where(filter)).toEqual(new Set(['bls12-381 g2']));
    expect(where('groups')).toEqual(
      new Set([
        ...Object.keys(oracles).map((curve) => `${curve} g1`),
        ...Object.keys(oraclesOfG2).map((curve) => `${curve} g2`),
      ]),
    );
    const onEdwards = { curve: 'jubjub', group: 'g1', encoding: 'le' } as const;
    for (const set of inOne)
      expect(new Set(selectCases([set], [4], 1, onEdwards).map(({ curve }) => curve))).toEqual(new Set(['jubjub']));
    expect(where('group=g1,points=pairs')).toEqual(new Set(['bls12-381 g1']));
    // as an address that names no group
    expect(where('curve=pallas,points=pairs')).toEqual(new Set(['pallas g1']));
    expect(where('curve=bn254,group=g2,points=pairs')).toEqual(new Set(['bn254 g2']));
    expect(() => where('curve=pallas,group=g2,points=pairs')).toThrow('group: pallas has no g2');
  });

  it('takes the encoding of the run, unless a filter names another encoding, curve or group', () => {
    const of = { curve: 'bn254', group: 'g1', encoding: 'aztec' } as const;
    const encodings = (filter: string) =>
      new Set(selectCases([filter], [4], 1, of).map(({ encoding }) => encoding as string));
    expect(encodings('points=pairs')).toEqual(new Set(['aztec']));
    expect(encodings('encoding=be,points=pairs')).toEqual(new Set(['be']));
    expect(encodings('group=g2,points=pairs')).toEqual(new Set(['le']));
    expect(encodings('curve=p256,points=pairs')).toEqual(new Set(['le']));
    expect(encodings('curve=p256,encoding=*,points=pairs')).toEqual(
      new Set(encodingsOf({ curve: 'p256', group: 'g1' })),
    );
    const every = selectCases(['encodings'], [4], 1).map(
      ({ curve, group, encoding }) => `${curve} ${group} ${encoding}`,
    );
    expect(new Set(every)).toEqual(
      new Set(everyGroup.flatMap((own) => encodingsOf(own).map((each) => `${own.curve} ${own.group} ${each}`))),
    );
  });

  it('leaves out cases that an encoding cannot write, and rejects an empty selection', () => {
    const filter = 'encoding=aztec-compressed,scalars=random';
    const points = selectCases([filter], [40], 1).map((address) => address.points);
    expect(points).toEqual(
      pointNames.filter((name) => !pointDistributions[name].make(40, 1).points.some(({ infinity }) => infinity)),
    );
    expect(() => selectCases([`${filter},points=all-infinity`], [40], 1)).toThrow('which the encoding cannot express');
    const { curve } = makeCase(parseCaseAddress('points=pairs,scalars=random,n=1,seed=1'));
    const address = parseCaseAddress(`${filter},points=all-infinity,n=1,seed=1`);
    expect(() => encodedPoints({ address, curve, points: makePoints(address) })).toThrow(
      'encoding: aztec-compressed cannot express infinity',
    );
  });

  it('has only sets that can be expanded', () => {
    for (const name of Object.keys(caseSets)) expect(selectCases([name], [1], 1).length).toBeGreaterThan(0);
  });

  it('rejects unknown sets and names, and names them', () => {
    expect(() => selectCases(['cores'], [1], 1)).toThrow('"cores"');
    expect(() => selectCases(['points=pears'], [1], 1)).toThrow('"pears"');
  });
});
