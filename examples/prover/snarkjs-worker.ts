/** Times a witness, a proof and its verification by snarkjs, which is loaded by this worker alone. */
import { fflonk, groth16, plonk, wtns, zKey } from 'snarkjs';
import type { ProofTimings } from 'webgpu-msm/circom';

const provers = { groth16, plonk, fflonk } as const;

interface Task {
  readonly wasm: Blob;
  readonly zkey: Blob;
  readonly input: object;
  readonly protocol: keyof typeof provers;
}

const time = async ({ wasm, zkey, input, protocol }: Task): Promise<ProofTimings> => {
  const [program, key] = [await fileOf(wasm), await fileOf(zkey)];
  const verificationKey = await zKey.exportVerificationKey(key);
  const witness = { type: 'mem' } as const;
  const begun = performance.now();
  await wtns.calculate(input, program, witness);
  const hasWitness = performance.now();
  const { proof, publicSignals } = await provers[protocol].prove(key, witness);
  const hasProof = performance.now();
  const isRight = await provers[protocol].verify(verificationKey, publicSignals, proof);
  const ended = performance.now();
  if (!isRight) throw new Error('its proof does not verify');
  return {
    witnessMs: hasWitness - begun,
    proofMs: hasProof - hasWitness,
    verificationMs: ended - hasProof,
    totalMs: ended - begun,
  };
};

const fileOf = async (blob: Blob): Promise<{ type: 'mem'; data: Uint8Array }> => ({
  type: 'mem',
  data: new Uint8Array(await blob.arrayBuffer()),
});

addEventListener('message', ({ data }: MessageEvent<Task>) => {
  time(data).then(postMessage, (error: unknown) => postMessage(String(error)));
});
