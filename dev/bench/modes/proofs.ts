/**
 * `proofs`: times proofs of snarkjs without and with the library, and those of the library alone,
 * and measures the memory of the former.
 */
import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import type { ProvingKeyOptions } from '../../../src/groth16.js';
import type { Bench } from '../bench-setup.js';
import { formatMs } from '../format.js';
import { type Knobs, knob, parseIntegers, type Values, wordKnob, wordsKnob } from '../knob.js';
import { engineOptions, interleave, weightOf } from '../measure.js';
import { headline, type Part, type Parts, tableOf } from '../parts.js';
import { type Host, type RowOf, rowsOf, type StampedRow } from '../rows.js';
import type { Setting } from '../settings.js';
import { grouped, intervalText, speedText } from '../summary.js';
import { benchMode } from './mode.js';
import {
  openProver,
  provers,
  type Side,
  type System,
  sideNames,
  sides,
  systems,
  type Witness,
  witnessKnob,
} from './proofs/prover.js';
import { type ProofGraph, type ProofPart, predictMs } from './proofs/spread.js';

declare module '../rows.js' {
  interface Rows {
    readonly proof: {
      /** Absent in old rows, which are of Groth16. */
      readonly system?: System;
      /** Absent in old rows, which are of dense ones. */
      readonly witness?: Witness;
      /** Logarithm of the size of the domain. */
      readonly logn: number;
      readonly constraints: number;
      readonly side: Side;
      /**
       * `first`: the first proof of a side, which loads what it keeps. `by itself`: before the
       * other sides are opened, or after it. `in turns`: all sides interleaved.
       */
      readonly when: 'first' | 'by itself' | 'in turns';
      readonly repetition: number;
      /**
       * Milliseconds, for first proofs, from the opening of the library or its key to the end of the
       * proof. snarkjs opens nothing before. Absent in old rows.
       */
      readonly sinceOpeningMs?: number;
      readonly ms: number;
      /** Milliseconds of the proof that MSMs took; null if they overlap with other parts. */
      readonly msmMs: number | null;
      /**
       * Peak memory of the process during the proof, with what sides before it hold; null if
       * unknown.
       */
      readonly peakBytes: number | null;
    };
    /** Proofs made at once, as a proving service makes them; all verified. */
    readonly proving: {
      readonly system: System;
      readonly witness?: Witness;
      readonly logn: number;
      readonly side: Side;
      readonly concurrency: number;
      readonly repetition: number;
      readonly ms: number;
      readonly secondsPerProof: number;
    };
    /** A proof of the library alone on some threads of the CPU; all numbers of threads in turns. */
    readonly proofThreads: {
      readonly system: System;
      readonly witness: Witness;
      readonly logn: number;
      readonly threads: number;
      readonly repetition: number;
      readonly ms: number;
      /** Time that threads without overhead would take, from the parts of a proof on one. */
      readonly predictedMs: number;
    };
    /** Parts of a proof of the library alone on one thread of the CPU, and the rest. */
    readonly proofGraph: ProofGraph & {
      readonly system: System;
      readonly witness: Witness;
      readonly logn: number;
    };
  }
}

type Proof = RowOf<'proof'>;

const select = (rows: readonly Proof[], side: Side, ...when: readonly Proof['when'][]): readonly Proof[] =>
  rows.filter((row) => row.side === side && when.includes(row.when));

const msOf = (rows: readonly Proof[]): readonly number[] => rows.map(({ ms }) => ms);

const peakOf = (rows: readonly Proof[]): number | null =>
  rows.reduce<number | null>(
    (most, { peakBytes }) => (peakBytes === null ? most : Math.max(most ?? 0, peakBytes)),
    null,
  );

/** Rows without a system are of Groth16. */
const systemOf = (rows: readonly Proof[]): System => rows[0]?.system ?? 'groth16';

const titles: Readonly<Record<System, string>> = { groth16: 'Groth16', plonk: 'PLONK', fflonk: 'FFLONK' };

