/** Fields of p² elements, on the CPU and in shaders, for curves with coordinates in one. */

import fieldTemplate from '../../wgsl/field/field.wgsl?template';
import inverseTemplate from '../../wgsl/field/inverse.wgsl?template';
import quadraticTemplate from '../../wgsl/field/quadratic.wgsl?template';
import quadraticInverseTemplate from '../../wgsl/field/quadratic-inverse.wgsl?template';
import type { Coordinate, Fp2 } from '../api/values.js';
import { renderShader, type Template, type TemplateView } from '../shaders/template.js';
import type { Field } from './field.js';
import { invert, lazyLimbs, type Modulus, mod } from './modulus.js';
import { squareRoot } from './powers.js';
import { range } from './straight-line.js';
import { fieldLiteral, fieldView, list } from './wgsl.js';

/* Fields of p² elements, loaded for curves with coordinates in one. */

/** Casts an element of this field. Callers pass no others. */
const pair = (a: Coordinate): Fp2 => a as Fp2;

/**
 * Largest |nonResidue|: shaders multiply by it in a chain of doublings and additions, and tests
 * cover these factors.
 */
const MOST_NON_RESIDUE = 6n;

/**
 * Makes the field F_p[u] / (u² − nonResidue), whose elements are pairs c0 + c1·u.
 *
 * @throws RangeError if nonResidue is a square modulo p or too large
 */
export const quadraticField = (prime: Modulus, nonResidue: bigint): Field => {
  const { p } = prime;
  if (nonResidue < -MOST_NON_RESIDUE || nonResidue > MOST_NON_RESIDUE) {
    throw new RangeError(`nonResidue must be from −${MOST_NON_RESIDUE} to ${MOST_NON_RESIDUE}, got ${nonResidue}`);
  }
  if (squareRoot(nonResidue, p) !== null) throw new RangeError(`nonResidue ${nonResidue} is a square modulo p`);
  const reduced = ({ c0, c1 }: Fp2): Fp2 => ({ c0: mod(c0, p), c1: mod(c1, p) });
  /** Karatsuba: (a0 + a1)·(b0 + b1) minus the products of the coefficients is a0·b1 + a1·b0. */
  const product = (a: Fp2, b: Fp2): Fp2 => {
    const [low, high] = [a.c0 * b.c0, a.c1 * b.c1];
    return { c0: (low + nonResidue * high) % p, c1: ((a.c0 + a.c1) * (b.c0 + b.c1) - low - high) % p };
  };
  /** Returns the norm: the product with the conjugate, a number. */
  const norm = ({ c0, c1 }: Fp2): bigint => mod(c0 * c0 - nonResidue * c1 * c1, p);
  return {
    prime,
    degree: 2,
    nonResidue,
    size: p * p,
    words: 2 * prime.words,
    bytes: 2 * prime.bytes,
    zero: { c0: 0n, c1: 0n },
    one: { c0: 1n, c1: 0n },
    sum: (a, b) => ({ c0: pair(a).c0 + pair(b).c0, c1: pair(a).c1 + pair(b).c1 }),
    difference: (a, b) => ({ c0: pair(a).c0 - pair(b).c0, c1: pair(a).c1 - pair(b).c1 }),
    multiple: (a, factor) => ({ c0: pair(a).c0 * factor, c1: pair(a).c1 * factor }),
    product: (a, b) => product(pair(a), pair(b)),
    isZero: (a) => pair(a).c0 % p === 0n && pair(a).c1 % p === 0n,
    reduced: (a) => reduced(pair(a)),
    inverse: (a) => {
      const inverse = invert(norm(pair(a)), p);
      return reduced({ c0: pair(a).c0 * inverse, c1: -pair(a).c1 * inverse });
    },
    coefficients: (a) => [pair(a).c0, pair(a).c1],
    of: ([c0, c1]) => ({ c0: c0 as bigint, c1: c1 as bigint }),
    over: (other) => quadraticField(other, nonResidue),
    view: () => quadraticView(prime, nonResidue),
    partials: quadraticPartials,
    literal: (a) => [pair(a).c0, pair(a).c1].map((value) => `PrimeTight(${fieldLiteral(prime, value)})`).join(', '),
  };
};

