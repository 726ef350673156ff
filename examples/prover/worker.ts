/**
 * Makes circuit and keys, proves with snarkjs alone and with webgpu-msm alone, and verifies. The
 * page terminates it to cancel.
 */
import { curves, fflonk, groth16, plonk, zKey } from 'snarkjs';
import { createMsmEngine, type MsmEngine } from 'webgpu-msm';
import { openProvingKey as openFflonk } from 'webgpu-msm/fflonk';
import { openProvingKey as openGroth16 } from 'webgpu-msm/groth16';
import { openProvingKey as openPlonk } from 'webgpu-msm/plonk';
import { makeCircuit } from './circuit.js';
import { makeKeys } from './keys.js';
import {
  type Message,
  type Outcome,
  type ProofTimes,
  type Side,
  type System,
  stagesOf,
  type Task,
} from './messages.js';
import { makePowersOfTau, type TauCurve } from './powers-of-tau.js';

/** Interleaved pairs of proofs, one of each side, so that a slowing machine slows both sides. */
const PAIRS = 5;

const names: Readonly<Record<Side, string>> = { plain: 'snarkjs alone', ours: 'webgpu-msm alone' };

const tell = (message: Message): void => postMessage(message);
const stage = (name: string, share: number | null = null): void => tell({ kind: 'stage', name, share });

/** A proof as snarkjs verifies it. */
interface Made {
  readonly proof: object;
  readonly publicSignals: readonly string[];
}

/** Adds time to the stages of a proof. */
class Stopwatch {
  readonly #stages: number[];
  readonly #begun = performance.now();
  #last = this.#begun;

  constructor(count: number) {
    this.#stages = new Array<number>(count).fill(0);
  }

  /** Adds the time since the last call to a stage. */
  lap(index: number): void {
    const now = performance.now();
    this.#stages[index] = (this.#stages[index] ?? 0) + now - this.#last;
    this.#last = now;
  }

  get times(): ProofTimes {
    return { total: this.#last - this.#begun, stages: this.#stages };
  }
}

/** A key of the library. */
interface AnyKey {
  prove(witness: Uint8Array, options: { onProgress(progress: { readonly part: string }): void }): Promise<Made>;
  destroy(): void;
}

/** Proves, and says how long each stage took. */
type Prove = () => Promise<{ readonly made: Made; readonly times: ProofTimes }>;

/** The proof systems of snarkjs. */
const theirs = { groth16, plonk, fflonk } as const;

const openKeys = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk } as const;

const makeStatement = async (curve: TauCurve, { system, logn }: Pick<Task, 'system' | 'logn'>) => {
  stage('Making the circuit');
  // the domain also has rows for the 1 and the public signal
  const circuit = makeCircuit(curve.r, 2 ** logn - 3, 'dense');
  const zkey: { type: 'mem'; data?: Uint8Array } = { type: 'mem' };
  if (system === 'groth16') {
    zkey.data = await makeKeys(curve, circuit, (share) => stage('Making the keys', share));
  } else {
    stage('Making the keys');
    // FFLONK takes as many powers as are made by default
    const ptau = await makePowersOfTau(curve, logn, system === 'plonk' ? 2 ** logn + 6 : undefined);
    await theirs[system].setup({ type: 'mem', data: circuit.r1cs }, { type: 'mem', data: ptau }, zkey);
  }
  return { circuit, zkey, key: await zKey.exportVerificationKey(zkey) };
};
type Statement = Awaited<ReturnType<typeof makeStatement>>;

/** The last statement made, which is kept for the next run. */
let made: { readonly system: System; readonly logn: number; readonly statement: Promise<Statement> } | null = null;

const statementOf = (curve: TauCurve, { system, logn }: Task): Promise<Statement> => {
  if (made?.logn !== logn || made.system !== system) {
    made = { system, logn, statement: makeStatement(curve, { system, logn }) };
  }
  return made.statement;
};

