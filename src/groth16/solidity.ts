/** Calldata of verifier contracts. */
import type { ProofInput, ProofNumber } from '../proofs/api.js';
import { readProofObject } from '../proofs/snarkjs-json.js';
import { pairWords, pointWords, publicWords } from '../proofs/solidity.js';
import type { Groth16Proof } from './api.js';

const list = (words: readonly string[]): string => `[${words.join(', ')}]`;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: words in
 * hexadecimal, the same text as `groth16.exportSolidityCallData` of snarkjs. Pairs of Fp2 are in
 * the order of the precompiled contract, the second one first.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
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
export const exportSolidityCallData = (
  proof: ProofInput<Groth16Proof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const { pi_a, pi_b, pi_c } = readProofObject(proof, 'groth16');
  const [a, c] = [pointWords('proof.pi_a', pi_a), pointWords('proof.pi_c', pi_c)].map(list);
  const b = pairWords('proof.pi_b', pi_b).map(list);
  return `${a},[${b.join()}],${c},[${publicWords(publicSignals)}]`;
};