/** Reports proofs at once: seconds a proof, as a proving service counts them. */
function provingTable(rows: readonly RowOf<'proving'>[]): Part | null {
  if (rows.length === 0) return null;
  const levels = grouped(rows, ({ logn, concurrency }) => `${logn} ${concurrency}`).map((own) => {
    const secondsOf = (side: Side): number[] =>
      own.filter((row) => row.side === side).map(({ secondsPerProof }) => secondsPerProof);
    return {
      ...{ first: own[0] as RowOf<'proving'>, plain: secondsOf('plain') },
      ...{ ours: secondsOf('ours'), whole: secondsOf('whole') },
    };
  });
  const middle = (values: readonly number[]): string => median(values)?.toFixed(3) ?? '–';
  return tableOf('Proofs at once: seconds a proof, medians', levels, [
    ['Domain', ({ first }) => `2^${first.logn}`],
    ['Proofs at once', ({ first }) => String(first.concurrency)],
    [sideNames.plain, ({ plain }) => middle(plain)],
    [sideNames.ours, ({ ours }) => ({ text: middle(ours), as: 'strong' })],
    [sideNames.whole, ({ whole }) => middle(whole)],
    ['With ÷ alone', ({ plain, ours }) => ratioOfMedians(plain, ours).ratio.toFixed(3)],
    ['95 % CI', ({ plain, ours }) => intervalText(ratioOfMedians(plain, ours), 3)],
  ]);
}

/** Reports the parts of a proof on one thread. */
function partsTable(rows: readonly RowOf<'proofGraph'>[]): Part | null {
  if (rows.length === 0) return null;
  const msOf = ({ parts }: ProofGraph, kind: ProofPart['kind']): number =>
    parts.reduce((sum, part) => sum + (part.kind === kind ? part.ms : 0), 0);
  return tableOf('Parts of a proof of the library alone on one thread', rows, [
    ['Domain', ({ logn }) => `2^${logn}`],
    ['Vectors, ms', (row) => formatMs(msOf(row, 'vectors'))],
    ['Sums, ms', (row) => formatMs(msOf(row, 'sum'))],
    ['Rest, ms', ({ restMs }) => formatMs(restMs)],
  ]);
}

/** Reports proofs by numbers of threads, beside the prediction from the parts of a proof on one. */
function threadsTable(rows: readonly RowOf<'proofThreads'>[]): Part | null {
  if (rows.length === 0) return null;
  const lines = grouped(rows, ({ logn, threads }) => `${logn} ${threads}`).map((of) => {
    const first = of[0] as RowOf<'proofThreads'>;
    const ofOne = rows.filter(({ logn, threads }) => logn === first.logn && threads === 1).map(({ ms }) => ms);
    return { ...first, times: of.map(({ ms }) => ms), ofOne };
  });
  return tableOf('Proofs of the library alone by threads, medians of the interleaved repetitions', lines, [
    ['Domain', ({ logn }) => `2^${logn}`],
    ['Threads', ({ threads }) => String(threads)],
    ['Proof, ms', ({ times }) => ({ text: formatMs(median(times)), as: 'strong' })],
    ['Predicted, ms', ({ predictedMs }) => formatMs(predictedMs)],
    ['Measured ÷ predicted', ({ times, predictedMs }) => ((median(times) ?? Number.NaN) / predictedMs).toFixed(2)],
    ['÷ one thread', ({ times, ofOne }) => ratioOfMedians(ofOne, times).ratio.toFixed(3)],
    ['95 % CI', ({ times, ofOne }) => intervalText(ratioOfMedians(ofOne, times), 3)],
  ]);
}

/** Returns the sentence that says what a user of the library gains, at one size. */
function resultOf(rows: readonly Proof[], logn: number): string {
  const own = rows.filter((row) => row.logn === logn);
  const timesOf = (side: Side): readonly number[] => msOf(select(own, side, 'in turns'));
  const compared = sides.slice(1).flatMap((side) => {
    const times = timesOf(side);
    return times.length === 0
      ? []
      : `${sideNames[side]} ${formatMs(median(times))} ms, ${speedText(times, timesOf('plain'), sideNames.plain)}`;
  });
  const constraints = (own[0]?.constraints ?? 0).toLocaleString('en');
  return `A ${titles[systemOf(own)]} proof of ${constraints} constraints takes snarkjs alone ${formatMs(median(timesOf('plain')))} ms; ${compared.join('; ')}.`;
}

