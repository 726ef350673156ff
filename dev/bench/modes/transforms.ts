/** `transforms`: times number-theoretic transforms of the CPU beside those of ffjavascript. */
import { median } from '../../../src/calibrate/statistics.js';
import { createFieldEngine, type FieldEngine, type FieldName, type FieldVector } from '../../../src/fields.js';
import { inNode } from '../../peers/ffjavascript.js';
import { makeTheirTransforms, type TheirTransforms } from '../../peers/ffjavascript-transforms.js';
import { openBenchCpu } from '../bench-setup.js';
import type { Host } from '../environment.js';
import { formatMs, formatRatio, shortSize } from '../format.js';
import { interleave } from '../interleave.js';
import type { Knobs } from '../knobs.js';
import { headline, notes, type Parts, tableOf } from '../parts.js';
import { rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import { grouped } from '../summary.js';
import { benchMode } from './mode.js';

declare module '../rows.js' {
  interface Rows {
    /** Timed transforms of one size by one subject, whose results were right. */
    readonly transform: {
      readonly field: string;
      readonly logN: number;
      readonly subject: string;
      /** Arithmetic of the library; null for others. */
      readonly arithmetic: string | null;
      readonly wallMs: readonly number[];
      readonly medianMs: number;
      /** Products of elements; null for others. */
      readonly products: number | null;
      /** Median divided by that of ffjavascript's transform in the same direction; null without. */
      readonly ofPeer: number | null;
    };
  }
}

export const transforms = benchMode({
  title: 'Transforms',
  about:
    'times number-theoretic transforms on the CPU, on one thread, beside ffjavascript: what does a polynomial cost?',
  takes: '5 to 30 s',
  example: 'transforms --logn 12,14,16,18 --reps 9',
  limits: 'ffjavascript exists in Node only, and has BN254 and BLS12-381.',
  runsOn: 'cpu',
  uses: ['curve', 'logn', 'reps'],
  engine: [],
  defaults: { reps: 9, logn: [12, 14, 16] },
  knobs: {},
  run: runTransforms,
  show,
});

/** One way to transform the same vector. */
interface Subject {
  readonly name: string;
  readonly direction: 'ntt' | 'intt';
  run(): Promise<FieldVector | null>;
  readonly wallMs: number[];
  /** Products of elements of a run of the library. */
  products: number | null;
}

async function runTransforms(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const setup = await openBenchCpu(run, host, knobs);
  const { curve } = knobs;
  const sizes = knobs.cases.map(({ address }) => address.n);
  run.plan(sizes.map((n) => n));
  const fr = await createFieldEngine({ field: `${curve}-fr` as FieldName });
  const theirs = inNode ? await makeTheirTransforms(curve) : null;
  try {
    for (const n of sizes) await measure({ run, knobs, fr, theirs }, n);
  } finally {
    fr.destroy();
    setup.destroy();
  }
  await run.end(null);
}

interface Bench {
  readonly run: Run;
  readonly knobs: Knobs;
  readonly fr: FieldEngine;
  readonly theirs: TheirTransforms | null;
}

/** Returns the value of a polynomial by BigInts. */
const valueAt = (p: bigint, coefficients: readonly bigint[], x: bigint): bigint =>
  coefficients.reduceRight((sum, c) => (sum * x + c) % p, 0n);

const numbersIn = (bytes: Uint8Array, numberBytes: number): bigint[] =>
  Array.from({ length: bytes.length / numberBytes }, (_, i) =>
    bytes.subarray(i * numberBytes, (i + 1) * numberBytes).reduceRight((sum, byte) => (sum << 8n) + BigInt(byte), 0n),
  );

/** Fails unless a transform has the right values at three places, and its inverse is the input. */
const assertRight = async (
  fr: FieldEngine,
  given: FieldVector,
  input: readonly bigint[],
  root: bigint,
): Promise<void> => {
  const { p, numberBytes } = fr;
  const there = await fr.run((ops) => ops.keep(ops.ntt(given)));
  const back = await fr.run((ops) => ops.keep(ops.intt(there)));
  const [values, again] = [numbersIn(await fr.read(there), numberBytes), numbersIn(await fr.read(back), numberBytes)];
  const n = input.length;
  let isRight = again.every((value, i) => value === input[i]);
  for (const index of new Set([0, 1 % n, n - 1])) {
    let x = 1n;
    for (let bit = 1n << 30n, exponent = BigInt(index); bit > 0n; bit >>= 1n) {
      x = (x * x) % p;
      if (exponent & bit) x = (x * root) % p;
    }
    isRight &&= values[index] === valueAt(p, input, x);
  }
  there.destroy();
  back.destroy();
  if (!isRight) throw new Error(`a transform of ${n} elements is wrong`);
};

async function measure({ run, knobs, fr, theirs }: Bench, n: number): Promise<void> {
  const logN = Math.log2(n);
  await run.next(`Transforms of ${shortSize(n)}`);
  const input = Array.from({ length: n }, (_, i) => (BigInt(i + 1) ** 31n + BigInt(i) * 0x1234_5678_9abc_def0n) % fr.p);
  const given = await fr.load(input);
  const root = await rootOf(fr, n);
  await assertRight(fr, given, input, root);
  const own = (name: string, direction: Subject['direction'], options: object): Subject => ({
    ...{ name, direction, wallMs: [], products: null },
    run: () => fr.run((ops) => ops.keep(ops[direction](given, options))),
  });
  const subjects: Subject[] = [
    own('webgpu-msm, natural to reversed', 'ntt', { to: 'reversed' }),
    own('webgpu-msm, natural to natural', 'ntt', {}),
    own('webgpu-msm, reversed to natural', 'intt', { from: 'reversed' }),
  ];
  if (theirs !== null) {
    const buffer = await theirs.enter(await fr.read(given));
    for (const direction of ['ntt', 'intt'] as const) {
      const transform = async (): Promise<null> => {
        await theirs[direction](buffer);
        return null;
      };
      subjects.push({ name: 'ffjavascript', direction, wallMs: [], products: null, run: transform });
    }
  }
  for (const subject of subjects) (await subject.run())?.destroy();
  await interleave(subjects, knobs.reps, {
    async take(subject) {
      run.signal.throwIfAborted();
      const begun = performance.now();
      const made = await subject.run();
      subject.wallMs.push(performance.now() - begun);
      if (made !== null) subject.products = fr.lastRun?.products ?? null;
      made?.destroy();
      run.tick();
    },
  });
  const medianOf = (times: readonly number[]): number => median(times) as number;
  for (const { name, direction, wallMs, products } of subjects) {
    const isOwn = name !== 'ffjavascript';
    const peer = subjects.find((each) => each.name === 'ffjavascript' && each.direction === direction);
    run.emit({
      ...{ event: 'transform', field: `${knobs.curve}-fr`, logN, wallMs, medianMs: medianOf(wallMs) },
      subject: isOwn ? name : `ffjavascript, ${direction === 'ntt' ? 'fft' : 'ifft'}`,
      arithmetic: isOwn ? (fr.lastRun?.arithmetic ?? null) : null,
      products,
      ofPeer: isOwn && peer !== undefined ? medianOf(wallMs) / medianOf(peer.wallMs) : null,
    });
  }
  given.destroy();
}

/** Returns the root of unity that the engine transforms with: its values of the polynomial x. */
async function rootOf(fr: FieldEngine, n: number): Promise<bigint> {
  if (n === 1) return 1n;
  const x = await fr.load(Array.from({ length: n }, (_, i) => (i === 1 ? 1n : 0n)));
  const values = await fr.run((ops) => ops.keep(ops.ntt(x)));
  const bytes = await fr.read(values);
  x.destroy();
  values.destroy();
  return numbersIn(bytes.subarray(0, 2 * fr.numberBytes), fr.numberBytes)[1] as bigint;
}

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
    notes('One thread. Before it was timed, each size was compared with polynomials of BigInts at three places.'),
    tableOf(
      'Transforms',
      grouped(rows, ({ logN, subject }) => `${logN} ${subject}`).map((own) => own[0] as (typeof rows)[number]),
      [
        ['n', ({ logN }) => `2^${logN}`],
        ['Subject', ({ subject }) => subject],
        ['Arithmetic', ({ arithmetic }) => arithmetic ?? '–'],
        ['Median', ({ medianMs }) => formatMs(medianMs)],
        ['÷ ffjavascript', ({ ofPeer }) => (ofPeer === null ? '–' : formatRatio(ofPeer))],
        ['Products', ({ products }) => (products === null ? '–' : products.toLocaleString('en'))],
      ],
    ),
  ];
}
