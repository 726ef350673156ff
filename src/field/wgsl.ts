import type { TemplateView } from '../gpu/template.js';
import { BATCH, BATCH_MASK, divstepConstants } from './divsteps.js';
import { digitsOf, LIMB_BITS, LIMB_MASK, type Modulus } from './modulus.js';

/**
 * WGSL expressions that cut a number, given as digits of `from` bits, into `count` digits of `to` bits.
 *
 * @param names one WGSL expression for each source digit, least significant first, nothing above its `from` bits
 */
const regroup = (names: readonly string[], from: number, to: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const start = i * to;
    const pieces: string[] = [];
    for (let source = Math.floor(start / from); source * from < start + to && source < names.length; source++) {
      const shift = source * from - start;
      const name = names[source] as string;
      pieces.push(shift > 0 ? `(${name} << ${shift}u)` : shift < 0 ? `(${name} >> ${-shift}u)` : name);
    }
    if (pieces.length === 0) return '0u';
    const joined = pieces.join(' | ');
    return to === 32 ? joined : `(${joined}) & ${(1 << to) - 1}u`;
  });

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const list = (count: number, name: (i: number) => string): string => range(count).map(name).join(', ');

/** Rows of an interleaved Montgomery product (see twins/field.ts), with `term(i, j)` as the product a_i·b_j or nothing. */
const rows = (m: Modulus, term: (i: number, j: number) => string | null): TemplateView[] => {
  const p = digitsOf(m.p, LIMB_BITS, m.limbs);
  const sum = (...terms: (string | null)[]): string => terms.filter((t) => t !== null).join(' + ') || '0u';
  return range(m.limbs).map((i) => {
    const previous = (j: number): string | null => (i > 0 && j < m.limbs - 1 ? `t${i - 1}_${j}` : null);
    return {
      i,
      low: sum(previous(0), term(i, 0)),
      columns: range(m.limbs - 1).map((k) => ({
        k,
        sum: sum(previous(k + 1), term(i, k + 1), `q${i} * ${p[k + 1]}u`, k === 0 ? `c${i}` : null),
      })),
    };
  });
};

/** The view that wgsl/field.wgsl and wgsl/inverse.wgsl are rendered with. */
export const fieldView = (m: Modulus): TemplateView => {
  const limb = range(m.limbs);
  const p = digitsOf(m.p, LIMB_BITS, m.limbs);
  const words = range(m.words).map((w) => `a.v${w >> 2}.${'xyzw'[w & 3]}`);
  const limbNames = limb.map((i) => `a.l${i}`);
  const k = divstepConstants(m);
  const wide = range(k.limbs);
  const constant = (value: bigint): string =>
    digitsOf(value, LIMB_BITS, m.limbs)
      .map((d) => `${d}u`)
      .join(', ');
  const packed = regroup(limbNames, LIMB_BITS, 32, m.words);
  const topLimb = Math.floor(k.topBit / BATCH);
  const topShift = k.topBit % BATCH;
  return {
    fieldBits: m.bits,
    modulusHex: `0x${m.p.toString(16)}`,
    limbCount: m.limbs,
    limbBits: LIMB_BITS,
    limbMask: LIMB_MASK,
    n0: m.n0,
    limbs: limb.map((i) => ({
      i,
      p: p[i] as number,
      first: i === 0,
      previous: i - 1,
    })),
    lastLimb: m.limbs - 1,
    p0: p[0] as number,
    columnSums: list(m.limbs - 1, (k) => `t${m.limbs - 1}_${k}`),
    mulRows: rows(m, (i, j) => `a.l${i} * b.l${j}`),
    // a_i·a_j + a_j·a_i is added once, as a_i·2a_j, in the row of the smaller index
    squareRows: rows(m, (i, j) => (j < i ? null : j === i ? `a.l${i} * a.l${i}` : `a.l${i} * d${j}`)),
    vectorCount: m.words / 4,
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
    unpacked: regroup(words, 32, LIMB_BITS, m.limbs).join(',\n    '),
    one: constant(m.r),
    rSquared: constant(m.r2),
    batchBits: BATCH,
    batchMask: BATCH_MASK,
    batches: k.batches,
    pInverse: k.pInverse,
    wideLimbs: wide.map((i) => ({ i, p: k.p[i] as number, first: i === 0, previous: i - 1 })),
    wideTop: k.limbs - 1,
    wideModulus: k.p.join(', '),
    wideStart: k.start.join(', '),
    wideZero: list(k.limbs, () => '0'),
    // the 16 top bits and the sign: two whole limbs and a part, or one and a part
    wideTopBits: range(k.limbs - topLimb)
      .map((i) => {
        const shift = i * BATCH - topShift;
        const name = `a.l${topLimb + i}`;
        return shift > 0 ? `(${name} << ${shift}u)` : shift < 0 ? `(${name} >> ${-shift}u)` : name;
      })
      .join(' | '),
    toWide: regroup(limbNames, LIMB_BITS, BATCH, k.limbs)
      .map((digit) => `i32(${digit})`)
      .join(',\n    '),
    fromWide: regroup(
      wide.map((i) => `u32(s${i})`),
      BATCH,
      LIMB_BITS,
      m.limbs,
    ).join(',\n    '),
  };
};
