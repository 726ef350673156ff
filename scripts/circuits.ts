/**
 * npm run bench -- circuits --circuit path --reps 5
 *
 * Times witnesses and proofs from inputs in turns with snarkjs: by the clock, and in CPU time of all
 * threads. Both have the files in memory, and the library its circuit open. Witnesses must have the same
 * bytes, and proofs verify.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatMs, tableLines } from '../dev/bench/format.js';
import { knownPowers } from '../dev/bench/known-powers.js';
import { interleave } from '../dev/bench/measure.js';
import { median } from '../src/calibrate/statistics.js';
import { compileCircuit } from '../tests/support/circom.js';
import { ensureBuilt, project } from './builds.mjs';
import { command, flag, integer, oneOf, outputFile, progress, valued } from './command-line.js';

/** A file of snarkjs in memory. */
interface MemoryFile {
  readonly type: 'mem';
  data?: Uint8Array;
}

/** The used part of snarkjs. */
interface Snarkjs {
  readonly curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
  readonly groth16: {
    fullProve(input: object, wasm: Uint8Array, zkey: Uint8Array): Promise<{ publicSignals: string[] }>;
  };
  readonly r1cs: { info(file: MemoryFile): Promise<Readonly<Record<'nConstraints' | 'nOutputs', number>>> };
  readonly wtns: { calculate(input: object, wasm: Uint8Array, wtns: MemoryFile): Promise<void> };
}

/** A circuit of circomlib, and inputs. */
interface Case {
  readonly source: string;
  readonly input: object;
}

const bits = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * i) % 2);

const cases: Readonly<Record<'path' | 'sha256' | 'chain', Case>> = {
  path: {
    source: `pragma circom 2.0.0;
      include "circomlib/circuits/poseidon.circom";
      include "circomlib/circuits/switcher.circom";
      template Path(depth) {
        signal input leaf; signal input siblings[depth]; signal input sides[depth]; signal output root;
        signal nodes[depth + 1]; nodes[0] <== leaf;
        component switchers[depth]; component hashes[depth];
        for (var i = 0; i < depth; i++) {
          sides[i] * (1 - sides[i]) === 0;
          switchers[i] = Switcher(); hashes[i] = Poseidon(2);
          switchers[i].sel <== sides[i]; switchers[i].L <== nodes[i]; switchers[i].R <== siblings[i];
          hashes[i].inputs[0] <== switchers[i].outL; hashes[i].inputs[1] <== switchers[i].outR;
          nodes[i + 1] <== hashes[i].out;
        }
        root <== nodes[depth];
      }
      component main = Path(43);`,
    input: { leaf: 5, siblings: Array.from({ length: 43 }, (_, i) => 7 ** (i % 9)), sides: bits(43) },
  },
  sha256: {
    source: `pragma circom 2.0.0;
      include "circomlib/circuits/sha256/sha256.circom";
      component main = Sha256(512);`,
    input: { in: bits(512) },
  },
  chain: {
    source: `pragma circom 2.0.0;
      include "circomlib/circuits/poseidon.circom";
      template Chain(length) {
        signal input seed; signal output last;
        component hashes[length];
        for (var i = 0; i < length; i++) {
          hashes[i] = Poseidon(2);
          hashes[i].inputs[0] <== i == 0 ? seed : hashes[i - 1].out; hashes[i].inputs[1] <== i;
        }
        last <== hashes[length - 1].out;
      }
      component main = Chain(548);`,
    input: { seed: 3 },
  },
};

type Library = 'webgpu-msm' | 'snarkjs';

