/** Calldata of verifier contracts, against snarkjs. */
import fc from 'fast-check';
import * as module from 'snarkjs';
import { afterAll, describe, expect, test } from 'vitest';
import * as fflonk from '../../src/fflonk.js';
import * as groth16 from '../../src/groth16.js';
import * as plonk from '../../src/plonk.js';
import { ffCurveOf } from '../support/proving.js';

type Export = (proof: unknown, publicSignals: unknown) => string;
const [ours, theirs] = [{ groth16, plonk, fflonk }, module].map(
  (each) => each as unknown as Record<string, unknown>,
) as [
  ...[Record<System, { exportSolidityCallData: Export }>],
  Record<System, { exportSolidityCallData(...given: Parameters<Export>): Promise<string> }>,
];
type System = 'groth16' | 'plonk' | 'fflonk';

afterAll(async () => {
  for (const curve of ['bn254', 'bls12-381'] as const) await (await ffCurveOf(curve)).terminate();
});

/** Numbers of up to 381 bits: those of BLS12-381 are longer than a word. */
const number = fc
  .oneof(fc.constantFrom(0n, 1n, 2n ** 256n - 1n, 2n ** 256n), fc.bigInt({ min: 0n, max: 2n ** 381n - 1n }))
  .map(String);
const list = (length: number) => fc.array(number, { minLength: length, maxLength: length });
const curve = fc.constantFrom('bn128', 'bls12381');

const proofs = {
  groth16: fc.record({
    ...{ pi_a: list(3), pi_b: fc.array(list(2), { minLength: 3, maxLength: 3 }), pi_c: list(3) },
    ...{ protocol: fc.constant('groth16'), curve },
  }),
  plonk: fc.record({
    ...{ A: list(3), B: list(3), C: list(3), Z: list(3), T1: list(3), T2: list(3), T3: list(3) },
    ...{ Wxi: list(3), Wxiw: list(3), eval_a: number, eval_b: number, eval_c: number },
    ...{ eval_s1: number, eval_s2: number, eval_zw: number, protocol: fc.constant('plonk'), curve },
  }),
  fflonk: fc.record({
    polynomials: fc.record({ C1: list(3), C2: list(3), W1: list(3), W2: list(3) }),
    evaluations: fc.record({
      ...{ ql: number, qr: number, qm: number, qo: number, qc: number, s1: number, s2: number, s3: number },
      ...{ a: number, b: number, c: number, z: number, zw: number, t1w: number, t2w: number, inv: number },
    }),
    ...{ protocol: fc.constant('fflonk'), curve: fc.constant('bn128') },
  }),
};

describe.each(['groth16', 'plonk', 'fflonk'] as const)('calldata of %s', (system) => {
  test('is that of snarkjs', async () => {
    await fc.assert(
      fc.asyncProperty(proofs[system], fc.array(number, { maxLength: 4 }), async (proof, signals) => {
        const own = ours[system].exportSolidityCallData(proof, signals);
        const given: Parameters<Export> = system === 'fflonk' ? [signals, proof] : [proof, signals];
        expect(own).toBe(await theirs[system].exportSolidityCallData(...given));
      }),
      { numRuns: 40, seed: 37 },
    );
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
    for (const wrong of ['', '-1', '0x10', '1.5', ' 1', 5, null]) {
      refused(withPoint(['1', wrong, '1']), [], `proof.${point}[1] must be a decimal number`);
      refused(proof, ['1', wrong], 'publicSignals[1] must be a decimal number');
    }
    refused(withPoint(5), [], `proof.${point} must be an array`);
    refused(proof, '12', 'publicSignals must be an array');
    for (const other of [null, undefined, 5, {}, { ...proof, protocol: 'another' }]) {
      refused(other, [], `proof must be a proof of ${system}`);
    }
    if (system === 'groth16') refused({ ...proof, pi_b: [['1', '2'], ['3']] }, [], 'proof.pi_b[1][1] must be');
    if (system === 'plonk') refused({ ...proof, eval_zw: 'a' }, [], 'proof.eval_zw must be');
    if (system === 'fflonk') refused({ ...proof, evaluations: {} }, [], 'proof.evaluations.ql must be');
  });
});
