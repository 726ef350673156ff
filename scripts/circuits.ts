/**
 * npm run bench -- circuits --circuit path --reps 5
 *
 * Times witnesses and proofs from inputs in turns with snarkjs: by the clock, and in CPU time of all
 * threads. Both have the files in memory, and the library its circuit open. Witnesses must have the same
 * bytes, and proofs verify. The program alone is its code by circom, without the transfer of its values:
 * no library takes less. `--pages` times pages from their opening to the first proof instead.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatMs, tableLines, withoutEmpty } from '../dev/bench/format.js';
import { knownPowers } from '../dev/bench/known-powers.js';
import { interleave } from '../dev/bench/measure.js';
import { median } from '../src/calibrate/statistics.js';
import { openCircom2 } from '../src/circom/circom2.js';
import { readSignals } from '../src/circom/input-signals.js';
import { compileProgram } from '../src/circom/program.js';
import { compileCircuit } from '../tests/support/circom.js';
import { ensureBuilt, project } from './builds.mjs';
import { timePages } from './circuit-page.js';
import { command, flag, integer, oneOf, outputFile, progress, UsageError, valued } from './command-line.js';

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
    verify(key: object, publicSignals: readonly string[], proof: object): Promise<boolean>;
  };
  readonly r1cs: { info(file: MemoryFile): Promise<Readonly<Record<'nConstraints' | 'nOutputs', number>>> };
  readonly zKey: { exportVerificationKey(zkey: Uint8Array): Promise<object> };
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

/** Subjects of the timing: two libraries, and the code that circom wrote. */
type Subject = 'webgpu-msm' | 'snarkjs' | 'program';

/** One run. */
interface TimedRun {
  readonly subject: Subject;
  readonly step: 'witness' | 'input to proof' | 'page to proof';
  readonly ms: number;
  /** CPU time of all threads of this process; null for pages. */
  readonly cpuMs: number | null;
}

/** Returns what runs a program alone, from its inputs to the values that it keeps. */
const openProgram = async (wasm: Uint8Array, input: object): Promise<() => Promise<void>> => {
  const { module } = await compileProgram(wasm);
  const program = await openCircom2(module, [], { onLog: () => undefined });
  const signals = readSignals(input, program.prime);
  return async () => program.run(signals);
};

