/** Textbook evaluation of the gates of a PLONKish circuit. */
import { bn254 } from '@noble/curves/bn254.js';
import type { PlonkZkey } from '../../src/formats/zkey.js';
import { openPolynomials, type PlonkishCircuit, type PolynomialPlaces } from '../../src/proofs/plonkish/circuit.js';
import { numbersIn } from '../../src/proofs/witness.js';

const selectors = ['qm', 'ql', 'qr', 'qo', 'qc'] as const;
type Coefficients = Readonly<Record<(typeof selectors)[number], Uint8Array>>;

/** Returns the coefficients of the selectors in a key. */
export const selectorsIn = async (zkey: PlonkZkey, places: PolynomialPlaces): Promise<Coefficients> => {
  const read = await openPolynomials(zkey, places, false);
  return Object.fromEntries(
    await Promise.all(selectors.map(async (name) => [name, await read(name)] as const)),
  ) as Coefficients;
};

/**
 * Returns the first constraint that a witness does not satisfy, or −1: values of all polynomials at
 * ω^i.
 *
 * @param n size of the domain
 */
export const firstUnsatisfied = (
  { wires, additions }: Pick<PlonkishCircuit, 'wires' | 'additions'>,
  coefficients: Coefficients,
  n: number,
  witness: Uint8Array,
  publicSignals: number,
): number => {
  const fr = bn254.fields.Fr;
  const p = fr.ORDER;
  const fromMontgomery = fr.inv(2n ** 256n % p);
  const root = fr.pow(5n, (p - 1n) / BigInt(n));
  const values = numbersIn(witness);
  values[0] = 0n;
  additions.factors.forEach((_, i) => {
    if (i % 2 === 1) return;
    const term = (j: number): bigint =>
      (additions.factors[j] as bigint) * (values[additions.variables[j] as number] as bigint);
    values.push((term(i) + term(i + 1)) % p);
  });
  const at = (name: keyof typeof coefficients, x: bigint): bigint =>
    numbersIn(coefficients[name]).reduceRight((sum, each) => (sum * x + each * fromMontgomery) % p, 0n);
  for (let i = 0; i < n; i++) {
    const x = fr.pow(root, BigInt(i));
    const [a, b, c] = wires.map((each) => (i < each.length ? (values[each[i] as number] as bigint) : 0n)) as [
      bigint,
      bigint,
      bigint,
    ];
    const gate = at('qm', x) * a * b + at('ql', x) * a + at('qr', x) * b + at('qo', x) * c + at('qc', x);
    if ((gate - (i < publicSignals ? a : 0n)) % p !== 0n) return i;
  }
  return -1;
};
