import {
  applyBatch,
  BATCH,
  divstepConstants,
  finish,
  modulusLimbs,
  toShort,
  wordsFromWide,
} from '../../src/field/divsteps.js';
import { digitsOf, joinLimbs, lazyLimbs, type Modulus, mod, montgomeryFactor } from '../../src/field/modulus.js';
import { dot4Product, fmaProduct, unsignedProduct } from '../../src/field/products.js';
import { type Word, WordLine, type WordProgram } from '../../src/field/word-line.js';
import { type Fma, floatBits, fmas } from './fma.js';
import { runStraightLine } from './straight-line.js';

/**
 * CPU reference of wgsl/field/field.wgsl and wgsl/field/inverse.wgsl. It runs the same programs and
 * throws where the 32-bit integers of the shader would overflow, which a shader cannot report.
 */

const limbsOf = (name: string, limbs: readonly number[]): Record<string, number> =>
  Object.fromEntries(limbs.map((limb, i) => [`${name}.l${i}`, limb]));

type Values = Record<string, bigint>;

const dot4 = (a: bigint, b: bigint): bigint =>
  [0n, 8n, 16n, 24n].reduce((total, at) => total + ((a >> at) & 255n) * ((b >> at) & 255n), 0n);

/** The functions that programs call; floats are integers here. */
const builtins = (by: Fma) => ({ dot4, f32: (a: bigint) => a, fma: fmas[by], bits: floatBits });

/**
 * Runs the WGSL text of a program as the shader does, and throws where a value exceeds its stated
 * bound. @param by how the device computes fma
 */
const runWords = (
  { program, result }: WordProgram,
  inputs: Readonly<Record<string, number>>,
  by: Fma = 'fused',
): number[] => {
  const functions = builtins(by);
  const values: Values = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, BigInt(value)]));
  const evaluate = ({ wgsl, most, wraps }: Word): bigint => {
    const exact = wgsl
      .replaceAll('bitcast<u32>', 'bits')
      .replace(/(?<![\w.])[a-z]\w*(\.\w+)?(?!\w*\()/gi, (name) => `values['${name}']`)
      .replace(/(?<!\w)(\d+)(u|\.0f)/g, '$1n');
    const names = Object.keys(functions);
    const value: unknown = new Function('values', ...names, `return ${exact}`)(values, ...Object.values(functions));
    if (typeof value !== 'bigint') throw new Error(`'${wgsl}' has names that were not computed`);
    const word = wraps ? BigInt.asUintN(32, value) : value;
    if (word > BigInt(most)) throw new RangeError(`'${wgsl}' is ${word}, beyond ${most}`);
    return word;
  };
  for (const statement of program.statements) values[statement.name] = evaluate(statement);
  return result.map((word) => Number(evaluate(word)));
};

const wordsOf = (m: Modulus, name: string, value: bigint): Record<string, number> =>
  Object.fromEntries(digitsOf(value, 32, lazyLimbs(m, 32)).map((word, i) => [`${name}.w${i}`, word]));

/**
 * Returns a·b·R⁻¹ by products of words; without b the square.
 *
 * @param by how the device computes fma
 */
export const productWords = (m: Modulus, a: bigint, b: bigint | null, by: Fma = 'fused'): bigint => {
  const square = b === null && m.product === 'unsigned';
  const whole = m.product === 'dot4' ? dot4Product : fmaProduct;
  const product = m.product === 'unsigned' ? unsignedProduct(m, square) : whole(m);
  const inputs = { ...wordsOf(m, 'a', a), ...(square ? {} : wordsOf(m, 'b', b ?? a)) };
  return joinLimbs(runWords(product, inputs, by), 32);
};

/**
 * Returns the product of src/field/products.ts on whole numbers: Montgomery's rows of 24 bits,
 * of which all but two take n0·p for the multiple of p.
 */