/** Lines of a table: medians of the library, of snarkjs, and their ratio, of the clock and of CPU time. */
const linesOf = (times: readonly TimedRun[]): string[][] => {
  const middle = (subject: Subject, step: TimedRun['step'], what: 'ms' | 'cpuMs'): number | null => {
    const found = times.filter((each) => each.subject === subject && each.step === step).map((each) => each[what]);
    return found.includes(null) ? null : (median(found as number[]) ?? null);
  };
  const line = (name: string, step: TimedRun['step'], subject: Subject): string[] => [
    name,
    ...(['ms', 'cpuMs'] as const).flatMap((what) => {
      const [ours, theirs] = [middle(subject, step, what), middle('snarkjs', step, what)];
      const ratio = ours === null || theirs === null ? '–' : (ours / theirs).toFixed(3);
      return [formatMs(ours), formatMs(theirs), ratio];
    }),
  ];
  const steps = [...new Set(times.map(({ step }) => step))];
  return steps.flatMap((step) => [
    line(step, step, 'webgpu-msm'),
    ...(step === 'witness' ? [line('the program alone', step, 'program')] : []),
  ]);
};

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
    pages: flag('time pages of a browser from their opening to the first proof, all files in its HTTP cache'),
    json: valued('FILE', 'also write every time to a file', outputFile),
  },
  async run({ circuit: name, reps, witnesses, pages, json }) {
    if (witnesses && pages) throw new UsageError('--witnesses and --pages exclude each other: pages prove');
    ensureBuilt('library');
    const built = (entry: string): string => pathToFileURL(join(project, `dist/${entry}.js`)).href;
    const { openCircuit } = (await import(/* @vite-ignore */ built('circom'))) as typeof import('../src/circom.js');
    const { newKey } = (await import(/* @vite-ignore */ built('setup'))) as typeof import('../src/setup.js');
    // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
    const module = 'snarkjs';
    const { curves, groth16, r1cs: info, wtns, zKey } = (await import(/* @vite-ignore */ module)) as Snarkjs;
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
      : ((await newKey({ system: 'groth16', r1cs, ptau: await knownPowers('bn254', power) }, quiet)) as Uint8Array);
    const times: TimedRun[] = [];

    /** Times both libraries in pages. @returns the browser */
    const inPages = async (key: Uint8Array): Promise<string> => {
      progress('timing pages');
      const verificationKey = await zKey.exportVerificationKey(key);
      return timePages({ wasm, zkey: key, input }, reps, async (subject, { proof, publicSignals, ms }, isTimed) => {
        if (!(await groth16.verify(verificationKey, publicSignals, proof)))
          throw new Error(`the proof of the page of ${subject} does not verify`);
        if (isTimed) times.push({ subject, step: 'page to proof', ms, cpuMs: null });
      });
    };

    /** Times both libraries in this process. */
    const inNode = async (): Promise<string> => {
      const timed = async (subject: Subject, step: TimedRun['step'], work: () => Promise<unknown>): Promise<void> => {
        const [begun, cpu] = [performance.now(), process.cpuUsage()];
        await work();
        const { user, system } = process.cpuUsage(cpu);
        times.push({ subject, step, ms: performance.now() - begun, cpuMs: (user + system) / 1000 });
      };
      const theirWitness = async (): Promise<Uint8Array> => {
        const file: MemoryFile = { type: 'mem' };
        await wtns.calculate(input, wasm, file);
        return file.data as Uint8Array;
      };
      const circuit = await openCircuit({ wasm, ...(zkey && { zkey }) }, quiet);
      const witnessOf = {
        'webgpu-msm': () => circuit.witness(input as never),
        snarkjs: theirWitness,
        program: await openProgram(wasm, input),
      } as const;
      try {
        progress('checking');
        const [ours, theirs] = [await circuit.witness(input as never), await theirWitness()];
        if (!Buffer.from(ours).equals(theirs)) throw new Error('the witnesses have different bytes');
        progress('timing');
        await interleave(['webgpu-msm', 'snarkjs', 'program'] as const, reps, {
          async take(subject) {
            await timed(subject, 'witness', witnessOf[subject]);
          },
        });
        if (zkey === null) return `Node ${process.version}`;
        const proofOf = {
          'webgpu-msm': () => circuit.prove(input as never),
          snarkjs: () => groth16.fullProve(input, wasm, zkey),
        } as const;
        const { proof, publicSignals } = await circuit.prove(input as never, { verifyProof: true });
        const other = await groth16.fullProve(input, wasm, zkey);
        if (String(other.publicSignals) !== String(publicSignals) || proof.protocol !== 'groth16')
          throw new Error('the proofs have different public values');
        await interleave(['webgpu-msm', 'snarkjs'] as const, reps, {
          async take(subject) {
            await timed(subject, 'input to proof', proofOf[subject]);
          },
        });
        return `Node ${process.version}`;
      } finally {
        circuit.destroy();
      }
    };

    try {
      const place = pages ? await inPages(zkey as Uint8Array) : await inNode();
      progress('');
      console.log(`${name}: ${constraints} constraints, ${reps} repetitions, ${place}`);
    } finally {
      // its workers would keep the process alive
      await (await curves.getCurveFromName('bn128')).terminate();
    }
    const heads = ['', 'webgpu-msm', 'snarkjs', 'ratio', 'CPU time', 'of snarkjs', 'ratio'];
    console.log(tableLines(withoutEmpty([heads, ...linesOf(times)])).join('\n'));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ name, constraints, reps, times }, null, 2)}\n`);
  },
});
