/** Membership of the group of order r, tested on the CPU. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { oracleOf } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  encodePoints,
  groupOrder,
  Random,
  type WeierstrassOracle,
} from '../../dev/oracle/known-bases.js';
import { type AnyCurve, type CurveContext, curveContext } from '../../src/curves/curve.js';
import { curveNamed, type Group, type WeierstrassName } from '../../src/curves/more-curves.js';
import { readWords, writeWords } from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { firstOutside } from '../../src/msm/cpu/load-points.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { groupsWithCofactor, outsidePoints } from '../support/outside-points.js';

type Points = readonly AffinePoint<Coordinate>[];

/** Returns the context of a group, with constants of its own, for which nothing was compiled. */
const freshCurve = (name: WeierstrassName, group: Group): CurveContext => {
  const curve = curveContext(curveNamed(name, group) as AnyCurve, quadraticField);
  return { ...curve, constants: { ...curve.constants } };
};

const timeSlice = (): TimeSlice => new TimeSlice(() => undefined);

/** Returns points of the group, infinity among them. */
const insidePoints = (oracle: WeierstrassOracle<Coordinate>): Points => {
  const r = groupOrder(oracle);
  const { Point } = oracle;
  const random = new Random(9);
  const some = [1n, 2n, r - 1n, (r - 1n) / 2n, random.belowBig(r)];
  const { x, y } = Point.ZERO;
  return [...some.map((k) => ({ ...Point.BASE.multiply(k).toAffine(), infinity: false })), { x, y, infinity: true }];
};

const find = (curve: CurveContext, oracle: WeierstrassOracle<Coordinate>, points: Points, scale = 1n) => {
  const bytes = encodePoints(oracle, points).slice();
  const words = new Uint32Array(bytes.buffer);
  const { words: each } = curve.field;
  for (let at = 0; at < words.length; at += each)
    writeWords(words, at, each, (readWords(words, at, each) * scale) % curve.p);
  return firstOutside(curve, { bytes, scale, encoding: 'le' }, points.length, timeSlice());
};

/** Expects that each point outside the group is found, and no other. */
const tellsApart = async (name: WeierstrassName, group: Group, curve: CurveContext): Promise<void> => {
  const oracle = oracleOf({ curve: name, group });
  const inside = insidePoints(oracle);
  expect(await find(curve, oracle, inside)).toBeNull();
  expect(await find(curve, oracle, inside, curve.field.r)).toBeNull();
  const outside = outsidePoints(oracle, curve, name, group, new Random(8));
  for (const [i, point] of outside.entries()) {
    const at = i % inside.length;
    const mixed = [...inside.slice(0, at), { ...point, infinity: false }, ...inside.slice(at)];
    expect(await find(curve, oracle, mixed, i % 2 === 0 ? 1n : curve.field.r)).toBe(at);
  }
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe('points of the group are told from points of any other order', () => {
  test.each(groupsWithCofactor)('%s %s, by an endomorphism', async (name, group) => {
    const curve = freshCurve(name, group);
    expect(curve.membership).toBeDefined();
    await tellsApart(name, group, curve);
  });

  test.each(groupsWithCofactor)('%s %s, by the order', (name, group) =>
    tellsApart(name, group, { ...freshCurve(name, group), membership: undefined }),
  );

  describe('without WebAssembly', () => {
    beforeEach(() => {
      vi.spyOn(WebAssembly, 'compile').mockRejectedValue(new WebAssembly.CompileError('forbidden'));
    });

    test.each(groupsWithCofactor)('%s %s, by an endomorphism', (name, group) =>
      tellsApart(name, group, freshCurve(name, group)),
    );

    test('bls12-381 g1, by the order', () =>
      tellsApart('bls12-381', 'g1', { ...freshCurve('bls12-381', 'g1'), membership: undefined }));
  });
});

test('a list of points has a turn for each addition to all of its sums', async () => {
  const oracle = oracleOf({ curve: 'bls12-381', group: 'g1' });
  const curve = freshCurve('bls12-381', 'g1');
  const inside = insidePoints(oracle);
  const points = Array.from({ length: 600 }, (_, i) => inside[i % inside.length] as AffinePoint<Coordinate>);
  const source = { bytes: encodePoints(oracle, points), scale: 1n, encoding: 'le' as const };
  // a new adder adds the points of its known answer as well
  expect(await find(curve, oracle, inside)).toBeNull();
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 17;
    return now;
  });
  let [additions, most, turns] = [0, 0, 0];
  const { add } = PointAdder.prototype;
  vi.spyOn(PointAdder.prototype, 'add').mockImplementation(function (this: PointAdder, to, P, Q) {
    additions++;
    return add.call(this, to, P, Q);
  });
  const slice = new TimeSlice(() => {
    [most, additions] = [Math.max(most, additions), 0];
    turns++;
  });
  expect(await firstOutside(curve, source, points.length, slice)).toBeNull();
  expect(most).toBe(512);
  // at least the doublings of k, of 128 bits, for two lists
  expect(turns).toBeGreaterThan(2 * 127);
});
