/** Calldata of verifier contracts. */
import { assertProtocol } from '../proofs/snarkjs-json.js';
import { publicWords, wordsOf } from '../proofs/solidity.js';
import type { Groth16Proof } from './api.js';

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: words in
 * hexadecimal, the same text as `groth16.exportSolidityCallData` of snarkjs. Pairs of Fp2 are in
 * the order of the precompiled contract, the second one first.
 *
 * @param proof a proof of `prove`
 * @param publicSignals its public values, in decimal
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/groth16';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('circuit.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('witness.wtns'));
 * const calldata = exportSolidityCallData(proof, publicSignals);
 * console.log(JSON.parse(`[${calldata}]`).length); // 4
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (proof: Groth16Proof, publicSignals: readonly string[]): string => {
  assertProtocol(proof, 'groth16');
  const point = (name: 'pi_a' | 'pi_c'): string => `[${wordsOf(`proof.${name}`, proof[name], [0, 1]).join(', ')}]`;
  const pair = (index: number): string =>
    `[${wordsOf(`proof.pi_b[${index}]`, proof.pi_b?.[index], [1, 0]).join(', ')}]`;
  return `${point('pi_a')},[${pair(0)},${pair(1)}],${point('pi_c')},[${publicWords(publicSignals)}]`;
};