export const fmaRows = (m: Modulus, a: bigint, b: bigint): bigint => {
  const [width, rows] = [24n, m.montgomeryBits / 24];
  const n0 = montgomeryFactor(m.p, 24);
  const isTight = 4n * m.p + (m.p >> 10n) > 2n ** BigInt(m.montgomeryBits);
  let sum = 0n;
  for (let i = 0; i < rows; i++) {
    sum += ((a >> (width * BigInt(i))) & 0xffffffn) * b;
    const digit = sum & 0xffffffn;
    sum += (isTight || i >= rows - 2 ? mod(digit * n0, 2n ** width) : digit * n0) * m.p;
    sum >>= width;
  }
  return sum;
};

/** Converts an element to the inversion's limbs of BATCH bits. */
const shortOf = (m: Modulus, a: bigint): number[] =>
  runWords({ program: new WordLine(), result: toShort(m) }, wordsOf(m, 'a', a));

/** Returns sign·d minus the multiple of p that makes it an element. */
const finished = (m: Modulus, d: readonly number[], sign: 1 | -1): bigint => {
  const multiples = Number((joinLimbs(d, BATCH) * BigInt(sign) * 1024n) / m.p) / 1024;
  const { program, result } = finish(m);
  const values = runStraightLine(program, { sign, k: Math.floor(multiples - 0.5), ...limbsOf('d', d) });
  const limbs = Object.fromEntries(result.map((name) => [name, values.get(name) as number]));
  return joinLimbs(runWords({ program: new WordLine(), result: wordsFromWide(m) }, limbs), 32);
};

/**
 * Returns (a·R)⁻¹·R² mod p, the inverse in Montgomery form, below 2p. The inverse of 0 is 0 or p.
 */
export const fieldInverse = (m: Modulus, a: bigint): bigint => {
  const k = divstepConstants(m);
  const parts = (['short', 'wide'] as const).map((part) => applyBatch(m, part));
  let f: readonly number[] = modulusLimbs(m);
  let g: readonly number[] = shortOf(m, a);
  let d: readonly number[] = new Array<number>(k.limbs).fill(0);
  let e: readonly number[] = k.start;
  let zeta = -1; // −(delta + 1/2), as an integer
  for (let batch = 0; batch < k.batches; batch++) {
    // BATCH divsteps look at BATCH bits of f and g
    let [f0, g0] = [f[0] as number, g[0] as number];
    let [u, v, q, r] = [1, 0, 0, 1];
    for (let i = 0; i < BATCH; i++) {
      const odd = (g0 & 1) === 1;
      if (odd && zeta < 0) {
        [f0, g0] = [g0, g0 - f0];
        [u, v, q, r] = [q, r, q - u, r - v];
        zeta = -zeta - 2;
      } else {
        if (odd) [g0, q, r] = [g0 + f0, q + u, r + v];
        zeta -= 1;
      }
      g0 >>= 1;
      [u, v] = [u * 2, v * 2];
    }
    for (const [s, t] of [
      [u, v],
      [q, r],
    ] as const) {
      if (Math.abs(s) + Math.abs(t) > 1 << BATCH || s === -(1 << BATCH) || t === -(1 << BATCH)) {
        throw new RangeError(`matrix row (${s}, ${t}) out of range`);
      }
    }
    const inputs = { u, v, q, r, ...limbsOf('f', f), ...limbsOf('g', g), ...limbsOf('d', d), ...limbsOf('e', e) };
    [f, g, d, e] = parts.flatMap(({ program, result }) => {
      const values = runStraightLine(program, inputs);
      return result.map((names) => names.map((name) => values.get(name) as number));
    }) as [number[], number[], number[], number[]];
    for (const [x, most] of [
      [f, m.p],
      [g, m.p],
      [d, (m.p * BigInt(batch + 3)) / 2n],
      [e, (m.p * BigInt(batch + 3)) / 2n],
    ] as const) {
      const value = joinLimbs(x, BATCH);
      if (value > most || value < -most)
        throw new RangeError('f, g stay within p of 0, d and e within (1 + batches/2)·p');
    }
  }
  if (joinLimbs(g, BATCH) !== 0n) throw new RangeError('division steps did not finish');
  return finished(m, d, f[0] === 1 ? 1 : -1);
};
