/**
 * The roots of unity of the named fields, which decide where polynomials are evaluated: those of
 * arkworks and gnark-crypto, in tests/vectors with the programs that write them, and of
 * ffjavascript, which snarkjs computes with.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { registry } from '../../src/curves/more-curves.js';
import { openField } from '../../src/fields/program/open-field.js';
import { createFieldEngine } from '../../src/fields.js';
import { ffCurveOf } from '../support/proving.js';

interface Roots {
  readonly curve: string;
  readonly p: string;
  /** By the logarithm of their order. */
  readonly roots: Readonly<Record<string, string>>;
}

const read = (name: string): readonly Roots[] => {
  const path = fileURLToPath(new URL(`../vectors/${name}.json`, import.meta.url));
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly fields: readonly Roots[] }).fields;
};

const [arkworks, gnark] = [read('roots'), read('gnark')];

/** Fields whose roots are those of ffjavascript. */
const ofSnarkjs = ['bn254', 'bls12-381'] as const;

/** The software whose roots of unity each field has. arkworks and gnark-crypto have others in BLS12-381. */
const claims = [
  ...arkworks.map((field) => ({ ...field, software: 'arkworks' })),
  ...gnark.map((field) => ({ ...field, software: 'gnark-crypto' })),
].filter(({ curve }) => curve !== 'bls12-381');

afterAll(async () => {
  for (const curve of ofSnarkjs) await (await ffCurveOf(curve)).terminate();
});

/** Returns the root of order n that the transforms of a named field have: the value of X at it. */
const rootOfTransforms = async (curve: string, n: number): Promise<string> => {
  using fr = await createFieldEngine({ field: `${curve}-fr` as 'bn254-fr' });
  const x = await fr.load(Array.from({ length: n }, (_, i) => BigInt(i === 1)));
  const values = await fr.run((ops) => ops.keep(ops.ntt(x)));
  const bytes = (await fr.read(values)).subarray(fr.numberBytes, 2 * fr.numberBytes);
  return String(bytes.reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n));
};

/** Roots of the library by the logarithm of their order. */
const rootsOf = async (curve: string, orders: readonly string[]): Promise<Record<string, string>> => {
  const { twoAdicity, rootOfUnity } = await openField(`${curve}-fr` as 'bn254-fr');
  const roots: Record<string, string> = {};
  for (const k of orders) {
    roots[k] = Number(k) === twoAdicity ? String(rootOfUnity) : await rootOfTransforms(curve, 2 ** Number(k));
  }
  return roots;
};

test('every named field has vectors', () => {
  expect(arkworks.map(({ curve }) => curve).sort()).toEqual(Object.keys(registry).sort());
  expect(gnark.map(({ curve }) => curve)).toEqual(['bn254', 'bls12-381', 'bls12-377']);
});

test.each(claims)('$curve-fr has the roots of unity of $software', async ({ curve, p, roots }) => {
  expect(String((await openField(`${curve}-fr` as 'bn254-fr')).p)).toBe(p);
  expect(await rootsOf(curve, Object.keys(roots))).toEqual(roots);
});

test.each(ofSnarkjs)('%s-fr has the roots of unity of ffjavascript', async (curve) => {
  const { Fr } = await ffCurveOf(curve);
  const orders = ['1', '5', curve === 'bn254' ? '28' : '32'];
  const theirs = orders.map((k) => [k, String(Fr.toObject(Fr.w[Number(k)] as Uint8Array))]);
  expect(await rootsOf(curve, orders)).toEqual(Object.fromEntries(theirs));
});

test('arkworks and gnark-crypto have the roots of the generator 7 in bls12-381-fr', async () => {
  const [ofArkworks, ofGnark] = [arkworks, gnark].map((all) => all.find(({ curve }) => curve === 'bls12-381') as Roots);
  expect(ofGnark?.roots).toEqual(ofArkworks?.roots);
  const { rootOfUnity } = await openField({ p: BigInt(ofArkworks?.p as string), generator: 7n });
  expect(String(rootOfUnity)).toBe(ofArkworks?.roots['32']);
});