export const circuitsCommand = command({
  about: 'times witnesses and proofs from inputs in turns with snarkjs',
  usage: 'usage: npm run bench -- circuits [options]',
  options: {
    circuit: valued(
      'path',
      'path: 43 Poseidon hashes up a tree; sha256: of 512 bits; chain: 548 Poseidon hashes',
      oneOf('path', 'sha256', 'chain'),
      'path',
    ),
    reps: valued('5', 'repetitions', integer(1, 99), 5),
    witnesses: flag('time witnesses alone, without a key'),
    json: valued('FILE', 'also write every time to a file', outputFile),
  },
  async run({ circuit: name, reps, witnesses, json }) {
    ensureBuilt('library');
    const built = (entry: string): string => pathToFileURL(join(project, `dist/${entry}.js`)).href;
    const { openCircuit } = (await import(/* @vite-ignore */ built('circom'))) as typeof import('../src/circom.js');
    const { newKey } = (await import(/* @vite-ignore */ built('setup'))) as typeof import('../src/setup.js');
    // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
    const module = 'snarkjs';
    const { curves, groth16, r1cs: info, wtns } = (await import(/* @vite-ignore */ module)) as Snarkjs;
    const { source, input } = cases[name];
    progress('compiling the circuit');
    const { wasm, r1cs } = await compileCircuit(source);
    const { nConstraints: constraints, nOutputs } = await info.info({ type: 'mem', data: r1cs });
    progress('making the key');
    // a row for each public signal and for the constant 1
    const power = Math.ceil(Math.log2(constraints + nOutputs + 1));
    const quiet = { onWarning: () => undefined };
    const zkey = witnesses
      ? null
      : await newKey({ system: 'groth16', r1cs, ptau: await knownPowers('bn254', power) }, quiet);
    const circuit = await openCircuit({ wasm, ...(zkey && { zkey }) }, quiet);

    const times: { readonly library: Library; readonly step: string; readonly ms: number; readonly cpuMs: number }[] =
      [];
    const timed = async <Result>(library: Library, step: string, work: () => Promise<Result>): Promise<Result> => {
      const [begun, cpu] = [performance.now(), process.cpuUsage()];
      const result = await work();
      const { user, system } = process.cpuUsage(cpu);
      times.push({ library, step, ms: performance.now() - begun, cpuMs: (user + system) / 1000 });
      return result;
    };
    const theirWitness = async (): Promise<Uint8Array> => {
      const file: MemoryFile = { type: 'mem' };
      await wtns.calculate(input, wasm, file);
      return file.data as Uint8Array;
    };
    const steps = {
      'webgpu-msm': { witness: () => circuit.witness(input as never), proof: () => circuit.prove(input as never) },
      snarkjs: { witness: theirWitness, proof: () => groth16.fullProve(input, wasm, zkey as Uint8Array) },
    } as const;
    const both = ['webgpu-msm', 'snarkjs'] as const;
    try {
      progress('checking');
      const [ours, theirs] = [await circuit.witness(input as never), await theirWitness()];
      if (!Buffer.from(ours).equals(theirs)) throw new Error('the witnesses have different bytes');
      if (zkey !== null) {
        const { proof, publicSignals } = await circuit.prove(input as never, { verifyProof: true });
        const other = await groth16.fullProve(input, wasm, zkey);
        if (String(other.publicSignals) !== String(publicSignals) || proof.protocol !== 'groth16')
          throw new Error('the proofs have different public values');
      }
      progress('timing');
      await interleave(both, reps, {
        async take(library) {
          await timed(library, 'witness', steps[library].witness);
        },
      });
      if (zkey !== null)
        await interleave(both, reps, {
          async take(library) {
            await timed(library, 'input to proof', steps[library].proof);
          },
        });
    } finally {
      circuit.destroy();
      // its workers would keep the process alive
      await (await curves.getCurveFromName('bn128')).terminate();
    }
    progress('');
    const of = (library: Library, step: string, what: 'ms' | 'cpuMs'): number =>
      median(
        times.filter((each) => each.library === library && each.step === step).map((each) => each[what]),
      ) as number;
    const lines = ['witness', ...(zkey === null ? [] : ['input to proof'])].map((step) => [
      step,
      ...(['ms', 'cpuMs'] as const).flatMap((what) => {
        const [ours, theirs] = [of('webgpu-msm', step, what), of('snarkjs', step, what)];
        return [formatMs(ours), formatMs(theirs), (ours / theirs).toFixed(3)];
      }),
    ]);
    const { values } = circuit;
    console.log(`${name}: ${values} values, ${constraints} constraints, ${reps} repetitions, Node ${process.version}`);
    console.log(
      tableLines([['', 'webgpu-msm', 'snarkjs', 'ratio', 'CPU time', 'of snarkjs', 'ratio'], ...lines]).join('\n'),
    );
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify({ name, values, constraints, reps, times }, null, 2)}\n`);
  },
});
