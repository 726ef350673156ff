/** A product of bytes by WGSL's packed dot products, four multiplications in one: DP4A and its like, where a device has it. */
import { digitsOf, type Modulus } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import type { ProductVariant } from '../representation.js';
import { limbsFor, montgomeryFactor, unsignedLimbs } from './plain.js';

/** Of words, of four bytes each. An element is its words, little-endian: bytes are digits already. */
const wordsFor = (m: Modulus): number => limbsFor(m, 32);

/** Columns that the bytes of a word take part in: those of the other operand, and three more. */
const columnsFor = (words: number): number => 4 * words + 3;

/**
 * Rows of four bytes. Column k of one word times all of b is Σ a_i·b_(k − i), i = 0 … 3: one dot product with the *window* of b's bytes
 * k … k − 3, in this order, so that the whole row is one dot product a column. The windows of b, as many as there are columns, are made
 * once: every fourth is a word of b with its bytes turned around, and those between are cut out of two of these. Those of p are constants.
 *
 * Montgomery's q comes a word at a time too, from one 32-bit multiplication of the lowest four columns' sum modulo 2^32; q·p is a row
 * like that of a·b.
 *
 * A dot product is at most 4·255² < 2^18. A column has 2·words of them, and a carry, which is below 2^16 as it is the high half of a u32:
 * for 12 words, as 381 bits take, less than 2^22.6. A column and 2^8 times the next, with a carry, are below 2^31.
 */
const product = (m: Modulus): string => {
  const words = wordsFor(m);
  const columns = columnsFor(words);
  const pBytes = digitsOf(m.p, 8, 4 * words);
  const pWindow = (k: number): number =>
    [3, 2, 1, 0].reduce((window, i) => window * 256 + (k >= i ? (pBytes[k - i] ?? 0) : 0), 0);

  const turned = (word: number): string => (word >= 0 && word < words ? `turned${word}` : '0u');
  const windows = range(columns).map((k) => {
    const [word, shift] = [Math.floor(k / 4), 8 * (3 - (k % 4))];
    // shifted by a whole word, a u32 would stay what it is
    if (shift === 0) return `let w${k} = ${turned(word)};`;
    const parts = [
      ...(word < words ? [`(${turned(word)} >> ${shift}u)`] : []),
      ...(word > 0 ? [`(${turned(word - 1)} << ${32 - shift}u)`] : []),
    ];
    return `let w${k} = ${parts.join(' | ')};`;
  });

  /** Statements that bring four columns into two halves of a word, each a u32 with a carry above its 16 bits. */
  const halves = (name: string, column: (k: number) => string, carry: string): string[] => [
    `let ${name}_low = ${column(0)} + (${column(1)} << 8u)${carry};`,
    `let ${name}_high = ${column(2)} + (${column(3)} << 8u) + (${name}_low >> 16u);`,
  ];

  const rows = range(words).flatMap((i) => {
    const before = (k: number): string => (i > 0 && k + 4 < columns ? `t${i - 1}_${k + 4} + ` : '');
    const carry = (k: number): string => (i > 0 && k === 0 ? ` + (e${i - 1}_high >> 16u)` : '');
    const [x, t] = [(k: number) => `x${i}_${k}`, (k: number) => `t${i}_${k}`];
    return [
      ...range(columns).map((k) => `let ${x(k)} = ${before(k)}dot4U8Packed(a.l${i}, w${k})${carry(k)};`),
      `let u${i} = ${x(0)} + (${x(1)} << 8u) + (${x(2)} << 16u) + (${x(3)} << 24u);`,
      `let q${i} = u${i} * ${montgomeryFactor(m, 32)}u;`,
      ...range(columns).map((k) => `let ${t(k)} = ${x(k)} + dot4U8Packed(q${i}, ${pWindow(k)}u);`),
      // 0 now, but for the carry
      ...halves(`e${i}`, t, ''),
    ];
  });

  const left = (k: number): string => (k + 4 < columns ? `t${words - 1}_${k + 4}` : '0u');
  const results = range(words).flatMap((i) =>
    halves(`r${i}`, (k) => left(4 * i + k), ` + (${i > 0 ? `r${i - 1}` : `e${words - 1}`}_high >> 16u)`),
  );
  const limbs = range(words).map((i) => `(r${i}_low & 65535u) | (r${i}_high << 16u)`);
  const body = [
    ...range(words).map((i) => `let turned${i} = turned_around(b.l${i});`),
    ...windows,
    ...rows,
    ...results,
    `return Limbs(${limbs.join(',\n')});`,
  ];
  return `
fn turned_around(word: u32) -> u32 {
  let pairs = (word >> 16u) | (word << 16u);
  return ((pairs >> 8u) & 0x00ff00ffu) | ((pairs & 0x00ff00ffu) << 8u);
}

fn product(a: Limbs, b: Limbs) -> Limbs {
${body.join('\n')}
}`;
};

export const dot: ProductVariant = {
  name: '8-bit, dot4U8Packed',
  feature: 'packed_4x8_integer_dot_product',
  // A row is dot products that wait for nothing but the row before. And where they are emulated, code for two would be too much:
  // SwiftShader takes a second to compile one of 254 bits, and crashes on two of 381.
  alone: true,
  representation: (m) => unsignedLimbs(m, 32, product(m)),
  multiplications: (m) => 2 * wordsFor(m) * columnsFor(wordsFor(m)),
};