export function proofsResult(rows: readonly StampedRow[]): Parts {
  const told = rowsOf(rows, 'proof');
  const sizes = [...new Set(told.map(({ logn }) => logn))];
  const lines = sizes.flatMap((logn) =>
    sides.flatMap((side) => {
      const own = told.filter((row) => row.logn === logn && row.side === side);
      const interleaved = select(own, side, 'in turns');
      if (interleaved.length === 0) return [];
      const peak = peakOf(select(own, side, 'first', 'by itself'));
      return [
        {
          ...{ logn, side, proofs: interleaved.length, constraints: interleaved[0]?.constraints ?? 0 },
          ms: median(msOf(interleaved)) as number,
          msmMs: median(interleaved.flatMap(({ msmMs }) => (msmMs === null ? [] : [msmMs]))),
          firstMs: select(own, side, 'first').map(({ sinceOpeningMs, ms }) => sinceOpeningMs ?? ms)[0] ?? Number.NaN,
          peak: peak === null ? '' : (peak / 1e6).toFixed(0),
        },
      ];
    }),
  );
  if (lines.length === 0) return [];
  return [
    headline(resultOf(told, sizes.at(-1) as number)),
    tableOf(
      `${titles[systemOf(told)]} proofs with a ${told[0]?.witness ?? 'dense'} witness, medians of the interleaved repetitions`,
      lines,
      [
        ['Constraints', ({ constraints }) => constraints.toLocaleString('en')],
        ['Prover', ({ side }) => sideNames[side]],
        ['Proof, ms', ({ ms }) => ({ text: formatMs(ms), as: 'strong' })],
        ['MSMs of the proof, ms', ({ msmMs }) => (msmMs === null ? '' : formatMs(msmMs))],
        ['First, with opening, ms', ({ firstMs }) => formatMs(firstMs)],
        ['Peak memory, MB', ({ peak }) => peak],
        ['Proofs', ({ proofs }) => String(proofs)],
      ],
    ),
    provingTable(rowsOf(rows, 'proving')),
    partsTable(rowsOf(rows, 'proofGraph')),
    threadsTable(rowsOf(rows, 'proofThreads')),
  ];
}

const own = {
  system: wordKnob(['Proof system', 'Proof system of snarkjs.'], systems, 'groth16'),
  witness: witnessKnob,
  provers: wordsKnob(
    [
      'Compare with',
      'Provers that snarkjs alone is compared with: snarkjs with the library’s MSMs (accelerated), and the library alone. The first proof of the first one finds nothing compiled.',
    ],
    provers,
    'accelerated,library',
  ),
  concurrency: knob(
    ['Callers', 'Also makes so many proofs at once, by each prover in turns: 1,5,10,20.'],
    '1 to 1000, or a list',
    'no such proofs',
    (text, name) => parseIntegers(name, text, 1, 1000),
    (): readonly number[] => [],
  ),
  threads: knob(
    [
      'Threads',
      'Also makes proofs by the library alone on so many threads of the CPU, in turns, and predicts their times: 1,2,4,8.',
    ],
    '1 to 64, or a list',
    'no such proofs',
    (text, name) => parseIntegers(name, text, 1, 64),
    (): readonly number[] => [],
  ),
};

type ProofKnobs = Knobs & Values<typeof own>;

export const proofs = benchMode({
  title: 'Proofs',
  about: 'times proofs by snarkjs, with and without the library, and by the library alone, in turns',
  takes: '1 to 2 min',
  example: 'proofs --logn 14 --system plonk --concurrency 1,5,10,20',
  limits: 'The witness is part of the input: it is not timed.',
  nodeOnly: 'it needs snarkjs and reads the memory of the process; examples/prover/ is a page that proves',
  runsOn: 'either',
  uses: ['curve', 'logn', 'reps'],
  engine: ['backend', 'workers'],
  defaults: { logn: [14] },
  knobs: own,
  run: runProofs,
  show: proofsResult,
});

/** Milliseconds between two samples of memory. */
const LOOK_MS = 5;

/**
 * Runs `work` and returns the peak memory of the process meanwhile; null where memory is unknown.
 */
async function watchPeak<Result>({ usedBytes }: Host, work: () => Promise<Result>) {
  let peak = usedBytes?.() ?? null;
  const sample = (): void => {
    if (usedBytes && peak !== null) peak = Math.max(peak, usedBytes());
  };
  const timer = setInterval(sample, LOOK_MS);
  try {
    const result = await work();
    sample();
    return { result, peak };
  } finally {
    clearInterval(timer);
  }
}

