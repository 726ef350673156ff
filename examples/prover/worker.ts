/**
 * Makes circuit and keys, proves with snarkjs alone and with webgpu-msm, and verifies. The page
 * terminates it to cancel.
 */
import * as snarkjs from 'snarkjs';
import { accelerate } from 'webgpu-msm/snarkjs';
import { makeCircuit } from './circuit.js';
import { type KeyCurve, makeKeys } from './keys.js';
import { type Message, msmNames, type Outcome, type ProofTimes, type Side, type Task } from './messages.js';

/** Interleaved pairs of proofs, one of each side, so that a slowing machine slows both sides. */
const PAIRS = 5;

const names: Readonly<Record<Side, string>> = { plain: 'snarkjs alone', ours: 'with webgpu-msm' };

const tell = (message: Message): void => postMessage(message);
const stage = (name: string, share: number | null = null): void => tell({ kind: 'stage', name, share });

type MultiExp = (...given: unknown[]) => Promise<unknown>;
type TimedCurve = KeyCurve & Readonly<Record<'G1' | 'G2', { multiExpAffine: MultiExp }>>;

const groupsOf = (curve: TimedCurve) => [curve.G1, curve.G2];

/** Returns the current MSM function of each group. */
const multiExpsOf = (curve: TimedCurve): MultiExp[] => groupsOf(curve).map(({ multiExpAffine }) => multiExpAffine);

/** Runs `work` with the given MSM functions, and measures their times. */
const timed = async (
  curve: TimedCurve,
  functions: readonly MultiExp[],
  work: () => Promise<unknown>,
): Promise<ProofTimes> => {
  const took: number[] = [];
  const groups = groupsOf(curve);
  const before = multiExpsOf(curve);
  for (const [i, group] of groups.entries()) {
    group.multiExpAffine = async (...given) => {
      const begun = performance.now();
      const sum = await (functions[i] as MultiExp).apply(group, given);
      took.push(performance.now() - begun);
      return sum;
    };
  }
  const begun = performance.now();
  try {
    await work();
  } finally {
    for (const [i, group] of groups.entries()) group.multiExpAffine = before[i] as MultiExp;
  }
  const total = performance.now() - begun;
  return { total, msms: Object.fromEntries(msmNames.map((name, i) => [name, took[i] ?? 0])) as ProofTimes['msms'] };
};

const makeStatement = async (curve: TimedCurve, logn: number) => {
  stage('Making the circuit');
  // two constraints fewer than the domain, which also needs rows for the 1 and the public signal
  const circuit = makeCircuit(BigInt(curve.r), 2 ** logn - 2, 'dense');
  const data = await makeKeys(curve, circuit, (share) => stage('Making the keys', share));
  const zkey = { type: 'mem', data } as const;
  return { circuit, zkey, key: await snarkjs.zKey.exportVerificationKey(zkey) };
};
type Statement = Awaited<ReturnType<typeof makeStatement>>;

/** The last statement made, which is kept for the next run. */
let made: { readonly logn: number; readonly statement: Promise<Statement> } | null = null;

const statementOf = (curve: TimedCurve, logn: number): Promise<Statement> => {
  if (made?.logn !== logn) made = { logn, statement: makeStatement(curve, logn) };
  return made.statement;
};

const run = async ({ logn, backend }: Task): Promise<Outcome> => {
  stage('Loading snarkjs');
  const curve = (await snarkjs.curves.getCurveFromName('bn128')) as unknown as TimedCurve;
  const { circuit, zkey, key } = await statementOf(curve, logn);
  const plain = multiExpsOf(curve);
  const isRight = { plain: true, ours: true };
  const prove = async (side: Side, functions: readonly MultiExp[]): Promise<ProofTimes> => {
    const proofs: Awaited<ReturnType<typeof snarkjs.groth16.prove>>[] = [];
    const times = await timed(curve, functions, async () => {
      proofs.push(await snarkjs.groth16.prove(zkey, { type: 'mem', data: circuit.witness }));
    });
    const { proof, publicSignals } = proofs[0] as (typeof proofs)[0];
    isRight[side] &&=
      publicSignals.join() === circuit.publicSignals.join() &&
      (await snarkjs.groth16.verify(key, publicSignals, proof));
    return times;
  };

  stage('The first proof, snarkjs alone');
  const firstPlain = await prove('plain', plain);
  let warning: string | null = null;
  stage('The first proof with webgpu-msm, which loads the points');
  const restore = await accelerate(snarkjs, { backend, onWarning: (text) => (warning = text) });
  try {
    const functions = { plain, ours: multiExpsOf(curve) };
    const firstOurs = await prove('ours', functions.ours);
    const all: Readonly<Record<Side, ProofTimes[]>> = { plain: [], ours: [] };
    for (let pair = 0; pair < PAIRS; pair++) {
      // the order alternates, so that neither side always comes second
      const sides: readonly Side[] = pair % 2 === 0 ? ['plain', 'ours'] : ['ours', 'plain'];
      for (const [i, side] of sides.entries()) {
        stage(`Pair ${pair + 1} of ${PAIRS}: ${names[side]}`, (pair + i / 2) / PAIRS);
        all[side].push(await prove(side, functions[side]));
      }
    }
    const { on, adapter } = accelerate.stats;
    const { vendor = '', architecture = '', description = '', software = false } = adapter ?? {};
    return {
      constraints: circuit.constraints.length,
      first: { plain: firstPlain, ours: firstOurs },
      ...all,
      verified: isRight,
      on,
      adapter: {
        name: description || [vendor, architecture].filter(Boolean).join(' ') || 'a GPU without a name',
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
