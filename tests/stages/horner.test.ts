/**
 * The arithmetics that combine windows, against noble and a textbook: every curve and group, every
 * field product, primes of all lengths, exceptional additions, wrong points, and the choice between
 * them.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { everyGroup } from '../../dev/cases/select.js';
import { edwardsNames, oracleOf } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  groupOrder,
  INFINITY,
  infinityOf,
  Random,
  toAffinePoint,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext, withProduct } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { fieldProducts } from '../../src/field/modulus.js';
import { HornerSource } from '../../src/msm/gpu/gpu-setup.js';
import { combineWindows } from '../../src/msm/stages/combine-windows.js';
import { bigIntHorner, type Horner } from '../../src/msm/stages/horner.js';
import { bitsExponents, reduceShape } from '../../src/msm/stages/reduce.js';
import { WasmHorner } from '../../src/wasm/points/horner-kernel.js';
import { writePoint } from '../reference/points.js';
import { randomPrimes } from '../support/primes.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const windowBits = 5;
const vectorWindows = 4;
const count = windowBits * vectorWindows;
const plan = { tuning: { windowBits }, vectorWindows, reduce: reduceShape(windowBits, 2 * vectorWindows, 4) };

/** Exponents of 2 that the result has sum `index` with. */
const exponentsOf = (index: number): bigint[] =>
  bitsExponents(windowBits, plan.reduce, index % windowBits).map((inWindow) =>
    BigInt(index - (index % windowBits) + inWindow),
  );

const arithmetics = {
  BigInt: async (curve: CurveContext): Promise<Horner> => bigIntHorner(curve),
  WebAssembly: (curve: CurveContext): Promise<Horner> => WasmHorner.open(curve),
};
const names = Object.keys(arithmetics) as (keyof typeof arithmetics)[];

/** Edwards curves are computed on through their images. */
const groups = everyGroup.filter(({ curve }) => !(edwardsNames as readonly string[]).includes(curve));

/** Stores a point for each sum of two vectors. */
const storedSums = (curve: CurveContext, points: readonly AffinePoint<Coordinate>[]): Uint32Array => {
  const sums = new Uint32Array(2 * count * curve.pointWords);
  for (const [i, { x, y, infinity }] of points.entries()) writePoint(curve, sums, i, infinity ? null : { x, y });
  return sums;
};

/** Compares sums of multiples of the generator with noble. */
const compare = (curve: CurveContext, oracle: ReturnType<typeof oracleOf>, horner: Horner): void => {
  const { BASE, ZERO } = oracle.Point;
  const r = groupOrder(oracle);
  const random = new Random(5);
  const large = random.belowBig(r);
  // equal and opposite points, and points that meet the doubled total
  const pool = [0n, 1n, 1n, r - 1n, 2n, r - 2n, large, r - large, (2n * large) % r, large + 1n];
  const multiples = pool.map((log) => toAffinePoint(log === 0n ? ZERO : BASE.multiplyUnsafe(log)));
  for (let round = 0; round < 12; round++) {
    const picks = Array.from({ length: 2 * count }, () => random.bits(16)).map((bits) => Number(bits) % pool.length);
    // the first rounds have one point everywhere: zeros first
    const chosen = picks.map((pick) => (round < 3 ? round : pick));
    const sums = storedSums(
      curve,
      chosen.map((pick) => multiples[pick] as AffinePoint<Coordinate>),
    );
    for (const vector of [0, 1]) {
      const log = Array.from({ length: count }, (_, i) => i).reduce((total, i) => {
        const own = pool[chosen[vector * count + i] as number] as bigint;
        return exponentsOf(i).reduce((sum, exponent) => sum + (own << exponent), total);
      }, 0n);
      const expected = log % r === 0n ? infinityOf(oracle.Point) : toAffinePoint(BASE.multiplyUnsafe(log % r));
      expect(combineWindows(curve, plan, sums, vector, horner), `round ${round}`).toEqual(expected);
    }
  }
};

