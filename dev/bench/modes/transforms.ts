/** `transforms`: times number-theoretic transforms beside those of other libraries. */
import { median } from '../../../src/calibrate/statistics.js';
import { createFieldEngine, type FieldEngine, type FieldName, type FieldVector } from '../../../src/fields.js';
import { assertTransforms, transformInput } from '../../oracle/field-values.js';
import { openTransformPeer, type TheirTransforms, transformPeers } from '../../peers/peers.js';
import type { Bench } from '../bench-setup.js';
import { formatMs, formatRatio, shortSize } from '../format.js';
import { type Knobs, peersKnob, type Values } from '../knob.js';
import { interleave } from '../measure.js';
import { headline, notes, type Parts, tableOf } from '../parts.js';
import { rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { grouped } from '../summary.js';
import { benchMode } from './mode.js';

declare module '../rows.js' {
  interface Rows {
    /** Timed transforms of one size by one subject, whose results were right. */
    readonly transform: ReturnType<typeof rowOf>;
  }
}

const own = { peers: peersKnob(transformPeers, 'ffjavascript, where it exists') };

type TransformKnobs = Knobs & Values<typeof own>;

export const transforms = benchMode({
  title: 'Transforms',
  about: 'times number-theoretic transforms beside other libraries, in turns: what does a polynomial cost?',
  takes: '5 to 30 s',
  example: 'run --op ntt --backend cpu --logn 12,14,16,18 --reps 9',
  limits: 'The CPU uses one thread. ffjavascript exists in Node only, and has BN254 and BLS12-381.',
  runsOn: 'either',
  uses: ['curve', 'logn', 'reps'],
  engine: ['backend'],
  defaults: { reps: 9, logn: [12, 14, 16] },
  knobs: own,
  problemOf: (query) => {
    const backend = query.get('backend') ?? 'gpu';
    return ['gpu', 'cpu'].includes(backend) ? null : `backend: "${backend}" is not gpu or cpu, which transforms run on`;
  },
  run: runTransforms,
  show,
});

/** One way to transform the same vector. */
interface Subject {
  readonly name: string;
  /** Library; null for this one. */
  readonly peer: string | null;
  readonly direction: 'ntt' | 'intt';
  run(): Promise<FieldVector | null>;
  readonly wallMs: number[];
  readonly gpuMs: number[];
}

interface Opened {
  readonly run: Run;
  readonly knobs: TransformKnobs;
  readonly fr: FieldEngine;
  readonly peers: ReadonlyMap<string, TheirTransforms>;
}

async function runTransforms({ run, device, own: owned }: Bench, knobs: TransformKnobs): Promise<null> {
  const { curve } = knobs;
  const sizes = knobs.cases.map(({ address }) => address.n);
  const peers = new Map<string, TheirTransforms>();
  for (const name of transformPeers) {
    if (!(knobs.peers ?? ['ffjavascript']).includes(name)) continue;
    const opened = await openTransformPeer(name, curve);
    if (opened === null) run.emit({ event: 'skipped', variant: name, why: `does not know ${curve}` });
    else peers.set(name, opened);
  }
  const fr = owned(await createFieldEngine({ field: `${curve}-fr` as FieldName, ...(device && { device }) }));
  run.plan(sizes.flatMap((n) => Array(knobs.reps * (3 + 2 * peers.size)).fill(n)));
  for (const n of sizes) await measure({ run, knobs, fr, peers }, n);
  return null;
}

const subjectsOf = async (
  { fr, peers }: Opened,
  given: FieldVector,
  input: readonly bigint[],
): Promise<readonly Subject[]> => {
  const ours = (name: string, direction: Subject['direction'], options: object): Subject => ({
    ...{ name: `webgpu-msm, ${name}`, peer: null, direction, wallMs: [], gpuMs: [] },
    run: () => fr.run((ops) => ops.keep(ops[direction](given, options))),
  });
  const subjects = [
    ours('natural to reversed', 'ntt', { to: 'reversed' }),
    ours('natural to natural', 'ntt', {}),
    ours('reversed to natural', 'intt', { from: 'reversed' }),
  ];
  const bytes = await fr.read(given);
  for (const [peer, theirs] of peers) {
    const values = await theirs.enter(bytes, input);
    for (const direction of ['ntt', 'intt'] as const) {
      const run = async (): Promise<null> => {
        await theirs[direction](values);
        return null;
      };
      subjects.push({ name: `${peer}, ${theirs.names[direction]}`, peer, direction, wallMs: [], gpuMs: [], run });
    }
  }
  return subjects;
};

async function measure(bench: Opened, n: number): Promise<void> {
  const { run, knobs, fr } = bench;
  await run.next(`Transforms of ${shortSize(n)}`);
  const input = transformInput(fr.p, n);
  const given = await fr.load(input);
  await assertTransforms(fr, given, input);
  const subjects = await subjectsOf(bench, given, input);
  const counts = new Map<Subject, FieldEngine['lastRun']>();
  for (const subject of subjects) {
    (await subject.run())?.destroy();
    counts.set(subject, subject.peer === null ? fr.lastRun : null);
  }
  await interleave(subjects, knobs.reps, {
    async take(subject) {
      run.signal.throwIfAborted();
      const begun = performance.now();
      const made = await subject.run();
      subject.wallMs.push(performance.now() - begun);
      made?.destroy();
      const times = subject.peer === null ? Object.values(fr.lastRun?.phases ?? {}) : [];
      if (fr.lastRun?.on === 'gpu' && times.length > 0) subject.gpuMs.push(times.reduce((sum, ms) => sum + ms, 0));
      run.advance(n);
    },
  });
  for (const subject of subjects) {
    run.emit(rowOf(subject, subjects, counts.get(subject) ?? null, knobs.curve, n));
  }
  given.destroy();
}

const medianOf = (times: readonly number[]): number => median(times) as number;

const rowOf = (
  { name, peer, direction, wallMs, gpuMs }: Subject,
  all: readonly Subject[],
  counts: FieldEngine['lastRun'],
  curve: string,
  n: number,
) => {
  const beside = all.find((each) => each.peer === 'ffjavascript' && each.direction === direction);
  return {
    ...{ event: 'transform' as const, field: `${curve}-fr`, logN: Math.log2(n), subject: name },
    // null for other libraries, without timestamps, and without a peer in the same direction
    arithmetic: counts?.arithmetic ?? null,
    ...{ wallMs, medianMs: medianOf(wallMs), gpuMs: gpuMs.length === 0 ? null : medianOf(gpuMs) },
    ...{ products: counts?.products ?? null, passes: counts?.passes ?? null },
    ofPeer: peer === null && beside !== undefined ? medianOf(wallMs) / medianOf(beside.wallMs) : null,
  };
};

function show(told: readonly StampedRow[]): Parts {
  const rows = rowsOf(told, 'transform');
  const [first] = rows;
  if (first === undefined) return [];
  const best = rows.filter(({ ofPeer }) => ofPeer !== null).sort((a, b) => b.logN - a.logN)[0];
  return [
    headline(
      best === undefined
        ? `Transforms in ${first.field}, ${first.arithmetic}`
        : `2^${best.logN} elements of ${best.field}: ${formatRatio(best.ofPeer as number)} of ffjavascript’s time`,
    ),
    notes(
      'Before it was timed, each size was compared with polynomials of BigInts at three places, and with its inverse.',
    ),
    tableOf(
      'Transforms',
      grouped(rows, ({ logN, subject }) => `${logN} ${subject}`).map((own) => own[0] as (typeof rows)[number]),
      [
        ['n', ({ logN }) => `2^${logN}`],
        ['Subject', ({ subject }) => subject],
        ['Arithmetic', ({ arithmetic }) => arithmetic ?? '–'],
        ['Median', ({ medianMs }) => formatMs(medianMs)],
        ['GPU', ({ gpuMs }) => (gpuMs == null ? '–' : formatMs(gpuMs))],
        ['÷ ffjavascript', ({ ofPeer }) => (ofPeer === null ? '–' : formatRatio(ofPeer))],
        ['Products', ({ products }) => (products === null ? '–' : products.toLocaleString('en'))],
        ['Passes', ({ passes }) => (passes == null ? '–' : String(passes))],
      ],
    ),
  ];
}
