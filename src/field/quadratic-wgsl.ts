import fieldTemplate from '../../wgsl/field/field.wgsl?template';
import inverseTemplate from '../../wgsl/field/inverse.wgsl?template';
import quadraticTemplate from '../../wgsl/field/quadratic.wgsl?template';
import quadraticInverseTemplate from '../../wgsl/field/quadratic-inverse.wgsl?template';
import { renderShader } from '../shaders/partials.js';
import type { Template, TemplateView } from '../shaders/template.js';
import { lazyLimbs, type Modulus } from './modulus.js';
import { list } from './statements.js';
import { range } from './straight-line.js';
import { fieldView } from './wgsl.js';

/** Templates that kernels include instead of those of F_p. */
export const quadraticPartials: Readonly<Record<string, Template>> = {
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
export const quadraticView = (m: Modulus, nonResidue: bigint): TemplateView => {
  const ofPrime = views.get(m) ?? new Map<bigint, TemplateView>();
  views.set(m, ofPrime);
  const view = ofPrime.get(nonResidue) ?? makeView(m, nonResidue);
  ofPrime.set(nonResidue, view);
  return view;
};
