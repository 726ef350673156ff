/** Calldata of verifier contracts, against snarkjs. */
import fc from 'fast-check';
import * as module from 'snarkjs';
import { afterAll, describe, expect, test } from 'vitest';
import * as fflonk from '../../src/fflonk.js';
import * as groth16 from '../../src/groth16.js';
import * as plonk from '../../src/plonk.js';
import { endCurves } from '../support/proving.js';

type Export = (proof: unknown, publicSignals: unknown) => string;
const [ours, theirs] = [{ groth16, plonk, fflonk }, module].map(
  (each) => each as unknown as Record<string, unknown>,
) as [
  ...[Record<System, { exportSolidityCallData: Export }>],
  Record<System, { exportSolidityCallData(...given: Parameters<Export>): Promise<string> }>,
];
type System = 'groth16' | 'plonk' | 'fflonk';

afterAll(endCurves);

/** Numbers that fit a word, in the forms that snarkjs takes. */
const number = fc
  .tuple(
    fc.oneof(fc.constantFrom(0n, 1n, 2n ** 256n - 1n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
    fc.constantFrom<(value: bigint) => unknown>(
      String,
      (value) => value,
      (value) => `0x${value.toString(16)}`,
      (value) => (value < 2n ** 53n ? Number(value) : String(value)),
    ),
  )
  .map(([value, form]) => form(value));
const ends = <Of>(one: readonly Of[]) => fc.constantFrom<readonly Of[]>([], ...one.map((each) => [each]));
/** Points with and without the 1 behind their coordinates. */
const point = fc.tuple(number, number, ends<unknown>(['1', 1, 1n, '0x1'])).map(([x, y, end]) => [x, y, ...end]);
const pair = fc.tuple(number, number);
const point2 = fc.tuple(pair, pair, ends([['1', '0']])).map(([x, y, end]) => [x, y, ...end]);
const curve = fc.constantFrom('bn128', 'bls12381');

const proofs = {
  groth16: fc.record({
    ...{ pi_a: point, pi_b: point2, pi_c: point },
    ...{ protocol: fc.constant('groth16'), curve },
  }),
  plonk: fc.record({
    ...{ A: point, B: point, C: point, Z: point, T1: point, T2: point, T3: point },
    ...{ Wxi: point, Wxiw: point, eval_a: number, eval_b: number, eval_c: number },
    ...{ eval_s1: number, eval_s2: number, eval_zw: number, protocol: fc.constant('plonk'), curve },
  }),
  fflonk: fc.record({
    polynomials: fc.record({ C1: point, C2: point, W1: point, W2: point }),
    evaluations: fc.record({
      ...{ ql: number, qr: number, qm: number, qo: number, qc: number, s1: number, s2: number, s3: number },
      ...{ a: number, b: number, c: number, z: number, zw: number, t1w: number, t2w: number, inv: number },
    }),
    ...{ protocol: fc.constant('fflonk'), curve: fc.constant('bn128') },
  }),
};

/** Arguments of snarkjs, which is not of one mind about their order. */
const argumentsOf = (system: System, proof: unknown, signals: unknown): Parameters<Export> =>
  system === 'fflonk' ? [signals, proof] : [proof, signals];

describe.each(['groth16', 'plonk', 'fflonk'] as const)('calldata of %s', (system) => {
  test('is that of snarkjs', async () => {
    await fc.assert(
      fc.asyncProperty(proofs[system], fc.array(number, { maxLength: 4 }), async (proof, signals) => {
        const own = ours[system].exportSolidityCallData(proof, signals);
        expect(own).toBe(await theirs[system].exportSolidityCallData(...argumentsOf(system, proof, signals)));
      }),
      { numRuns: 40, seed: 37 },
    );
  });

  test('has infinity as (0, 0), where EIP-196 and EIP-197 have it', async () => {
    const arbitrary: fc.Arbitrary<object> = proofs[system];
    const [proof] = fc.sample(arbitrary, { numRuns: 1, seed: 2 });
    const changed = (value: unknown, map: (point: unknown[]) => unknown): unknown => {
      if (Array.isArray(value)) return map(value);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, changed(part, map)]));
    };
    const [zeros, ofSnarkjs] = [
      changed(proof, ([x]) => (Array.isArray(x) ? Array(3).fill(['0', '0']) : ['0', '0', '1'])),
      changed(proof, ([x]) =>
        Array.isArray(x)
          ? [
              ['0', '0'],
              ['1', '0'],
              ['0', '0'],
            ]
          : ['0', '1', '0'],
      ),
    ];
    // text with zeros in all words of points
    const expected = await theirs[system].exportSolidityCallData(...argumentsOf(system, zeros, ['1']));
    expect(ours[system].exportSolidityCallData(ofSnarkjs, ['1'])).toBe(expected);
    expect(ours[system].exportSolidityCallData(zeros, ['1'])).toBe(expected);
  });

  test('is refused for other values, which are named', () => {
    const arbitrary: fc.Arbitrary<object> = proofs[system];
    const [proof] = fc.sample(arbitrary, { numRuns: 1, seed: 1 });
    const point = { groth16: 'pi_a', plonk: 'T2', fflonk: 'polynomials.C2' }[system];
    const withPoint = (value: unknown): unknown => {
      const { polynomials } = proof as { readonly polynomials?: object };
      return system === 'fflonk'
        ? { ...proof, polynomials: { ...polynomials, C2: value } }
        : { ...proof, [point]: value };
    };
    const refused = (given: unknown, signals: unknown, message: string): void => {
      expect(() => ours[system].exportSolidityCallData(given, signals)).toThrow(
        expect.objectContaining({ code: 'bad-argument', message: expect.stringContaining(message) }),
      );
    };
    for (const wrong of ['', '-1', '0x', '1.5', ' 1', -5, 1.5, -1n, null, true]) {
      refused(withPoint(['1', wrong, '1']), [], `proof.${point}[1] must be a non-negative integer`);
      refused(proof, ['1', wrong], 'publicSignals[1] must be a non-negative integer');
    }
    for (const long of [2n ** 256n, String(2n ** 381n), `0x1${'0'.repeat(64)}`]) {
      refused(withPoint(['1', long, '1']), [], `proof.${point}[1] must be below 2^256`);
      refused(proof, ['1', long], 'publicSignals[1] must be below 2^256');
    }
    refused(withPoint(['1', '2', '3']), [], `proof.${point}[2] must be 1, or 0 for infinity`);
    refused(withPoint(5), [], `proof.${point} must be an array`);
    refused(proof, '12', 'publicSignals must be an array');
    for (const other of [null, undefined, 5, { ...proof, protocol: 'another' }]) {
      refused(other, [], `proof must be a proof of ${system}`);
    }
    refused({}, [], 'proof.');
    if (system === 'groth16') refused({ ...proof, pi_b: [['1', '2'], ['3']] }, [], 'proof.pi_b[1][1] must be');
    if (system === 'plonk') refused({ ...proof, eval_zw: 'a' }, [], 'proof.eval_zw must be');
    if (system === 'groth16') {
      const long = ['0', String(2n ** 256n)];
      refused({ ...proof, pi_b: [['1', '2'], long] }, [], 'proof.pi_b[1][1] must be below 2^256');
    }
    if (system === 'fflonk') refused({ ...proof, evaluations: null }, [], 'proof.evaluations must be an object');
    if (system === 'fflonk') refused({ ...proof, evaluations: {} }, [], 'proof.evaluations.ql must be');
  });
});
