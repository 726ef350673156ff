import type { TemplateView } from '../shaders/template.js';
import { bitsWgsl, carryWgsl, leftWgsl } from './carry.js';
import { frequentLiterals, heldView, withHeld } from './held.js';
import { inverseView } from './inverse-wgsl.js';
import { balancedDigits, digitsOf, LIMB_BITS, lazyLimbs, type Modulus } from './modulus.js';
import { montgomeryProduct } from './product.js';
import { dot4Product } from './product-dot4.js';
import { fmaProduct } from './product-fma.js';
import { unsignedProduct } from './product-unsigned.js';
import { body, floatLiteral, inUnits, list, literals } from './statements.js';
import { type Limbs, range, StraightLine, type Term } from './straight-line.js';
import type { WordProgram } from './word-line.js';

/** Returns the program that carries a loose element into tight limbs. */
const tightening = (m: Modulus): Limbs => {
  const program = new StraightLine(LIMB_BITS);
  // the bounds admit sums of several elements
  for (const i of range(m.limbs)) program.input(`a.l${i}`, { least: -(2 ** 20), most: 2 ** 20 });
  return {
    program,
    result: program.carryAll(
      'r',
      range(m.limbs).map((i): Term[] => [[`a.l${i}`, 1]]),
    ),
  };
};

/**
 * Returns the chain that carries sums into canonical digits. A sum minus its digit is a multiple of
 * 2^LIMB_BITS, so its carry is exact.
 */
const floorChain = (m: Modulus): TemplateView[] =>
  range(m.limbs).map((i) => ({
    i,
    first: i === 0,
    last: i === m.limbs - 1,
    previous: i - 1,
    p: digitsOf(m.p, LIMB_BITS, m.limbs)[i] as number,
    carry: carryWgsl(`s${i} - c${i}`, LIMB_BITS),
  }));

/** Returns WGSL of the words of canonical limbs. */
const packedWords = (m: Modulus): string[] =>
  range(m.words).map((word) => {
    const pieces: string[] = [];
    for (let i = 0; i < m.limbs; i++) {
      const at = i * LIMB_BITS - word * 32;
      if (at <= -LIMB_BITS || at >= 32 || i * LIMB_BITS >= m.words * 32) continue;
      pieces.push(at >= 0 ? leftWgsl(`a.l${i}`, at) : bitsWgsl(`a.l${i}`, -at, LIMB_BITS + at));
    }
    return pieces.join(' + ') || '0u';
  });

/** Returns WGSL of the limbs of packed words. */
const unpackedLimbs = (m: Modulus): string[] =>
  range(m.limbs).map((i) => {
    const pieces: string[] = [];
    for (let bit = i * LIMB_BITS; bit < (i + 1) * LIMB_BITS && bit < m.words * 32; ) {
      const [word, from] = [bit >> 5, bit & 31];
      const count = Math.min(32 - from, (i + 1) * LIMB_BITS - bit);
      const name = `a.v${word >> 2}.${'xyzw'[word & 3]}`;
      const above = bit - i * LIMB_BITS;
      pieces.push(above === 0 ? bitsWgsl(name, from, count) : leftWgsl(bitsWgsl(name, 0, count), above));
      bit += count;
    }
    return pieces.join(' + ') || '0u';
  });

/**
 * Returns the constants of a product that `held` has: the digits of the multiple of p, which occur
 * once in each row.
 */
export const heldLiterals = (m: Modulus, holds: boolean): ReadonlySet<string> =>
  holds ? frequentLiterals(body(montgomeryProduct(m, false, [])), m.limbs - 1) : new Set();

/**
 * Returns the view of a product as a function: of a and b, or of a alone, minus the elements named
 * in `minus`.
 */
export const functionView = (
  name: string,
  square: boolean,
  minus: readonly string[],
  limbs: Limbs,
  held: ReadonlySet<string>,
): TemplateView => ({
  name,
  parameters: [
    `a: ${square ? 'Tight' : 'Loose'}`,
    ...(square ? [] : ['b: Tight']),
    ...minus.map((c) => `${c}: Canonical`),
  ].join(', '),
  ...withHeld(body(limbs), held),
});

