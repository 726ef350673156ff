/** Values of transforms, by polynomials of BigInts. */
import { Field } from '@noble/curves/abstract/modular.js';
import { bytesToNumberLE } from '@noble/curves/utils.js';
import type { FieldEngine, FieldVector } from '../../src/fields.js';

/** Returns numbers below p, the same in each run. */
export const transformInput = (p: bigint, n: number): bigint[] =>
  Array.from({ length: n }, (_, i) => (BigInt(i + 1) ** 31n + BigInt(i) * 0x1234_5678_9abc_def0n) % p);

const valueAt = (p: bigint, coefficients: readonly bigint[], x: bigint): bigint =>
  coefficients.reduceRight((sum, c) => (sum * x + c) % p, 0n);

/** Returns the numbers that an engine wrote, each in `numberBytes` little-endian bytes. */
export const numbersIn = (bytes: Uint8Array, numberBytes: number): bigint[] =>
  Array.from({ length: bytes.length / numberBytes }, (_, i) =>
    bytesToNumberLE(bytes.subarray(i * numberBytes, (i + 1) * numberBytes)),
  );

/** Returns the root of unity that the engine transforms with: its values of the polynomial x. */
const rootOf = async (fr: FieldEngine, n: number): Promise<bigint> => {
  if (n === 1) return 1n;
  const x = await fr.load(Array.from({ length: n }, (_, i) => (i === 1 ? 1n : 0n)));
  const values = await fr.run((ops) => ops.keep(ops.ntt(x)));
  const bytes = await fr.read(values);
  x.destroy();
  values.destroy();
  return numbersIn(bytes.subarray(0, 2 * fr.numberBytes), fr.numberBytes)[1] as bigint;
};

/**
 * Compares a transform with values of the polynomial at three places, and its inverse with the
 * coefficients.
 *
 * @throws Error if one differs
 */
export const assertTransforms = async (
  fr: FieldEngine,
  given: FieldVector,
  coefficients: readonly bigint[],
): Promise<void> => {
  const { p, numberBytes } = fr;
  const n = coefficients.length;
  const field = Field(p);
  const root = await rootOf(fr, n);
  const there = await fr.run((ops) => ops.keep(ops.ntt(given)));
  const back = await fr.run((ops) => ops.keep(ops.intt(there)));
  const [values, again] = [numbersIn(await fr.read(there), numberBytes), numbersIn(await fr.read(back), numberBytes)];
  let isRight = again.every((value, i) => value === coefficients[i]);
  for (const index of new Set([0, 1 % n, n - 1])) {
    isRight &&= values[index] === valueAt(p, coefficients, field.pow(root, BigInt(index)));
  }
  // a root of a smaller order gives other polynomials
  isRight &&= n === 1 || field.pow(root, BigInt(n / 2)) === p - 1n;
  there.destroy();
  back.destroy();
  if (!isRight) throw new Error(`WRONG: a transform of ${n} elements differs from the polynomial`);
};
