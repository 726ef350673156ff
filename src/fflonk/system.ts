/** The proof system: how a key of it proves and verifies. */
import { decodeCommitment } from '../proofs/plonkish/commitment.js';
import type { PlonkishSystem } from '../proofs/plonkish/proving-key.js';
import { projective } from '../proofs/snarkjs-json.js';
import type { FflonkProof, ProofEvaluations, ProofPolynomials } from './api.js';
import type { LoadedKey } from './loaded-key.js';
import { evaluationNames, polynomialNames } from './names.js';
import { Proof, type RawProof } from './prove.js';
import { verify } from './verify.js';

const writeProof = ({ commitments, evaluations, inverse }: RawProof): FflonkProof => {
  const points = commitments.map((each) => projective(decodeCommitment(each), 0n, 1n, String));
  const polynomials = polynomialNames.map((name, i) => [name, points[i]]);
  const values = evaluationNames.map((name, i) => [name, String(evaluations[i])]);
  return {
    polynomials: Object.fromEntries(polynomials) as unknown as ProofPolynomials,
    evaluations: Object.fromEntries([...values, ['inv', String(inverse)]]) as unknown as ProofEvaluations,
    ...{ protocol: 'fflonk', curve: 'bn128' },
  };
};

export const fflonk: PlonkishSystem<LoadedKey, FflonkProof> = {
  lengths: ({ domainSize }) => 9 * domainSize,
  prove: async (key, run, witness, draw) => writeProof(await new Proof(key, run).compute(witness, draw)),
  verify,
};