/** Templates that kernels include instead of those of F_p. */
const quadraticPartials: Readonly<Record<string, Template>> = {
  field: quadraticTemplate,
  inverse: quadraticInverseTemplate,
};

/** Renames all declarations of shaders: types get the prefix Prime, functions the prefix prime_. */
const asPrime = (...sources: readonly string[]): string[] => {
  const declared = new Set(
    [...sources.join('\n').matchAll(/\b(?:fn|struct|alias)\s+(\w+)/g)].map(([, name]) => name as string),
  );
  return sources.map((source) =>
    source.replace(/(?<![\w.])[A-Za-z_]\w*/g, (name) =>
      !declared.has(name) ? name : `${/^[A-Z]/.test(name) ? 'Prime' : 'prime_'}${name}`,
    ),
  );
};

/** The functions that treat c0 and c1 alike. */
const coefficientwise = (): TemplateView[] =>
  (
    [
      ['field_loose', 'Tight', 'Loose', 1],
      ['canonical_loose', 'Canonical', 'Loose', 1],
      ['field_tighten', 'Loose', 'Tight', 1],
      ['field_canonical', 'Tight', 'Canonical', 1],
      ['canonical_minus', 'Canonical', 'Loose', 2],
      ['field_minus', 'Tight', 'Loose', 2],
      ['field_plus', 'Tight', 'Loose', 2],
      ['field_triple_plus', 'Tight', 'Tight', 2],
      ['field_minus_twice', 'Tight', 'Tight', 2],
      ['words_sum', 'Words', 'Words', 2],
    ] as const
  ).map(([name, of, gives, count]) => ({ name, of, gives, two: count === 2 }));

/** Returns the chain of doublings and additions for nonResidue·a, from the topmost bit down. */
const multiplesOf = (nonResidue: bigint): TemplateView => {
  const size = nonResidue < 0n ? -nonResidue : nonResidue;
  const chain: { value: string }[] = [];
  let name = 'a';
  const put = (value: string): void => {
    name = `m${chain.length}`;
    chain.push({ value });
  };
  for (const bit of size.toString(2).slice(1)) {
    put(`prime_field_plus(${name}, ${name})`);
    if (bit === '1') put(`prime_field_plus(${name}, a)`);
  }
  if (nonResidue < 0n) put(`prime_field_minus(prime_zero(), ${name})`);
  return { chain: chain.map(({ value }, i) => ({ i, value })), multiple: name };
};

const makeView = (m: Modulus, nonResidue: bigint): TemplateView => {
  const prime = fieldView(m);
  const vectors = m.words / 4;
  const [primeField, primeInverse] = asPrime(
    renderShader(fieldTemplate, prime),
    renderShader(inverseTemplate, prime),
  ) as [string, string];
  return {
    nonResidue: `${nonResidue}`,
    primeField,
    primeInverse,
    batches: prime.batches as number,
    vectors: range(2 * vectors).map((i) => ({ i })),
    firstVectors: range(vectors).map((i) => ({ i })),
    secondVectors: range(vectors).map((i) => ({ i: vectors + i })),
    zero: list(lazyLimbs(m, 32), () => '0u'),
    coefficientwise: coefficientwise(),
    lastWordOfAll: lazyLimbs(m, 32) - 1,
    ...multiplesOf(nonResidue),
  };
};

const views = new WeakMap<Modulus, Map<bigint, TemplateView>>();

/**
 * The view that wgsl/field/quadratic.wgsl and wgsl/field/quadratic-inverse.wgsl are rendered with,
 * and that kernels see. Made once, as that of a prime is.
 */
const quadraticView = (m: Modulus, nonResidue: bigint): TemplateView => {
  const ofPrime = views.get(m) ?? new Map<bigint, TemplateView>();
  views.set(m, ofPrime);
  const view = ofPrime.get(nonResidue) ?? makeView(m, nonResidue);
  ofPrime.set(nonResidue, view);
  return view;
};
