import type { TemplateView } from '../shaders/template.js';
import { inverseView } from './inverse-wgsl.js';
import { digitsOf, lazyLimbs, type Modulus } from './modulus.js';
import { dot4Product } from './product-dot4.js';
import { fmaProduct } from './product-fma.js';
import { unsignedProduct } from './product-unsigned.js';
import { list, literals } from './statements.js';
import { range } from './straight-line.js';
import type { WordProgram } from './word-line.js';

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
