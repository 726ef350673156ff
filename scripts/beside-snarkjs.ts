/**
 * npm run bench -- setups --system groth16 --constraints 10401 --reps 3
 * npm run bench -- setups --r1cs circuit.r1cs --ptau powers.ptau
 * npm run bench -- setups --system powers --power 13 --step prepare --reps 1
 * npm run bench -- circuits --circuit path --reps 5
 *
 * Times the built library in turns with snarkjs, by the clock, and in CPU time of all threads.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MemoryFile } from 'snarkjs';
import { formatMs, tableLines, withoutEmpty } from '../dev/bench/format.js';
import { knownPowers } from '../dev/bench/known-powers.js';
import { interleave } from '../dev/bench/measure.js';
import { loadSnarkjs } from '../dev/bench/modes/proofs/prover.js';
import { makeCircuit } from '../dev/trial-keys/circuit.js';
import { median } from '../src/calibrate/statistics.js';
import { openCircom2 } from '../src/circom/circom2.js';
import { readSignals } from '../src/circom/input-signals.js';
import { compileProgram } from '../src/circom/program.js';
import { bn254 } from '../src/curves/bn254.js';
import { readR1cs } from '../src/formats/r1cs.js';
import { gatesOf } from '../src/setup/gates.js';
import { compileCircuit } from '../tests/support/circom.js';
import { ensureBuilt, project } from './builds.mjs';
import { timePages } from './circuit-page.js';
import { anyText, command, flag, integer, oneOf, outputFile, progress, UsageError, valued } from './command-line.js';

/** Subjects of the timing: two libraries, and the code that circom wrote. */
type Subject = 'webgpu-msm' | 'snarkjs' | 'program';

const libraries = ['webgpu-msm', 'snarkjs'] as const;

/** One timed step. */
interface Timed {
  readonly subject: Subject;
  readonly step: string;
  readonly ms: number;
  /** CPU time of all threads of this process; null for pages. */
  readonly cpuMs: number | null;
}

const timed = async <Result>(
  times: Timed[],
  subject: Subject,
  step: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  times.push({ subject, step, ms: performance.now() - begun, cpuMs: (user + system) / 1000 });
  return result;
};

/** Returns a line for each step: medians of the library and of snarkjs and their ratio, of the clock and of CPU time. */
const report = (times: readonly Timed[]): string => {
  const middle = (subject: Subject, step: string, what: 'ms' | 'cpuMs'): number | null => {
    const found = times.filter((each) => each.subject === subject && each.step === step).map((each) => each[what]);
    return found.includes(null) ? null : median(found as number[]);
  };
  const line = (name: string, step: string, subject: Subject): string[] => [
    name,
    ...(['ms', 'cpuMs'] as const).flatMap((what) => {
      const [ours, theirs] = [middle(subject, step, what), middle('snarkjs', step, what)];
      const ratio = ours === null || theirs === null ? '–' : (ours / theirs).toFixed(3);
      return [formatMs(ours), formatMs(theirs), ratio];
    }),
  ];
  const steps = [...new Set(times.map(({ step }) => step))];
  const lines = steps.flatMap((step) => [
    line(step, step, 'webgpu-msm'),
    ...(times.some((each) => each.step === step && each.subject === 'program')
      ? [line('the program alone', step, 'program')]
      : []),
  ]);
  const heads = ['', 'webgpu-msm', 'snarkjs', 'ratio', 'CPU time', 'of snarkjs', 'ratio'];
  return tableLines(withoutEmpty([heads, ...lines])).join('\n');
};

/** Imports a module of the built library. */
const builtModule = (entry: string) => {
  ensureBuilt('library');
  return import(/* @vite-ignore */ pathToFileURL(join(project, `dist/${entry}.js`)).href);
};

/** Ends the workers of snarkjs, which would keep the process alive. */
const endSnarkjs = async ({ curves }: typeof import('snarkjs')): Promise<void> =>
  (await curves.getCurveFromName('bn128')).terminate();

const file = (data?: Uint8Array): MemoryFile => ({ type: 'mem', ...(data && { data }) });

const bytesOf = async (work: (to: MemoryFile) => Promise<unknown>): Promise<Uint8Array> => {
  const to = file();
  await work(to);
  return to.data as Uint8Array;
};

/*
 * Setups: new keys and contributions, or powers of tau, on all threads. New keys and prepared powers must
 * have the same bytes, snarkjs must find contributions valid, and the verdicts must be the same.
 */

/** One step of a setup, by both libraries. */
interface Step {
  readonly name: string;
  'webgpu-msm'(): Promise<Uint8Array>;
  snarkjs(): Promise<Uint8Array>;
  /** Checks a random result of the library; without it both results must be equal. */
  readonly isValid?: (ours: Uint8Array) => Promise<boolean>;
}

