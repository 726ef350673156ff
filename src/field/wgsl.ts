/** The views of wgsl/field/field.wgsl and wgsl/field/inverse.wgsl: programs and constants as WGSL. */
import type { TemplateView } from '../shaders/template.js';
import {
  applyBatch,
  BATCH,
  type BatchPart,
  type DigitStatement,
  type DivstepLine,
  divstepConstants,
  finish,
  modulusLimbs,
  toShort,
  wordsFromWide,
} from './divsteps.js';
import { digitsOf, lazyLimbs, type Modulus, toMontgomery } from './modulus.js';
import { dot4Product, fmaProduct, unsignedProduct } from './products.js';
import { type Operand, range, type Statement, type Term } from './straight-line.js';
import type { Word, WordProgram } from './word-line.js';

/** Returns the products of a modulus as functions. */
const productViews = (m: Modulus): TemplateView[] => {
  const view = (name: string, { program, result }: WordProgram): TemplateView => ({
    name,
    two: name === 'field_mul',
    statements: program.statements.map(({ name, wgsl }) => ({ statement: `let ${name} = ${wgsl};` })),
    result: result.map(({ wgsl }) => wgsl).join(',\n    '),
  });
  return m.product === 'unsigned'
    ? [view('field_mul', unsignedProduct(m, false)), view('field_square', unsignedProduct(m, true))]
    : [view('field_mul', (m.product === 'dot4' ? dot4Product : fmaProduct)(m))];
};

const makeView = (m: Modulus): TemplateView => {
  const count = lazyLimbs(m, 32);
  const constant = (value: bigint): string => literals(digitsOf(value, 32, count));
  const member = (i: number): string => `a.v${i >> 2}.${'xyzw'[i & 3]}`;
  return {
    fieldBits: m.bits,
    modulusHex: `0x${m.p.toString(16)}`,
    vectors: range(m.words / 4).map((i) => ({
      i,
      words: list(4, (j) => (4 * i + j < count ? `a.w${4 * i + j}` : '0u')),
      differences: list(4, (j) => `d${4 * i + j}`),
    })),
    modulusWords: digitsOf(m.p, 32, m.words).map((word, i) => ({
      i,
      p: word,
      word: member(i),
      first: i === 0,
      last: i === m.words - 1,
      previous: i - 1,
    })),
    lastWord: m.words - 1,
    wordCount: count,
    words: range(count).map((i) => ({
      i,
      first: i === 0,
      last: i === count - 1,
      previous: i - 1,
      twice: digitsOf(2n * m.p, 32, count)[i] as number,
    })),
    lastWordOfAll: count - 1,
    modulus: constant(m.p),
    twiceModulus: constant(2n * m.p),
    unpackedWords: list(count, (i) => (i < m.words ? member(i) : '0u')),
    roomInWords: count <= m.words,
    products: productViews(m),
    squares: m.product === 'unsigned',
    dots: m.product === 'dot4',
    one: constant(m.r),
    ...inverseView(m),
  };
};

const views = new WeakMap<Modulus, TemplateView>();

/**
 * Returns the view of wgsl/field/field.wgsl and wgsl/field/inverse.wgsl. Makes it once for a field,
 * because it takes about 10 ms and several kernels need it.
 */
export const fieldView = (m: Modulus): TemplateView => {
  const view = views.get(m) ?? makeView(m);
  views.set(m, view);
  return view;
};

/**
 * Iterations of the loop in a batch, with BATCH / STEP_GROUPS unrolled divsteps each. 5 × 3 was
 * fastest on SwiftShader (docs/reference/performance.md).
 */
const STEP_GROUPS = 5;

/** Returns the expressions of words, separated by commas. */
const listed = (words: readonly Word[]): string => words.map(({ wgsl }) => wgsl).join(', ');

/** Returns p / 2^bits, to the precision of a double. */
const inUnits = ({ p }: Modulus, bits: number): number =>
  Number(p >> BigInt(Math.max(0, bits - 64))) / 2 ** Math.min(bits, 64);