const sidesOf = ({ provers: asked }: Pick<ProofKnobs, 'provers'>): readonly Side[] => [
  'plain',
  ...(asked ?? provers).map((prover): Side => (prover === 'accelerated' ? 'ours' : 'whole')),
];

async function runProofs(bench: Bench, knobs: ProofKnobs): Promise<null> {
  const { run } = bench;
  const sizes = knobs.cases.map(({ address }) => Math.round(Math.log2(address.n)));
  const { concurrency, reps, threads } = knobs;
  const { length } = sidesOf(knobs);
  run.plan(
    sizes.flatMap((logn) => [
      ...Array(length * (2 * reps + 1)).fill(weightOf(2 ** logn)),
      ...concurrency.flatMap((callers) => Array(length * reps).fill(callers * weightOf(2 ** logn))),
      ...Array(threads.length * reps).fill(weightOf(2 ** logn)),
    ]),
  );
  for (const logn of sizes) await measure(bench, knobs, logn);
  return null;
}

async function measure(bench: Bench, knobs: ProofKnobs, logn: number): Promise<void> {
  const { run, host } = bench;
  const { concurrency, curve, reps, settings, system, threads, witness } = knobs;
  await run.next(`Making keys for a domain of 2^${logn}`);
  const sides = sidesOf(knobs);
  const prover = await openProver(curve, logn, () => run.tick(), system, witness);
  const measureThreads = async (options: ProvingKeyOptions): Promise<void> => {
    await run.next(`2^${logn}: parts of a proof on one thread`);
    const graph = await prover.trace(options);
    run.emit({ event: 'proofGraph', system, witness, logn, ...graph });
    for (const count of threads) await prover.openOn(count, options);
    await interleave(threads, reps, {
      async take(count, repetition) {
        await run.next(`2^${logn}, ${count} threads: repetition ${repetition} of ${reps}`);
        const { ms } = await prover.prove('whole', 1, count);
        const told = { system, witness, logn, threads: count, repetition, ms };
        run.emit({ event: 'proofThreads', ...told, predictedMs: predictMs(graph, count) });
        run.advance(weightOf(2 ** logn));
      },
    });
  };
  const prove = async (when: RowOf<'proof'>['when'], side: Side, repetition: number, openMs = 0): Promise<void> => {
    await run.next(`2^${logn}, ${sideNames[side]}: proof ${repetition} (${when})`);
    const { result, peak } = await watchPeak(host, () => prover.prove(side));
    const { constraints } = prover;
    const told = { system, witness, logn, constraints, side, when, repetition };
    const row = {
      event: 'proof',
      ...told,
      ...result,
      peakBytes: peak,
      ...(when === 'first' && { sinceOpeningMs: openMs + result.ms }),
    } as const;
    run.emit(row);
    run.advance(weightOf(2 ** logn));
  };
  try {
    // memory of snarkjs alone is measured before the library is loaded
    await prove('first', 'plain', 1);
    for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', 'plain', repetition);
    const options = engineOptions(bench, { ...(settings[0] as Setting), memoryBudget: null });
    for (const side of sides.slice(1)) {
      // proofs by snarkjs alone would warn that they bypass the library
      const quiet = { ...options, onWarning: () => {} };
      const begun = performance.now();
      await (side === 'ours' ? prover.accelerate(quiet) : prover.open(options));
      await prove('first', side, 1, performance.now() - begun);
      for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', side, repetition);
    }
    await interleave(sides, reps, { take: (side, repetition) => prove('in turns', side, repetition) });
    for (const callers of concurrency) {
      await interleave(sides, reps, {
        async take(side, repetition) {
          await run.next(
            `2^${logn}, ${callers} proofs at once, ${sideNames[side]}: repetition ${repetition} of ${reps}`,
          );
          const { ms } = await prover.prove(side, callers);
          const told = { system, witness, logn, side, concurrency: callers, repetition, ms };
          run.emit({ event: 'proving', ...told, secondsPerProof: ms / 1000 / callers });
          run.advance(callers * weightOf(2 ** logn));
        },
      });
    }
    if (threads.length > 0) await measureThreads(options);
  } finally {
    await prover.close();
  }
}
