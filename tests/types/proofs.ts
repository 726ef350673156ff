/**
 * Compiled by `npm run typecheck`, and never run: forms of proofs that `verify` takes are those of
 * snarkjs, and a proof of another system is no program.
 */
import type { ProvingKey as FflonkKey, FflonkProof } from '../../src/fflonk.js';
import { exportSolidityCallData, type ProvingKey as Groth16Key, type Groth16Proof } from '../../src/groth16.js';
import type { ProvingKey as PlonkKey, PlonkProof } from '../../src/plonk.js';

declare const groth16: Groth16Key;
declare const plonk: PlonkKey;
declare const fflonk: FflonkKey;
declare const ofGroth16: Groth16Proof;
declare const ofPlonk: PlonkProof;
declare const ofFflonk: FflonkProof;
/** A proof as a module of JSON has it. */
declare const json: {
  pi_a: string[];
  pi_b: string[][];
  pi_c: string[];
  protocol: string;
  curve: string;
};

export const formsOfProofs = async (): Promise<void> => {
  await groth16.verify(ofGroth16, ['1', 2, 3n, '0x4']);
  await groth16.verify(json, []);
  await groth16.verify({ pi_a: [1n, '2'], pi_b: [[1, 2] as const, ['3', '4']], pi_c: ['0x1', 2, 1] }, []);
  await plonk.verify(ofPlonk, []);
  await plonk.verify({ ...ofPlonk, A: [1n, 2n], eval_a: 5n, protocol: undefined }, []);
  await fflonk.verify(ofFflonk, []);
  await fflonk.verify({ polynomials: ofFflonk.polynomials, evaluations: { ...ofFflonk.evaluations, ql: 0 } }, []);
  exportSolidityCallData(json, [1n]);
  // @ts-expect-error a proof of another system
  await plonk.verify(ofGroth16, []);
  // @ts-expect-error a point is no number
  await groth16.verify({ ...ofGroth16, pi_a: 5 }, []);
  // @ts-expect-error no public value
  await groth16.verify(ofGroth16, [true]);
};
