/**
 * npm run bench -- setups --system groth16 --constraints 10401 --reps 3
 * npm run bench -- setups --r1cs circuit.r1cs --ptau powers.ptau
 * npm run bench -- setups --system powers --power 13 --step prepare --reps 1
 *
 * Times new keys and contributions in turns with snarkjs, or powers of tau, on all threads: by the
 * clock, and in CPU time of all threads. New keys and prepared powers must have the same bytes, and
 * snarkjs must find contributions valid, and the verdicts must be the same.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatMs, tableLines } from '../dev/bench/format.js';
import { knownPowers } from '../dev/bench/known-powers.js';
import { interleave } from '../dev/bench/measure.js';
import { makeCircuit } from '../dev/bench/setup-circuit.js';
import { median } from '../src/calibrate/statistics.js';
import { readR1cs } from '../src/formats/r1cs.js';
import { gatesOf } from '../src/setup/gates.js';
import { ensureBuilt, project } from './builds.mjs';
import { anyText, command, flag, integer, oneOf, outputFile, progress, valued } from './command-line.js';

/** A file of snarkjs in memory. */
interface MemoryFile {
  readonly type: 'mem';
  data?: Uint8Array;
}

type Setup = (r1cs: MemoryFile, ptau: MemoryFile, zkey: MemoryFile) => Promise<unknown>;
type Contribute = (from: MemoryFile, to: MemoryFile, name: string, entropy: string) => Promise<unknown>;

