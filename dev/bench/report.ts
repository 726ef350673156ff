/** A run as text, for terminals. */
import { parseCaseAddress } from '../cases/address.js';
import {
  describeAdapter,
  formatBytes,
  formatClock,
  formatMillions,
  formatMs,
  formatOfPeak,
  formatPeak,
  formatPercent,
  shortSize,
} from './format.js';
import { passed } from './msm-cross-check.js';
import type { StampedRow } from './rows.js';
import { fastestOf, summarise, summarisePeers } from './summary.js';
import { comparisonWords, standingWords } from './words.js';

const pad = (cells: readonly (readonly string[])[]): string[] => {
  const columns = cells[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('   ')
      .trimEnd(),
  );
};

/** Columns with nothing in any row say nothing. */
const withoutEmpty = (table: readonly (readonly string[])[]): string[][] => {
  const [, ...rows] = table;
  return table.map((row) => row.filter((_, i) => rows.some((each) => each[i] !== '–')));
};

const of = <Event extends StampedRow['event']>(rows: readonly StampedRow[], event: Event) =>
  rows.filter((row): row is Extract<StampedRow, { event: Event }> => row.event === event);

function place(rows: readonly StampedRow[]): string[] {
  return of(rows, 'init').map(({ adapter, environment }) => {
    const kind = adapter.software ? 'software' : 'hardware';
    return `adapter: ${describeAdapter(adapter)}, ${kind}; ${environment.runtime}, ${environment.os}; ${formatClock(environment)}`;
  });
}

function times(rows: readonly StampedRow[]): string[] {
  const timed = summarise(rows);
  if (timed.length === 0) return [];
  const peers = summarisePeers(rows);
  const names = [...new Set(peers.map(({ peer }) => peer))];
  const heads = ['n', 'setting', 'median, ms', 'from', 'to', 'GPU, ms', 'encode', 'to result', 'read back'];
  const table = [
    [...heads, ...names.map((name) => `${name}, ms`), 'of the roofline', 'M products', 'scratch', 'answer'],
  ];
  for (const each of timed) {
    const { n, setting, medianMs, lowMs, highMs, gpuMs, walls, bound, productEquivalents, warmUp, wrong } = each;
    table.push([
      shortSize(n),
      setting,
      formatMs(medianMs),
      formatMs(lowMs),
      formatMs(highMs),
      formatMs(gpuMs),
      formatMs(walls?.encodeMs ?? null),
      formatMs(walls?.submitToResultMs ?? null),
      formatMs(walls?.readBackMs ?? null),
      ...names.map((name) => {
        const peer = peers.find((other) => other.peer === name && other.case === each.case);
        return peer?.wrong === true ? 'WRONG' : formatMs(peer?.medianMs ?? null);
      }),
      bound === null || medianMs === null ? '–' : formatPercent(bound.ms / medianMs),
      productEquivalents === null ? '–' : (productEquivalents / 1e6).toPrecision(3),
      warmUp === null ? '–' : formatBytes(warmUp.scratchBytes),
      wrong ? 'WRONG' : 'right',
    ]);
  }
  const phased = timed.filter(({ phases }) => phases !== null);
  const passes = [...new Set(phased.flatMap(({ phases }) => (phases ?? []).map(({ name }) => name)))];
  const labels = phased.map(({ n, setting }) =>
    timed.some((each) => each.setting !== setting) ? `${shortSize(n)}, ${setting}` : shortSize(n),
  );
  const shares = passes.map((name) => [
    name,
    ...phased.map(({ phases }) => formatMs(phases?.find((phase) => phase.name === name)?.ms ?? null)),
  ]);
  return [
    ...pad(withoutEmpty(table)),
    ...(shares.length === 0 ? [] : ['', ...pad([['pass, ms', ...labels], ...shares])]),
  ];
}

/** Of a sweep, who is fastest at each size; and what could not be had, or was not on the GPU. */
function remarks(rows: readonly StampedRow[]): string[] {
  const timed = summarise(rows);
  const swept = of(rows, 'init').some(({ mode }) => mode === 'sweep');
  const lines = [...new Set(timed.map(({ n }) => n))].flatMap((n) => {
    const own = timed.filter((each) => each.n === n);
    const fastest = swept && own.length > 1 ? fastestOf(own) : null;
    return fastest === null
      ? []
      : [`${shortSize(n)}: ${fastest.best.setting} is ${standingWords(fastest, own.length)}`];
  });
  const clamped = timed.flatMap(({ setting, n, warmUp }) =>
    (warmUp?.clamped ?? []).map((what) => `${shortSize(n)}, ${setting}: this device could not have it: ${what}`),
  );
  const onCpu = timed
    .filter(({ on }) => on === 'cpu')
    .map(({ setting, n }) => `${shortSize(n)}, ${setting}: computed on the CPU (cpubelow)`);
  const all = [...lines, ...clamped, ...onCpu];
  return all.length === 0 ? [] : ['', ...all];
}

function comparisons(rows: readonly StampedRow[]): string[] {
  return of(rows, 'comparison').flatMap((row) => {
    const { verdict, joint, detail } = comparisonWords(row);
    return ['', `${shortSize(row.n)}, A: ${row.a}, B: ${row.b}`, `${verdict}${joint}${detail}`];
  });
}

function cases(rows: readonly StampedRow[]): string[] {
  const all = of(rows, 'case');
  if (all.length === 0) return [];
  const failed = all.filter((row) => !passed(row));
  const lines = failed.map((row) => {
    const { points, scalars, n, seed } = parseCaseAddress(row.case);
    return `WRONG: ${points} × ${scalars}, n = ${n}, seed ${seed}, ${row.placement} scratch: ${row.error ?? 'another answer'}`;
  });
  return [`${all.length - failed.length} of ${all.length} checks passed`, ...lines];
}

function trials(rows: readonly StampedRow[]): string[] {
  const [chosen] = of(rows, 'calibrated');
  if (chosen === undefined) return [];
  const spell = (tuning: object): string =>
    Object.entries(tuning)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ') || 'defaults';
  const tried = of(rows, 'trial').map(({ tuning, ms }) => [
    spell(tuning),
    ms === null ? 'wrong, or impossible' : formatMs(ms),
  ]);
  return [...pad([['setting', 'ms'], ...tried]), '', `chosen: ${spell(chosen.tuning)}`];
}

function rates(rows: readonly StampedRow[]): string[] {
  const fields = of(rows, 'field');
  if (fields.length === 0) return [];
  return [
    ...pad([
      ['operation', 'variant', 'chains', 'M/s', 'of the peak', 'compile, ms'],
      ...fields.map(({ operation, variant, chains, perSecond, ofPeak, compileMs }) => [
        operation,
        variant,
        String(chains),
        formatMillions(perSecond),
        formatOfPeak(ofPeak),
        compileMs.toFixed(0),
      ]),
    ]),
    '',
    ...pad(of(rows, 'peak').map(({ operation, perSecond }) => [operation, formatPeak(operation, perSecond)])),
  ];
}

/** What a run came to, line by line. */
export function reportLines(rows: readonly StampedRow[]): string[] {
  const skipped = of(rows, 'skipped').map(({ variant, why }) => `left out: ${variant}: ${why}`);
  const body = [times, remarks, comparisons, cases, trials, rates].flatMap((part) => part(rows));
  return [...place(rows), '', ...body, ...(skipped.length === 0 ? [] : ['', ...skipped])];
}
