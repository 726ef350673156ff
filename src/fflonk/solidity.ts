/** Calldata of verifier contracts. */
import type { ProofInput, ProofNumber } from '../proofs/api.js';
import { readMember, readProofObject } from '../proofs/snarkjs-json.js';
import { numberWord, pointWords, publicWords } from '../proofs/solidity.js';
import type { FflonkProof } from './api.js';
import { evaluationNames, polynomialNames } from './names.js';

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `fflonk.exportSolidityCallData` of snarkjs, which takes
 * the public values first and has no quotes.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
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
export const exportSolidityCallData = (
  proof: ProofInput<FflonkProof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const members = readProofObject(proof, 'fflonk');
  const [polynomials, evaluations] = [readMember(members, 'polynomials'), readMember(members, 'evaluations')];
  const words = [
    ...polynomialNames.flatMap((name) => pointWords(`proof.polynomials.${name}`, polynomials[name])),
    ...[...evaluationNames, 'inv' as const].map((name) => numberWord(`proof.evaluations.${name}`, evaluations[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}],[${publicWords(publicSignals)}]`.replaceAll('"', '');
};
