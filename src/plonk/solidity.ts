/** Calldata of verifier contracts. */
import { assertProtocol } from '../proofs/snarkjs-json.js';
import { publicWords, wordOf, wordsOf } from '../proofs/solidity.js';
import type { PlonkProof } from './api.js';

const points = ['A', 'B', 'C', 'Z', 'T1', 'T2', 'T3', 'Wxi', 'Wxiw'] as const;
const values = ['eval_a', 'eval_b', 'eval_c', 'eval_s1', 'eval_s2', 'eval_zw'] as const;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `plonk.exportSolidityCallData` of snarkjs, which has no
 * comma between them.
 *
 * @param proof a proof of `prove`
 * @param publicSignals its public values, in decimal
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
export const exportSolidityCallData = (proof: PlonkProof, publicSignals: readonly string[]): string => {
  assertProtocol(proof, 'plonk');
  const words = [
    ...points.flatMap((name) => wordsOf(`proof.${name}`, proof[name], [0, 1])),
    ...values.map((name) => wordOf(`proof.${name}`, proof[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}][${publicWords(publicSignals)}]`;
};