describe.each(names)('%s', (arithmetic) => {
  const open = arithmetics[arithmetic];
  const named = groups.map((of) => [`${of.curve} ${of.group}`, of] as const);

  test.each(named)('combines windows of %s', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    compare(curve, oracleOf(of), await open(curve));
  });

  test.each(fieldProducts)('reads points in the Montgomery form of %s products', async (product) => {
    for (const of of groups.filter(({ curve }) => curve === 'bls12-381')) {
      const curve = withProduct(await openCurve(of.curve, of.group), product);
      compare(curve, oracleOf(of), await open(curve));
    }
  });

  test.each(named)('refuses a wrong first or last sum of %s', async (_, of) => {
    const curve = await openCurve(of.curve, of.group);
    const horner = await open(curve);
    const point = toAffinePoint(oracleOf(of).Point.BASE);
    for (const index of [0, count - 1, count, 2 * count - 1]) {
      const vector = Math.floor(index / count);
      for (const at of [0, curve.coordinates.words, curve.pointWords - curve.field.words]) {
        const sums = storedSums(curve, Array(2 * count).fill(point));
        const word = index * curve.pointWords + at;
        sums[word] = (sums[word] as number) ^ 1;
        expect(() => combineWindows(curve, plan, sums, vector, horner)).toThrow(
          expect.objectContaining({
            code: 'internal',
            message: expect.stringContaining(`window sum ${index} is not on ${curve.name}`),
          }),
        );
        // the other vector is right, also after an error
        expect(() => combineWindows(curve, plan, sums, 1 - vector, horner)).not.toThrow();
      }
    }
  });

  test('names the first of several wrong sums, not on the curve or not canonical', async () => {
    const curve = curveContext(bn254);
    const horner = await open(curve);
    const sums = storedSums(curve, Array(2 * count).fill({ ...bn254.generator, infinity: false }));
    const spoil = (index: number, canonical: boolean): void => {
      sums.fill(canonical ? 1 : 0xffffffff, index * curve.pointWords, (index + 1) * curve.pointWords - 7);
    };
    const wrong = (): string => {
      try {
        combineWindows(curve, plan, sums, 0, horner);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    spoil(9, false);
    expect(wrong()).toContain('window sum 9 is not on');
    spoil(11, true);
    expect(wrong()).toContain('window sum 9 is not on');
    spoil(4, true);
    expect(wrong()).toContain('window sum 4 is not on');
    spoil(0, false);
    expect(wrong()).toContain('window sum 0 is not on');
  });

  test('computes in primes of all lengths, with a = 0 and other a', async () => {
    const primes = randomPrimes(40, 6).filter((p) => p % 4n === 3n);
    expect(primes.length).toBeGreaterThan(10);
    for (const [round, p] of primes.entries()) {
      const a = round % 2 === 0 ? 0n : p - BigInt(round);
      const b = 7n;
      const textbook = new TextbookCurve({ p, a });
      const P = textbook.somePoint(b, 3n);
      const Q = textbook.somePoint(b, P.x + 1n);
      const curve = curveContext({ ...bn254, name: `p = ${p}`, p, a, b, generator: P });
      const pool = [INFINITY, P, { ...P, y: p - P.y }, Q, textbook.add(P, Q), textbook.add(P, P)];
      const points = Array.from(
        { length: 2 * count },
        (_, i) => pool[(i * i + i * round) % pool.length] as AffinePoint,
      );
      let expected = INFINITY as AffinePoint;
      for (const [i, point] of points.slice(0, count).entries()) {
        for (const exponent of exponentsOf(i)) {
          expected = textbook.add(expected, textbook.multiply(point, 2n ** exponent));
        }
      }
      expect(combineWindows(curve, plan, storedSums(curve, points), 0, await open(curve))).toEqual(expected);
    }
  });
});

describe('the source of a device', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });
  const curve = curveContext(bn254);

  test('has BigInts at once, and WebAssembly when it is loaded', async () => {
    const source = new HornerSource(curve);
    expect(source.now).not.toBeInstanceOf(WasmHorner);
    await Promise.all([source.prepare(), source.prepare()]);
    expect(source.now).toBeInstanceOf(WasmHorner);
    compare(curve, oracleOf({ curve: 'bn254', group: 'g1' }), source.now);
  });

  test.each([
    ['take', (): number => 3],
    ['total', (): null => null],
    ['double', (): void => undefined],
    ['add', (): void => undefined],
  ] as const)('keeps BigInts where `%s` of WebAssembly is wrong', async (method, wrong) => {
    vi.spyOn(WasmHorner.prototype, method).mockImplementation(wrong as () => never);
    const source = new HornerSource(curve);
    await source.prepare();
    expect(source.now).not.toBeInstanceOf(WasmHorner);
  });

  test('keeps BigInts where WebAssembly is forbidden, and asks once in a thread', async () => {
    const asked = vi.spyOn(WebAssembly, 'instantiate').mockRejectedValue(new WebAssembly.CompileError('forbidden'));
    for (const source of [new HornerSource(curve), new HornerSource(curve)]) {
      await source.prepare();
      expect(source.now).not.toBeInstanceOf(WasmHorner);
    }
    expect(asked).toHaveBeenCalledOnce();
  });
});