type Setups = typeof import('../src/setup.js');
type Snarkjs = typeof import('snarkjs');
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
  ours: Setups,
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
const powersSteps = async (ours: Setups, { powersOfTau }: Snarkjs, power: number): Promise<readonly Step[]> => {
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
  async run({ system, constraints, circuit: kind, r1cs, ptau, power, step: text, alone, reps, json }) {
    const ours: Setups = await builtModule('setup');
    const snarkjs = await loadSnarkjs();
    progress('making the circuit and powers of tau');
    const all =
      system === 'powers'
        ? await powersSteps(ours, snarkjs, power)
        : await keySteps(ours, snarkjs, system, r1cs ?? makeCircuit(bn254.order, constraints, kind).r1cs, ptau);
    const steps = all.filter(({ name }) => name.includes(text));
    const times: Timed[] = [];
    const results = new Map<string, Uint8Array>();
    try {
      await interleave(alone ? (['webgpu-msm'] as const) : libraries, reps, {
        async take(by) {
          for (const step of steps) {
            progress(`${step.name} by ${by}`);
            results.set(`${by} ${step.name}`, await timed(times, by, step.name, () => step[by]()));
          }
        },
      });
      progress('checking');
      for (const { name, isValid } of alone ? [] : steps) {
        const [own, other] = libraries.map((by) => results.get(`${by} ${name}`)) as [Uint8Array, Uint8Array];
        const isRight = isValid === undefined ? Buffer.from(own).equals(other) : await isValid(own);
        if (!isRight) throw new Error(`${name}: the result is not one of snarkjs`);
      }
    } finally {
      await endSnarkjs(snarkjs);
    }
    progress('');
    const made = r1cs === undefined ? `${constraints} constraints, ${kind}` : 'a circuit of a file';
    const size = system === 'powers' ? `powers up to 2^${power}` : made;
    console.log(`${system}, ${size}, BN254, ${reps} repetitions in turns, Node ${process.version}`);
    console.log(report(times));
    const settings = { system, constraints, kind, power, reps };
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ ...settings, times }, null, 2)}\n`);
  },
});

/*
 * Circuits: witnesses and proofs from inputs. Both libraries have the files in memory, and the library its
 * circuit open. Witnesses must have the same bytes, and proofs verify. The program alone is its code by
 * circom, without the transfer of its values: no library takes less.
 */

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

/** Returns what runs a program alone, from its inputs to the values that it keeps. */
const openProgram = async (wasm: Uint8Array, input: object): Promise<() => Promise<void>> => {
  const { module } = await compileProgram(wasm);
  const program = await openCircom2(module, [], { onLog: () => undefined });
  const signals = readSignals(input, program.prime);
  return async () => program.run(signals);
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
    const { openCircuit }: typeof import('../src/circom.js') = await builtModule('circom');
    const { newKey }: Setups = await builtModule('setup');
    const snarkjs = await loadSnarkjs();
    const { groth16, wtns, zKey } = snarkjs;
    const { source, input } = cases[name];
    progress('compiling the circuit');
    const { wasm, r1cs } = await compileCircuit(source);
    const { nConstraints: constraints, nOutputs } = await snarkjs.r1cs.info(r1cs);
    progress('making the key');
    // a row for each public signal and for the constant 1
    const power = Math.ceil(Math.log2(constraints + nOutputs + 1));
    const quiet = { onWarning: () => undefined };
    const zkey = witnesses
      ? null
      : await newKey({ system: 'groth16', r1cs, ptau: await knownPowers('bn254', power) }, quiet);
    const times: Timed[] = [];

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
      const circuit = await openCircuit({ wasm, ...(zkey && { zkey }) }, quiet);
      const witnessOf = {
        'webgpu-msm': () => circuit.witness(input as never),
        snarkjs: () => bytesOf((to) => wtns.calculate(input, wasm, to)),
        program: await openProgram(wasm, input),
      } as const;
      try {
        progress('checking');
        const [ours, theirs] = [await witnessOf['webgpu-msm'](), await witnessOf.snarkjs()];
        if (!Buffer.from(ours).equals(theirs)) throw new Error('the witnesses have different bytes');
        progress('timing');
        await interleave([...libraries, 'program'] as const, reps, {
          take: (subject) => timed<unknown>(times, subject, 'witness', witnessOf[subject]).then(() => undefined),
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
        await interleave(libraries, reps, {
          take: (subject) => timed<unknown>(times, subject, 'input to proof', proofOf[subject]).then(() => undefined),
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
      await endSnarkjs(snarkjs);
    }
    console.log(report(times));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ name, constraints, reps, times }, null, 2)}\n`);
  },
});
