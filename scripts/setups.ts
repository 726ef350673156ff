/**
 * npm run bench -- setups --constraints 10401 --reps 3
 *
 * Times new keys and contributions of Groth16 in turns with snarkjs, on all threads: by the clock, and
 * in CPU time of all threads. New keys must have the same bytes, and snarkjs must find the last
 * contribution valid.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatMs, tableLines } from '../dev/bench/format.js';
import { knownPowers } from '../dev/bench/known-powers.js';
import { interleave } from '../dev/bench/measure.js';
import { makeCircuit } from '../dev/bench/setup-circuit.js';
import { median } from '../src/calibrate/statistics.js';
import { ensureBuilt, project } from './builds.mjs';
import { command, integer, oneOf, outputFile, progress, valued } from './command-line.js';

/** A file of snarkjs in memory. */
interface MemoryFile {
  readonly type: 'mem';
  data?: Uint8Array;
}

/** The used part of snarkjs. */
interface Snarkjs {
  readonly curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
  readonly zKey: {
    newZKey(r1cs: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<unknown>;
    contribute(from: MemoryFile, to: MemoryFile, name: string, entropy: string): Promise<unknown>;
    verifyFromInit(initial: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<boolean>;
  };
}

const file = (data?: Uint8Array): MemoryFile => ({ type: 'mem', ...(data && { data }) });

/** One timed call. */
interface Timed {
  readonly library: string;
  readonly step: string;
  readonly ms: number;
  readonly cpuMs: number;
}

export const setupsCommand = command({
  about: 'times new keys and contributions of Groth16 in turns with snarkjs',
  usage: 'usage: npm run bench -- setups [options]',
  options: {
    constraints: valued('10401', 'constraints of the circuit', integer(1, 2 ** 20), 10_401),
    circuit: valued(
      'sparse',
      'dense: a chain with a constant in each constraint; sparse: bits',
      oneOf('dense', 'sparse'),
      'dense',
    ),
    reps: valued('3', 'repetitions', integer(1, 99), 3),
    json: valued('FILE', 'also write every time to a file', outputFile),
  },
  async run({ constraints, circuit: kind, reps, json }) {
    ensureBuilt('library');
    const library = pathToFileURL(join(project, 'dist/setup.js')).href;
    const ours = (await import(/* @vite-ignore */ library)) as typeof import('../src/setup.js');
    // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
    const name = 'snarkjs';
    const { curves, zKey } = (await import(/* @vite-ignore */ name)) as Snarkjs;
    progress('making the circuit and powers of tau');
    const { r1cs } = makeCircuit(constraints, kind);
    // a row for the public signal and one for the constant 1
    const ptau = await knownPowers('bn254', Math.ceil(Math.log2(constraints + 2)));

    const times: Timed[] = [];
    const timed = async <Result>(library: string, step: string, work: () => Promise<Result>): Promise<Result> => {
      progress(`${step} by ${library}`);
      const [begun, cpu] = [performance.now(), process.cpuUsage()];
      const result = await work();
      const { user, system } = process.cpuUsage(cpu);
      times.push({ library, step, ms: performance.now() - begun, cpuMs: (user + system) / 1000 });
      return result;
    };
    const bytesOf = async (work: (to: MemoryFile) => Promise<unknown>): Promise<Uint8Array> => {
      const to = file();
      await work(to);
      return to.data as Uint8Array;
    };
    const keys = new Map<string, Uint8Array>();
    const steps = {
      'webgpu-msm': {
        newKey: () => ours.newKey({ system: 'groth16', r1cs, ptau }),
        contribute: async (key: Uint8Array) => (await ours.contribute(key, { entropy: 'bench' })).zkey,
      },
      snarkjs: {
        newKey: () => bytesOf((to) => zKey.newZKey(file(r1cs), file(ptau), to)),
        contribute: (key: Uint8Array) => bytesOf((to) => zKey.contribute(file(key), to, '', 'bench')),
      },
    } as const;
    await interleave(['webgpu-msm', 'snarkjs'] as const, reps, {
      async take(library) {
        const key = await timed(library, 'new key', steps[library].newKey);
        keys.set(`${library} new key`, key);
        keys.set(library, await timed(library, 'contribution', () => steps[library].contribute(key)));
      },
    });
    progress('checking');
    const [own, other] = ['webgpu-msm new key', 'snarkjs new key'].map((key) => keys.get(key) as Uint8Array);
    try {
      if (own === undefined || other === undefined || !Buffer.from(own).equals(other)) {
        throw new Error('the new keys have different bytes');
      }
      const isValid = await zKey.verifyFromInit(file(own), file(ptau), file(keys.get('webgpu-msm') as Uint8Array));
      if (!isValid) throw new Error('snarkjs does not find the contribution valid');
    } finally {
      // its workers would keep the process alive
      await (await curves.getCurveFromName('bn128')).terminate();
    }
    progress('');
    const of = (library: string, step: string, what: 'ms' | 'cpuMs'): number =>
      median(
        times.filter((each) => each.library === library && each.step === step).map((each) => each[what]),
      ) as number;
    const lines = ['new key', 'contribution'].map((step) => {
      const [ms, theirMs] = [of('webgpu-msm', step, 'ms'), of('snarkjs', step, 'ms')];
      const [cpu, theirCpu] = [of('webgpu-msm', step, 'cpuMs'), of('snarkjs', step, 'cpuMs')];
      return [
        step,
        ...[ms, theirMs].map(formatMs),
        (ms / theirMs).toFixed(3),
        ...[cpu, theirCpu].map(formatMs),
        (cpu / theirCpu).toFixed(3),
      ];
    });
    console.log(`${constraints} constraints, ${kind}, BN254, ${reps} repetitions in turns, Node ${process.version}`);
    const head = ['', 'webgpu-msm', 'snarkjs', 'ratio', 'CPU time', 'of snarkjs', 'ratio'];
    console.log(tableLines([head, ...lines]).join('\n'));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ constraints, kind, reps, times }, null, 2)}\n`);
  },
});