/** Returns the view of wgsl/field/inverse.wgsl. */
const inverseView = (m: Modulus): TemplateView => {
  const k = divstepConstants(m);
  const applied = (part: BatchPart): TemplateView => {
    const { program, result } = applyBatch(m, part);
    const [first, second] = result.map((limbs) => limbs.join(', ')) as [string, string];
    return { statements: statements(program), first, second };
  };
  // the limb below the limb with the highest bit of p
  const below = Math.floor((m.bits - 1) / BATCH) - 1;
  return {
    batchBits: BATCH,
    batches: k.batches,
    stepGroups: STEP_GROUPS,
    steps: range(BATCH / STEP_GROUPS).map((i) => ({ i })),
    rowCarry: floorWgsl('row - left', 16),
    wideLimbs: range(k.limbs).map((i) => ({ i })),
    shortLimbs: range(k.shortLimbs).map((i) => ({ i })),
    shortModulus: literals(modulusLimbs(m)),
    wideStart: literals(k.start),
    wideZero: list(k.limbs, () => '0u'),
    applyShort: applied('short'),
    applyWide: applied('wide'),
    toShort: listed(toShort(m)),
    finish: statements(finish(m).program),
    fromWide: listed(wordsFromWide(m)),
    wideTop: range(k.limbs - below)
      .map((i) => `f32(bitcast<i32>(d.l${below + i}))${i === 0 ? '' : ` * ${2 ** (BATCH * i)}.0`}`)
      .join(' + '),
    perWideModulus: floatLiteral(1 / inUnits(m, below * BATCH)),
  };
};

/** Returns WGSL of a constant, in two's complement. */
const wordWgsl = (value: number): string => `${value >>> 0}u`;

/** Returns WGSL of constants, separated by commas. */
const literals = (values: readonly number[]): string => values.map(wordWgsl).join(', ');

/** Returns `count` names, separated by commas. */
export const list = (count: number, name: (i: number) => string): string => range(count).map(name).join(', ');

/** Returns a float literal that WGSL reads as the f32 nearest to `value`. */
const floatLiteral = (value: number): string => `${Math.fround(value).toExponential(9)}f`;

/** Returns the arguments of a WGSL `Words(…)`: `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string =>
  literals(digitsOf(toMontgomery(m, value), 32, lazyLimbs(m, 32)));

/** Returns WGSL of ⌊x / 2^bits⌋ of a signed x. */
const floorWgsl = (x: string, bits: number): string => `bitcast<u32>(bitcast<i32>(${x}) >> ${bits}u)`;

const termWgsl = ([x, y]: Term): string => {
  const factor = (operand: Operand): string => (typeof operand === 'number' ? wordWgsl(operand) : operand);
  return y === 1 ? factor(x) : `${factor(x)} * ${factor(y)}`;
};

const sumWgsl = (terms: readonly Term[]): string => {
  const added = terms.filter(([, y]) => y !== -1).map(termWgsl);
  const subtracted = terms.filter(([, y]) => y === -1).map(([x]) => ` - ${x}`);
  return `${added.join(' + ') || '0u'}${subtracted.join('')}`;
};

/**
 * Returns a program as WGSL statements. All values are u32 that hold signed numbers in two's
 * complement: the same code on i32 takes twice as long to compile on Dawn, which wraps every
 * operation in casts.
 */
const statements = ({ width, statements: all }: DivstepLine): { statement: string }[] => {
  const half = 2 ** (width - 1);
  const value = (statement: Statement | DigitStatement): string => {
    switch (statement.kind) {
      case 'sum':
        return sumWgsl(statement.terms);
      case 'mask':
        return `${statement.of} & ${2 * half - 1}u`;
      case 'floor':
        return floorWgsl(statement.of, width);
      case 'digit':
        return `((${termWgsl([statement.of, statement.times])} + ${half}u) & ${2 * half - 1}u) - ${half}u`;
    }
  };
  return all.map((statement) => ({ statement: `let ${statement.name} = ${value(statement)};` }));
};
