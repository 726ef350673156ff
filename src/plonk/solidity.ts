/** Calldata of verifier contracts. */
import type { ProofInput, ProofNumber } from '../proofs/api.js';
import { readProofObject } from '../proofs/snarkjs-json.js';
import { numberWord, pointWords, publicWords } from '../proofs/solidity.js';
import type { PlonkProof } from './api.js';

const points = ['A', 'B', 'C', 'Z', 'T1', 'T2', 'T3', 'Wxi', 'Wxiw'] as const;
const values = ['eval_a', 'eval_b', 'eval_c', 'eval_s1', 'eval_s2', 'eval_zw'] as const;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `plonk.exportSolidityCallData` of snarkjs, which has no
 * comma between them.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/plonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('plonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('plonk.wtns'));
 * const [words] = exportSolidityCallData(proof, publicSignals).split('][');
 * console.log(words?.split(',').length); // 24
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (
  proof: ProofInput<PlonkProof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const members = readProofObject(proof, 'plonk');
  const words = [
    ...points.flatMap((name) => pointWords(`proof.${name}`, members[name])),
    ...values.map((name) => numberWord(`proof.${name}`, members[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}][${publicWords(publicSignals)}]`;
};
