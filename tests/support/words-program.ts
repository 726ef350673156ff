/**
 * A program for a platform with wide arithmetic, which Node does not have: every formula of the
 * form against BigInt, additions of every group against noble, and an MSM. Prints what it found.
 */

import { makeCase } from '../../dev/cases/msm-case.js';
import { everyGroup } from '../../dev/cases/select.js';
import { type CurveGroup, edwardsNames } from '../../dev/oracle/curves.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { digitsOf, invert, joinLimbs, mod } from '../../src/field/modulus.js';
import { createMsmEngine } from '../../src/index.js';
import { kernelOf } from '../../src/msm/cpu/adder.js';
import type { Expression, Formula } from '../../src/wasm/arithmetic/formula.js';
import { type WordsField, wordsField, wordsFunctions } from '../../src/wasm/arithmetic/words.js';
import { WasmModule } from '../../src/wasm/encoder/module.js';
import { fastestFirst } from '../../src/wasm/points/fastest-first.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { additions } from './additions.js';
import { primes, randomPrimes } from './primes.js';

/** Output of the program. */
export interface WordsReport {
  readonly formulas: number;
  readonly inverses: number;
  readonly additions: number;
  readonly wrong: readonly string[];
  readonly order: readonly string[];
  readonly msm: { readonly arithmetic: string | null; readonly isRight: boolean };
}

const SIGN = 8;
const ELEMENT = 64;
const place = (index: number): number => 1024 + ELEMENT * index;
/** Memory behind the operands. */
const BEHIND = 4096;

const formulas: readonly Formula[] = [
  { parameters: ['to', 'a', 'b'], factors: [{ of: 'a' }, { of: 'b' }] },
  { parameters: ['to', 'a'], factors: [{ of: 'a' }] },
  { parameters: ['to', 'a', 'b', 'c'], factors: [{ of: 'a' }, { of: 'b', less: 'c' }], keeps: 'c' },
  {
    parameters: ['to', 'a', 'b', 's', 'c', 't'],
    factors: [{ of: 'a' }, { of: 'b', sign: 's', less: 'c', lessSign: 't' }],
  },
  {
    parameters: ['to', 'a', 'b', 'c', 'd'],
    factors: [
      { of: 'a', less: 'b' },
      { of: 'c', less: 'd' },
    ],
  },
  {
    parameters: ['to', 'a', 'b', 'c', 's'],
    factors: [{ of: 'a' }, { of: 'b', less: 'c' }],
    plus: [[{ of: 'b', sign: 's' }, -1]],
  },
  {
    parameters: ['to', 'a', 'b'],
    plus: [
      [{ of: 'a' }, 1],
      [{ of: 'b' }, -6],
    ],
  },
  { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] },
  { parameters: ['to', 'a', 's', 'b', 't'], plus: [[{ of: 'a', sign: 's', less: 'b', lessSign: 't' }, 1]] },
];

/** Operands by name; a sign is 0 or −1. */
type Operands = Readonly<Record<string, bigint>>;

const valueIn = ({ of, sign, less, lessSign }: Expression, x: Operands): bigint => {
  const signed = (name: string, by: string | undefined): bigint =>
    by !== undefined && x[by] !== 0n ? -(x[name] as bigint) : (x[name] as bigint);
  return signed(of, sign) - (less === undefined ? 0n : signed(less, lessSign));
};

const meaning = ({ factors = [], plus = [] }: Formula, x: Operands, f: WordsField): bigint => {
  const [a, b = a] = factors.map((factor) => valueIn(factor, x));
  const product = a === undefined || b === undefined ? 0n : a * b * f.rInverse;
  return mod(
    plus.reduce((sum, [expression, times]) => sum + BigInt(times) * valueIn(expression, x), product),
    f.p,
  );
};

/** Elements at the ends of the range, around p, with full and empty words, and drawn ones. */
const elementsOf = ({ p, bound, words }: WordsField, random: Random): bigint[] => {
  const full = (1n << BigInt(64 * words - 64)) - 1n;
  const drawn = Array.from({ length: 6 }, () => random.bits(64 * words) % bound);
  const edges = [0n, 1n, p - 1n, p % bound, bound - 1n, full % bound, (full + 1n) % bound, p / 2n];
  return [...edges, ...drawn];
};

