/**
 * node prove.mjs ZKEY WTNS REPETITIONS THREADS WARM_UPS
 *
 * Times proofs of Groth16 by the library's build, on the CPU. Prints milliseconds, one line each, after
 * untimed proofs, in which V8 optimises. Each proof is verified.
 */
import { readFileSync } from 'node:fs';

/** @type {typeof import('webgpu-msm/groth16')} */
const { openProvingKey } = await import(`${new URL('../../dist/groth16.js', import.meta.url)}`);

const [zkey = '', wtns = '', repetitions, threads, warmUps] = process.argv.slice(2);
const witness = readFileSync(wtns);
const key = await openProvingKey(zkey, { backend: 'cpu', maxWorkers: Number(threads) - 1 });
try {
  for (let repetition = -Number(warmUps); repetition < Number(repetitions); repetition++) {
    const begun = performance.now();
    const { proof, publicSignals } = await key.prove(witness);
    const ms = performance.now() - begun;
    if (!(await key.verify(proof, publicSignals))) throw new Error('the proof does not verify');
    if (repetition >= 0) console.log(ms);
  }
} finally {
  key.destroy();
}
