/** Keys for circuits of circom, made by snarkjs of powers of tau. */
import { createHash } from 'node:crypto';
import { bytesMadeOnce } from './made-once.js';
import { KEY_SOURCES, memoryFile, type ProverCurve, powersOf, type SystemName, snarkjs } from './proving.js';

const { r1cs: reader } = snarkjs as unknown as {
  readonly r1cs: { info(file: object): Promise<Readonly<Record<'nConstraints' | 'nPubInputs' | 'nOutputs', number>>> };
};

/** Power of the domain for PLONK and FFLONK. */
const PLONKISH_POWER = 6;

/**
 * Makes a `.zkey` of a small circuit. That of Groth16 has no contribution to the second phase.
 */
export const makeZkey = async (
  system: SystemName,
  curve: ProverCurve,
  r1cs: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> => {
  const sha256 = createHash('sha256').update(r1cs).digest('hex');
  return bytesMadeOnce(
    'zkey',
    [...KEY_SOURCES, 'tests/support/circom-keys.ts'],
    { system, curve, sha256 },
    async () => {
      const isGroth16 = system === 'groth16';
      const { nConstraints, nPubInputs, nOutputs } = await reader.info(memoryFile(r1cs));
      // the powers of tau have the Lagrange basis of one domain
      const power = isGroth16 ? Math.floor(Math.log2(nConstraints + nPubInputs + nOutputs)) + 1 : PLONKISH_POWER;
      const powers = isGroth16 ? 2 * 2 ** power : 9 * 2 ** power + 18;
      const ptau = memoryFile(await powersOf(curve, power, powers, isGroth16));
      const zkey = memoryFile() as { data?: Uint8Array };
      if (isGroth16) await snarkjs.zKey.newZKey(memoryFile(r1cs), ptau, zkey);
      else await snarkjs[system].setup(memoryFile(r1cs), ptau, zkey);
      return zkey.data as Uint8Array;
    },
  );
};

/** Verifies a proof by snarkjs. */
export const verifyBySnarkjs = async (
  system: SystemName,
  zkey: Uint8Array,
  { proof, publicSignals }: { readonly proof: unknown; readonly publicSignals: readonly string[] },
): Promise<boolean> =>
  snarkjs[system].verify(await snarkjs.zKey.exportVerificationKey(memoryFile(zkey)), publicSignals, proof);