/** Returns a prover by snarkjs, whose messages tell when a stage begins. */
const bySnarkjs = (system: System, { circuit, zkey }: Statement): Prove => {
  const stages = stagesOf[system];
  return async () => {
    const watch = new Stopwatch(stages.length);
    const debug = (text: string): void => {
      const next = stages.findIndex(({ begins }) => text === begins);
      if (next > 0) watch.lap(next - 1);
    };
    const logger = { debug, info: debug, warn: debug, error: debug };
    const proof = await theirs[system].prove(zkey, { type: 'mem', data: circuit.witness }, logger);
    watch.lap(stages.length - 1);
    return { made: proof, times: watch.times };
  };
};

/** Returns a prover by the library, which loads the key with the first proof. */
const byLibrary = (system: System, { circuit }: Statement, open: () => Promise<AnyKey>): Prove => {
  const stages = stagesOf[system];
  return async () => {
    const watch = new Stopwatch(stages.length);
    const key = await open();
    const onProgress = ({ part }: { readonly part: string }): void =>
      watch.lap(stages.findIndex(({ parts }) => parts.includes(part)));
    return { made: await key.prove(circuit.witness, { onProgress }), times: watch.times };
  };
};

const adapterOf = ({ adapter, backends }: MsmEngine): Outcome['adapter'] => {
  const { vendor = '', architecture = '', description = '', software = false } = adapter;
  return {
    name: description || [vendor, architecture].filter(Boolean).join(' ') || 'a GPU without a name',
    software,
    isGpu: backends.includes('gpu'),
  };
};

const run = async (task: Task): Promise<Outcome> => {
  const { system, backend } = task;
  stage('Loading snarkjs');
  const curve = (await curves.getCurveFromName('bn128')) as unknown as TauCurve;
  const statement = await statementOf(curve, task);
  let warning: string | null = null;
  const engine = await createMsmEngine({ curve: 'bn254', backend, onWarning: (text) => (warning = text) });
  let key: Promise<AnyKey> | null = null;
  const open = (): Promise<AnyKey> => {
    key ??= openKeys[system](statement.zkey.data as Uint8Array, { backend, deviceOf: engine });
    return key;
  };
  const provers: Readonly<Record<Side, Prove>> = {
    plain: bySnarkjs(system, statement),
    ours: byLibrary(system, statement, open),
  };
  const isRight = { plain: true, ours: true };
  const prove = async (side: Side): Promise<ProofTimes> => {
    const { made, times } = await provers[side]();
    const { proof, publicSignals } = made;
    isRight[side] &&=
      publicSignals.join() === statement.circuit.publicSignals.join() &&
      (await theirs[system].verify(statement.key, publicSignals, proof));
    return times;
  };
  try {
    stage('The first proof, snarkjs alone');
    const plain = await prove('plain');
    stage('The first proof, webgpu-msm alone, which loads the key');
    const first = { plain, ours: await prove('ours') };
    const all: Readonly<Record<Side, ProofTimes[]>> = { plain: [], ours: [] };
    for (let pair = 0; pair < PAIRS; pair++) {
      // the order alternates, so that neither side always comes second
      const sides: readonly Side[] = pair % 2 === 0 ? ['plain', 'ours'] : ['ours', 'plain'];
      for (const [i, side] of sides.entries()) {
        stage(`Pair ${pair + 1} of ${PAIRS}: ${names[side]}`, (pair + i / 2) / PAIRS);
        all[side].push(await prove(side));
      }
    }
    const { backends } = engine;
    const constraints = statement.circuit.constraints.length;
    return { system, constraints, first, ...all, verified: isRight, backends, adapter: adapterOf(engine), warning };
  } finally {
    (await (key as Promise<AnyKey> | null)?.catch(() => null))?.destroy();
    engine.destroy();
  }
};

addEventListener('message', ({ data }: MessageEvent<Task>) => {
  run(data).then(
    (outcome) => tell({ kind: 'outcome', outcome }),
    (error: unknown) => tell({ kind: 'problem', text: error instanceof Error ? error.message : String(error) }),
  );
});
