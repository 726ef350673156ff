/** Rows and report of `proofs`: medians of each prover. */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatMs } from '../../format.js';
import { headline, type Part, type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { grouped, intervalText, speedText } from '../../summary.js';
import { type Side, type System, sideNames, sides, type Witness } from './prover.js';

declare module '../../rows.js' {
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
  ];
}
