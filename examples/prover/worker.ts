/** Makes circuit and keys, proves with snarkjs alone and with webgpu-msm, and verifies. Whoever wants it to stop terminates it. */
import * as snarkjs from 'snarkjs';
import { accelerate } from 'webgpu-msm/snarkjs';
import { makeCircuit } from './circuit.js';
import { type KeyCurve, makeKeys } from './keys.js';
import { type Message, msmNames, type Outcome, type ProofTimes, type Task } from './messages.js';

/** Proofs of each kind, of which medians are shown. */
const REPETITIONS = 3;

const tell = (message: Message): void => postMessage(message);
const stage = (name: string, share: number | null = null): void => tell({ kind: 'stage', name, share });

type MultiExp = (...given: unknown[]) => Promise<unknown>;
type TimedCurve = KeyCurve & Readonly<Record<'G1' | 'G2', { multiExpAffine: MultiExp }>>;

/** Adds up what MSMs take, whoever computes them, while `work` runs. */
const timed = async (curve: TimedCurve, work: () => Promise<unknown>): Promise<ProofTimes> => {
  const took: number[] = [];
  const groups = [curve.G1, curve.G2];
  const originals = groups.map(({ multiExpAffine }) => multiExpAffine);
  for (const [i, group] of groups.entries()) {
    group.multiExpAffine = async (...given) => {
      const begun = performance.now();
      const sum = await (originals[i] as MultiExp).apply(group, given);
      took.push(performance.now() - begun);
      return sum;
    };
  }
  const begun = performance.now();
  try {
    await work();
  } finally {
    for (const [i, group] of groups.entries()) group.multiExpAffine = originals[i] as MultiExp;
  }
  const total = performance.now() - begun;
  return { total, msms: Object.fromEntries(msmNames.map((name, i) => [name, took[i] ?? 0])) as ProofTimes['msms'] };
};

const makeStatement = async (curve: TimedCurve, logn: number) => {
  stage('Making the circuit');
  // the domain has a row more for the 1 and each public signal
  const circuit = makeCircuit(BigInt(curve.r), 2 ** logn - 2, 'dense');
  const data = await makeKeys(curve, circuit, (share) => stage('Making the keys', share));
  const zkey = { type: 'mem', data } as const;
  return { circuit, zkey, key: await snarkjs.zKey.exportVerificationKey(zkey) };
};
type Statement = Awaited<ReturnType<typeof makeStatement>>;

/** The last that was made. */
let made: { readonly logn: number; readonly statement: Promise<Statement> } | null = null;

const statementOf = (curve: TimedCurve, logn: number): Promise<Statement> => {
  if (made?.logn !== logn) made = { logn, statement: makeStatement(curve, logn) };
  return made.statement;
};

const run = async ({ logn, backend }: Task): Promise<Outcome> => {
  stage('Loading snarkjs');
  const curve = (await snarkjs.curves.getCurveFromName('bn128')) as unknown as TimedCurve;
  const { circuit, zkey, key } = await statementOf(curve, logn);
  const proveOnce = async () => {
    const proofs: Awaited<ReturnType<typeof snarkjs.groth16.prove>>[] = [];
    const times = await timed(curve, async () => {
      proofs.push(await snarkjs.groth16.prove(zkey, { type: 'mem', data: circuit.witness }));
    });
    return { times, proof: proofs[0] as (typeof proofs)[0] };
  };
  const several = async (who: string) => {
    const all: ProofTimes[] = [];
    let isRight = true;
    for (let i = 0; i < REPETITIONS; i++) {
      stage(`${who}: proof ${i + 1} of ${REPETITIONS}`, i / REPETITIONS);
      const { times, proof } = await proveOnce();
      all.push(times);
      isRight &&=
        proof.publicSignals.join() === circuit.publicSignals.join() &&
        (await snarkjs.groth16.verify(key, proof.publicSignals, proof.proof));
    }
    return { all, isRight };
  };

  stage('snarkjs alone: warming up');
  await proveOnce();
  const plain = await several('snarkjs alone');

  let warning: string | null = null;
  stage('With webgpu-msm: the first proof, which loads the points');
  const restore = await accelerate(snarkjs, { backend, onWarning: (text) => (warning = text) });
  try {
    const { times: first } = await proveOnce();
    const ours = await several('With webgpu-msm');
    const { on, adapter } = accelerate.stats;
    const { vendor = '', architecture = '', description = '', software = false } = adapter ?? {};
    return {
      constraints: circuit.constraints.length,
      plain: plain.all,
      first,
      ours: ours.all,
      verified: { plain: plain.isRight, ours: ours.isRight },
      on,
      adapter: {
        name: description || [vendor, architecture].filter(Boolean).join(' ') || 'a GPU that does not say its name',
        software,
        isGpu: adapter !== null && vendor !== 'cpu',
      },
      warning,
    };
  } finally {
    restore();
  }
};

addEventListener('message', ({ data }: MessageEvent<Task>) => {
  run(data).then(
    (outcome) => tell({ kind: 'outcome', outcome }),
    (error: unknown) => tell({ kind: 'problem', text: error instanceof Error ? error.message : String(error) }),
  );
});