/** The view of wgsl/field/field-limbs.wgsl. */
const limbsView = (m: Modulus, holds: boolean): TemplateView => {
  const limb = range(m.limbs);
  const constant = (value: bigint): string => literals(balancedDigits(value, LIMB_BITS, m.limbs));
  // the limb below the limb with the highest bit of p, which gives estimates 15 bits of p at least
  const below = Math.floor((m.bits - 1) / LIMB_BITS) - 1;
  const frequent = heldLiterals(m, holds);
  const products = (
    [
      ['field_mul', false, []],
      ['field_mul_minus', false, ['c']],
      ['field_square', true, []],
      ['field_square_minus', true, ['c', 'd']],
    ] as const
  ).map(([name, square, minus]) => functionView(name, square, minus, montgomeryProduct(m, square, minus), frequent));
  return {
    limbCount: m.limbs,
    limbBits: LIMB_BITS,
    limbMask: 2 ** LIMB_BITS - 1,
    limbs: limb.map((i) => ({ i })),
    lastLimb: m.limbs - 1,
    held: holds && heldView(frequent),
    products,
    tighten: body(tightening(m)),
    topLimbs: range(m.limbs - below)
      .map((i) => (i === 0 ? `a.l${below}` : `a.l${below + i} * ${2 ** (LIMB_BITS * i)}u`))
      .join(' + '),
    perModulus: floatLiteral(1 / inUnits(m, below * LIMB_BITS)),
    margin: floatLiteral(2 ** -14),
    roomInWords: (m.p + (m.p >> 13n)) >> BigInt(32 * m.words) === 0n,
    chain: floorChain(m),
    unpacked: unpackedLimbs(m).join(',\n    '),
    one: constant(m.r),
  };
};

/** The view of wgsl/field/field-words.wgsl. */
const wordsView = (m: Modulus): TemplateView => {
  const count = lazyLimbs(m, 32);
  const constant = (value: bigint): string => literals(digitsOf(value, 32, count));
  const product = (name: string, { program, result }: WordProgram): TemplateView => ({
    name,
    two: name === 'field_mul',
    statements: program.statements.map(({ name, wgsl }) => ({ statement: `let ${name} = ${wgsl};` })),
    result: result.map(({ wgsl }) => wgsl).join(',\n    '),
  });
  return {
    wordCount: count,
    words: range(count).map((i) => ({
      i,
      first: i === 0,
      last: i === count - 1,
      previous: i - 1,
      twice: digitsOf(2n * m.p, 32, count)[i] as number,
    })),
    lastWordOfAll: count - 1,
    held: false,
    modulus: constant(m.p),
    twiceModulus: constant(2n * m.p),
    unpackedWords: list(count, (i) => (i < m.words ? `a.v${i >> 2}.${'xyzw'[i & 3]}` : '0u')),
    roomInWords: count <= m.words,
    products:
      m.product === 'unsigned'
        ? [product('field_mul', unsignedProduct(m, false)), product('field_square', unsignedProduct(m, true))]
        : [product('field_mul', (m.product === 'dot4' ? dot4Product : fmaProduct)(m))],
    squares: m.product === 'unsigned',
    dots: m.product === 'dot4',
    one: constant(m.r),
  };
};

const makeView = (m: Modulus, holds: boolean): TemplateView => {
  const inLimbs = m.product === 'signed';
  const words = range(m.words).map((w) => `a.v${w >> 2}.${'xyzw'[w & 3]}`);
  const packed = inLimbs ? packedWords(m) : range(m.words).map((i) => (i < lazyLimbs(m, 32) ? `a.w${i}` : '0u'));
  return {
    fieldBits: m.bits,
    modulusHex: `0x${m.p.toString(16)}`,
    inLimbs,
    inWords: !inLimbs,
    vectors: range(m.words / 4).map((i) => ({
      i,
      words: range(4)
        .map((j) => packed[4 * i + j])
        .join(', '),
      differences: list(4, (j) => `d${4 * i + j}`),
    })),
    modulusWords: digitsOf(m.p, 32, m.words).map((word, i) => ({
      i,
      p: word,
      word: words[i] as string,
      first: i === 0,
      last: i === m.words - 1,
      previous: i - 1,
    })),
    lastWord: m.words - 1,
    ...(inLimbs ? limbsView(m, holds) : wordsView(m)),
    ...inverseView(m),
  };
};

const views = new WeakMap<Modulus, Map<boolean, TemplateView>>();

/**
 * Returns the view of wgsl/field/field.wgsl and wgsl/field/inverse.wgsl. Makes it once for a field,
 * because it takes about 10 ms and several kernels need it.
 *
 * @param holds true if the kernel calls hold_constants, which views with `held` define (signed
 * products)
 */
export const fieldView = (m: Modulus, holds = false): TemplateView => {
  const known = views.get(m) ?? new Map<boolean, TemplateView>();
  views.set(m, known);
  const held = holds && m.product === 'signed';
  const view = known.get(held) ?? makeView(m, held);
  known.set(held, view);
  return view;
};
