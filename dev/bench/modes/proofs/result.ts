/** What proofs come to: medians of either side, and whether the library keeps what it promises of them. */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import { formatMs } from '../../format.js';
import { type Parts, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { type Finding, notMeasured, ratioFinding } from '../targets/findings.js';
import { findingsTable } from '../targets/findings-table.js';
import type { Side } from './prover.js';

type Proof = RowOf<'proof'>;

const those = (rows: readonly Proof[], side: Side, ...when: readonly Proof['when'][]): readonly Proof[] =>
  rows.filter((row) => row.side === side && when.includes(row.when));

const msOf = (rows: readonly Proof[]): readonly number[] => rows.map(({ ms }) => ms);

const peakOf = (rows: readonly Proof[]): number | null =>
  rows.reduce<number | null>(
    (most, { peakBytes }) => (peakBytes === null ? most : Math.max(most ?? 0, peakBytes)),
    null,
  );

/** Of proofs of one size. */
export function judgeProofs(rows: readonly Proof[]): Finding[] {
  const [plain, ours] = (['plain', 'ours'] as const).map((side) => msOf(those(rows, side, 'in turns'))) as [
    readonly number[],
    readonly number[],
  ];
  const [first] = msOf(those(rows, 'ours', 'first'));
  const second = msOf(those(rows, 'ours', 'by itself'));
  const [before, after] = [
    peakOf(those(rows, 'plain', 'first', 'by itself')),
    peakOf(those(rows, 'ours', 'first', 'by itself')),
  ];
  const memory = 'peak memory of the process, with the library ÷ before it';
  return [
    {
      what: 'a proof, with the library ÷ snarkjs alone',
      // small ones are told for information
      target: (rows[0]?.logn ?? 0) >= TARGET.logn ? { most: TARGET.ratio } : null,
      ...ratioFinding(ratioOfMedians(plain, ours), ours.length),
    },
    {
      what: 'the second proof ÷ the first',
      target: { most: 1 },
      value: (second[0] ?? Number.NaN) / (first ?? Number.NaN),
    },
    before === null || after === null
      ? notMeasured(memory, { most: TARGET.memory }, 'nobody says what memory there is')
      : { what: memory, target: { most: TARGET.memory }, value: after / before },
  ];
}

/** What is promised, from this size on. */
const TARGET = { logn: 14, ratio: 0.7, memory: 1.5 };

const names: Readonly<Record<Side, string>> = { plain: 'snarkjs alone', ours: 'with the library' };

export function proofsResult(rows: readonly StampedRow[]): Parts {
  const told = rowsOf(rows, 'proof');
  const sizes = [...new Set(told.map(({ logn }) => logn))];
  const lines = sizes.flatMap((logn) =>
    (['plain', 'ours'] as const).flatMap((side) => {
      const own = told.filter((row) => row.logn === logn && row.side === side);
      const turns = those(own, side, 'in turns');
      if (turns.length === 0) return [];
      const peak = peakOf(those(own, side, 'first', 'by itself'));
      return [
        {
          ...{ logn, side, proofs: turns.length, constraints: turns[0]?.constraints ?? 0 },
          ms: median(msOf(turns)) as number,
          msmMs: median(turns.map(({ msmMs }) => msmMs)) as number,
          firstMs: msOf(those(own, side, 'first'))[0] ?? Number.NaN,
          peak: peak === null ? '' : (peak / 1e6).toFixed(0),
        },
      ];
    }),
  );
  if (lines.length === 0) return [];
  return [
    tableOf('Groth16 proofs, dense witness, medians of those in turns', lines, [
      ['Constraints', ({ constraints }) => constraints.toLocaleString('en')],
      ['Who', ({ side }) => names[side]],
      ['Proof, ms', ({ ms }) => ({ text: formatMs(ms), as: 'strong' })],
      ['of it MSMs, ms', ({ msmMs }) => formatMs(msmMs)],
      ['First, ms', ({ firstMs }) => formatMs(firstMs)],
      ['Peak, MB', ({ peak }) => peak],
      ['Proofs', ({ proofs }) => String(proofs)],
    ]),
    findingsTable('What is promised', rowsOf(rows, 'target')),
  ];
}
