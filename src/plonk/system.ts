/** The proof system: how a key of it proves and verifies. */
import { decodeCommitment } from '../proofs/plonkish/commitment.js';
import type { PlonkishSystem } from '../proofs/plonkish/proving-key.js';
import { projective, snarkjsNames } from '../proofs/snarkjs-json.js';
import type { PlonkProof, ProofPoint } from './api.js';
import type { LoadedKey } from './loaded-key.js';
import { Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

const pointOf = (commitment: Uint8Array): ProofPoint => projective(decodeCommitment(commitment), 0n, 1n, String);

const writeProof = (curve: LoadedKey['curve'], { commitments, evaluations }: RawProof): PlonkProof => {
  const [A, B, C, Z, T1, T2, T3, Wxi, Wxiw] = commitments.map(pointOf) as [
    ...[ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint, ProofPoint],
  ];
  const [eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw] = evaluations.map(String) as [
    ...[string, string, string, string, string, string],
  ];
  return {
    ...{ A, B, C, Z, T1, T2, T3, Wxi, Wxiw, eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw },
    ...{ protocol: 'plonk', curve: snarkjsNames[curve] },
  };
};

export const plonk: PlonkishSystem<LoadedKey, PlonkProof> = {
  lengths: ({ domainSize }) => [domainSize, domainSize, domainSize],
  prove: async (key, run, witness, draw) => writeProof(key.curve, await new Proof(key, run).compute(witness, draw)),
  verify,
};
