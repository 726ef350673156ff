/** Calldata of verifier contracts. */
import { assertProtocol } from '../proofs/snarkjs-json.js';
import { publicWords, wordOf, wordsOf } from '../proofs/solidity.js';
import type { FflonkProof } from './api.js';
import { evaluationNames, polynomialNames } from './names.js';

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `fflonk.exportSolidityCallData` of snarkjs, which takes
 * the public values first and has no quotes.
 *
 * @param proof a proof of `prove`
 * @param publicSignals its public values, in decimal
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/fflonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('fflonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('fflonk.wtns'));
 * const [words] = exportSolidityCallData(proof, publicSignals).split('],[');
 * console.log(words?.split(',').length); // 24
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (proof: FflonkProof, publicSignals: readonly string[]): string => {
  assertProtocol(proof, 'fflonk');
  const { polynomials, evaluations } = proof as Partial<FflonkProof>;
  const words = [
    ...polynomialNames.flatMap((name) => wordsOf(`proof.polynomials.${name}`, polynomials?.[name], [0, 1])),
    ...[...evaluationNames, 'inv' as const].map((name) => wordOf(`proof.evaluations.${name}`, evaluations?.[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}],[${publicWords(publicSignals)}]`.replaceAll('"', '');
};