/** The used part of snarkjs. */
interface Snarkjs {
  readonly curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
  readonly plonk: { readonly setup: Setup };
  readonly fflonk: { readonly setup: Setup };
  readonly zKey: {
    readonly newZKey: Setup;
    readonly contribute: Contribute;
    verifyFromInit(initial: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<boolean>;
    verifyFromR1cs(r1cs: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<boolean>;
  };
  readonly powersOfTau: {
    readonly contribute: Contribute;
    preparePhase2(from: MemoryFile, to: MemoryFile): Promise<unknown>;
    verify(ptau: MemoryFile): Promise<boolean>;
  };
}

const file = (data?: Uint8Array): MemoryFile => ({ type: 'mem', ...(data && { data }) });

const bytesOf = async (work: (to: MemoryFile) => Promise<unknown>): Promise<Uint8Array> => {
  const to = file();
  await work(to);
  return to.data as Uint8Array;
};

/** One step of a setup, by both libraries. */
interface Step {
  readonly name: string;
  'webgpu-msm'(): Promise<Uint8Array>;
  snarkjs(): Promise<Uint8Array>;
  /** Checks a random result of the library; without it both results must be equal. */
  readonly isValid?: (ours: Uint8Array) => Promise<boolean>;
}

type Ours = typeof import('../src/setup.js');

type System = 'groth16' | 'plonk' | 'fflonk';

/** Returns the logarithm of the size of the powers of tau that a key needs. */
const powerFor = async (system: System, r1cs: Uint8Array): Promise<number> => {
  const circuit = await readR1cs(r1cs, {}, async () => undefined);
  const { constraints, publicSignals } = circuit;
  // rows for the public signals and the constant 1
  if (system === 'groth16') return Math.ceil(Math.log2(constraints + publicSignals + 1));
  const isFflonk = system === 'fflonk';
  const { count } = await gatesOf(circuit, isFflonk, async () => undefined);
  // two rows are blinded, and each row takes nine powers
  return isFflonk ? Math.ceil(Math.log2(count + 2)) + 4 : Math.ceil(Math.log2(count));
};

/** The steps of a key. @param powers those of tau; undefined: as many as the circuit needs, with known secrets */
const keySteps = async (
  ours: Ours,
  { plonk, fflonk, zKey }: Snarkjs,
  system: System,
  r1cs: Uint8Array,
  powers: Uint8Array | undefined,
): Promise<readonly Step[]> => {
  const ptau = powers ?? (await knownPowers('bn254', await powerFor(system, r1cs)));
  const setup = { groth16: zKey.newZKey, plonk: plonk.setup, fflonk: fflonk.setup }[system];
  const newKey: Step = {
    name: 'new key',
    'webgpu-msm': () => ours.newKey({ system, r1cs, ptau }),
    snarkjs: () => bytesOf((to) => setup(file(r1cs), file(ptau), to)),
  };
  if (system !== 'groth16') return [newKey];
  const first = await newKey['webgpu-msm']();
  const contribution: Step = {
    name: 'contribution',
    'webgpu-msm': async () => (await ours.contribute(first, { entropy: 'bench' })).zkey,
    snarkjs: () => bytesOf((to) => zKey.contribute(file(first), to, '', 'bench')),
    isValid: (zkey) => zKey.verifyFromInit(file(first), file(ptau), file(zkey)),
  };
  const { zkey } = await ours.contribute(first, { entropy: 'bench' });
  const verdict = (isValid: boolean): Uint8Array => Uint8Array.of(Number(isValid));
  const verification: Step = {
    name: 'verification',
    'webgpu-msm': async () => verdict((await ours.verifyKey({ zkey, r1cs, ptau })).isValid),
    snarkjs: async () => verdict(await zKey.verifyFromR1cs(file(r1cs), file(ptau), file(zkey))),
  };
  return [newKey, contribution, verification];
};

/** The steps of powers of tau. */
const powersSteps = async (ours: Ours, { powersOfTau }: Snarkjs, power: number): Promise<readonly Step[]> => {
  const first = await ours.newPowers({ curve: 'bn254', power });
  const { ptau } = await ours.contributeToPowers(first, { entropy: 'bench' });
  return [
    {
      name: 'contribution to powers',
      'webgpu-msm': async () => (await ours.contributeToPowers(first, { entropy: 'bench' })).ptau,
      snarkjs: () => bytesOf((to) => powersOfTau.contribute(file(first), to, '', 'bench')),
      isValid: (made) => powersOfTau.verify(file(made)),
    },
    {
      name: 'prepare phase 2',
      'webgpu-msm': () => ours.preparePhase2(ptau),
      snarkjs: () => bytesOf((to) => powersOfTau.preparePhase2(file(ptau), to)),
    },
  ];
};

/** One timed call. */
interface Timed {
  readonly library: string;
  readonly step: string;
  readonly ms: number;
  readonly cpuMs: number;
}

export const setupsCommand = command({
  about: 'times new keys and contributions in turns with snarkjs',
  usage: 'usage: npm run bench -- setups [options]',
  options: {
    system: valued(
      'plonk',
      'groth16, plonk or fflonk; powers: powers of tau',
      oneOf('groth16', 'plonk', 'fflonk', 'powers'),
      'groth16',
    ),
    constraints: valued('10401', 'constraints of the circuit', integer(1, 2 ** 20), 10_401),
    circuit: valued(
      'sparse',
      'dense: a chain with a constant in each constraint; sparse: bits',
      oneOf('dense', 'sparse'),
      'dense',
    ),
    r1cs: valued('FILE', 'a circuit on BN254 in place of one that is made', (path) => readFileSync(path)),
    ptau: valued('FILE', 'prepared powers of tau in place of ones that are made', (path) => readFileSync(path)),
    power: valued('14', 'logarithm of the size of powers of tau', integer(1, 20), 14),
    step: valued('prepare', 'only steps whose names have this text', anyText, ''),
    alone: flag('without snarkjs, so that results are not checked'),
    reps: valued('3', 'repetitions', integer(1, 99), 3),
    json: valued('FILE', 'also write every time to a file', outputFile),
  },
  async run({ system, constraints, circuit: kind, r1cs, ptau, power, step: only, alone, reps, json }) {
    ensureBuilt('library');
    const library = pathToFileURL(join(project, 'dist/setup.js')).href;
    const ours = (await import(/* @vite-ignore */ library)) as Ours;
    // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
    const name = 'snarkjs';
    const theirs = (await import(/* @vite-ignore */ name)) as Snarkjs;
    progress('making the circuit and powers of tau');
    const all =
      system === 'powers'
        ? await powersSteps(ours, theirs, power)
        : await keySteps(ours, theirs, system, r1cs ?? makeCircuit(constraints, kind).r1cs, ptau);
    const steps = all.filter(({ name }) => name.includes(only));

    const times: Timed[] = [];
    const timed = async (by: 'webgpu-msm' | 'snarkjs', step: Step): Promise<Uint8Array> => {
      progress(`${step.name} by ${by}`);
      const [begun, cpu] = [performance.now(), process.cpuUsage()];
      const result = await step[by]();
      const { user, system: inKernel } = process.cpuUsage(cpu);
      times.push({ library: by, step: step.name, ms: performance.now() - begun, cpuMs: (user + inKernel) / 1000 });
      return result;
    };
    const results = new Map<string, Uint8Array>();
    try {
      await interleave(alone ? (['webgpu-msm'] as const) : (['webgpu-msm', 'snarkjs'] as const), reps, {
        async take(by) {
          for (const step of steps) results.set(`${by} ${step.name}`, await timed(by, step));
        },
      });
      progress('checking');
      for (const { name: step, isValid } of alone ? [] : steps) {
        const [own, other] = [results.get(`webgpu-msm ${step}`), results.get(`snarkjs ${step}`)] as [
          Uint8Array,
          Uint8Array,
        ];
        const isRight = isValid === undefined ? Buffer.from(own).equals(other) : await isValid(own);
        if (!isRight) throw new Error(`${step}: the result is not one of snarkjs`);
      }
    } finally {
      // its workers would keep the process alive
      await (await theirs.curves.getCurveFromName('bn128')).terminate();
    }
    progress('');
    const of = (by: string, step: string, what: 'ms' | 'cpuMs'): number =>
      median(times.filter((each) => each.library === by && each.step === step).map((each) => each[what])) as number;
    const lines = steps.map(({ name: step }) => {
      if (alone) return [step, formatMs(of('webgpu-msm', step, 'ms')), formatMs(of('webgpu-msm', step, 'cpuMs'))];
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
    const made = r1cs === undefined ? `${constraints} constraints, ${kind}` : 'a circuit of a file';
    const size = system === 'powers' ? `powers up to 2^${power}` : made;
    console.log(`${system}, ${size}, BN254, ${reps} repetitions in turns, Node ${process.version}`);
    const head = alone
      ? ['', 'webgpu-msm', 'CPU time']
      : ['', 'webgpu-msm', 'snarkjs', 'ratio', 'CPU time', 'of snarkjs', 'ratio'];
    console.log(tableLines([head, ...lines]).join('\n'));
    const settings = { system, constraints, kind, power, reps };
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ ...settings, times }, null, 2)}\n`);
  },
});