/** The functions of a prime, with words in memory. */
const open = (f: WordsField) => {
  const module = new WasmModule();
  let next = BEHIND;
  const constants = new Map<number, readonly number[]>();
  const take = (bytes: number): number => {
    next += bytes;
    return next - bytes;
  };
  const memory = {
    take,
    plus: 0,
    minus: 4,
    words: (words: readonly number[]) => {
      const at = take(4 * words.length);
      constants.set(at, words);
      return at;
    },
  };
  const functions = wordsFunctions(module, f);
  const publish = (name: string, count: number, index: number, result?: 'i32'): void => {
    const parameters = Array.from({ length: count }, () => 'i32' as const);
    module.add(name, result === undefined ? { parameters } : { parameters, result }, (code) => {
      for (let i = 0; i < count; i++) code.get(code.parameter(i));
      code.call(index);
    });
  };
  for (const [i, formula] of formulas.entries()) {
    publish(`f${i}`, formula.parameters.length, functions.formula(1, formula));
  }
  publish('invert', 2, functions.inverse(memory, 0));
  publish('isZero', 1, functions.isZero(), 'i32');
  const wasmMemory = new WebAssembly.Memory({ initial: 1 });
  const compiled = new WebAssembly.Module(module.bytes());
  const { exports } = new WebAssembly.Instance(compiled, { host: { memory: wasmMemory } });
  const words = new Uint32Array(wasmMemory.buffer);
  for (const [at, values] of constants) words.set(values, at / 4);
  words[(SIGN + 4) / 4] = 2 ** 32 - 1;
  return {
    functions: exports as Record<string, (...args: number[]) => number>,
    put: (at: number, value: bigint): void => words.set(digitsOf(value, 32, f.limbs), at / 4),
    get: (at: number): bigint => joinLimbs([...words.subarray(at / 4, at / 4 + f.limbs)], 32),
  };
};

const wrong: string[] = [];
const found = { formulas: 0, inverses: 0, additions: 0 };

const checkPrime = (p: bigint, random: Random): void => {
  const f = wordsField(p);
  const { functions, put, get } = open(f);
  const all = elementsOf(f, random);
  for (const [i, formula] of formulas.entries()) {
    const names = formula.parameters.slice(1);
    const isSign = (name: string): boolean => name === 's' || name === 't';
    for (let k = 0; k < 2 * all.length ** 2; k++) {
      const x = Object.fromEntries(
        names.map((name, j) => {
          if (isSign(name)) return [name, (k >> (name === 's' ? 0 : 1)) & 1 ? -1n : 0n];
          const from = j === 0 ? k : j === 1 ? Math.floor(k / all.length) : k * (j + 2) + j;
          return [name, all[from % all.length] as bigint];
        }),
      );
      for (const [j, name] of names.entries()) if (!isSign(name)) put(place(j + 1), x[name] as bigint);
      const signAt = (name: string): number => SIGN + (x[name] === 0n ? 0 : 4);
      const addresses = names.map((name, j) => (isSign(name) ? signAt(name) : place(j + 1)));
      (functions[`f${i}`] as (...args: number[]) => number)(place(0), ...addresses);
      const got = get(place(0));
      if (mod(got, p) !== meaning(formula, x, f) || got >= f.bound) wrong.push(`p ${p}, formula ${i}, draw ${k}`);
      found.formulas++;
    }
  }
  for (const value of all) {
    put(place(1), value);
    const isZero = value % p === 0n;
    if ((functions.isZero?.(place(1)) === 1) !== isZero) wrong.push(`p ${p}: ${value} is 0`);
    if (isZero) continue;
    functions.invert?.(place(0), place(1));
    const got = get(place(0));
    if (mod(got, p) !== mod(invert(value, p) * f.r * f.r, p) || got >= f.bound) wrong.push(`p ${p}: 1 / ${value}`);
    found.inverses++;
  }
};

const checkGroup = async (of: CurveGroup): Promise<void> => {
  const kernel = await kernelOf(await openCurve(of.curve, of.group), 'wasm-wide');
  if (kernel === null) {
    wrong.push(`${of.curve} ${of.group}: no kernel`);
    return;
  }
  const done = additions(of, await PointAdder.open(kernel));
  found.additions += done.count;
  wrong.push(...done.wrong.map((sum) => `${of.curve} ${of.group}: ${sum}`));
};

const random = new Random(5);
for (const p of [...Object.values(primes), ...randomPrimes(32, 9)]) checkPrime(p, random);
for (const of of everyGroup) if (!(edwardsNames as readonly string[]).includes(of.curve)) await checkGroup(of);

const { points, scalars, expected } = makeCase({
  points: 'few-with-signs',
  scalars: 'carry-patterns',
  n: 700,
  seed: 3,
});
const engine = await createMsmEngine({
  curve: 'bn254',
  backend: 'cpu',
  maxWorkers: 0,
  tuning: { cpuArithmetic: 'wasm-wide' },
});
const sum = await engine.msm(await engine.loadBases(points.bytes), scalars.bytes);
const run = engine.lastRun;
const arithmetic = run?.on === 'cpu' ? run.arithmetic : null;
const msm = { arithmetic, isRight: sum.x === expected.x && sum.y === expected.y };
engine.destroy();
const report: WordsReport = { ...found, wrong, order: fastestFirst(2n ** 381n), msm };
console.log(JSON.stringify(report));
