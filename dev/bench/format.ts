/** Formats numbers, names and tables for the page and for terminals. */
import type { AdapterDescription } from '../../src/api/device.js';
import type { Environment, RowOf } from './rows.js';
import type { MsmBench } from './run.js';

/**
 * Formats a table for terminals, with columns as wide as their content.
 *
 * @param lines the heads, then the rows
 * @param words number of columns from the left with text, which is left-aligned; numbers are
 *   right-aligned
 */
export function tableLines(lines: readonly (readonly string[])[], words = 1): string[] {
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const cell = (text: string, i: number): string =>
    i < words ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return lines.map((line) => line.map(cell).join('   ').trimEnd());
}

/** Returns the table without columns that are empty in every row. */
export const withoutEmpty = (lines: readonly (readonly string[])[]): string[][] => {
  const [, ...rows] = lines;
  return lines.map((line) => line.filter((_, i) => rows.some((each) => each[i] !== '–')));
};

/** Formats milliseconds with three significant digits; from 100 on without decimals. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms >= 100) return Math.round(ms).toLocaleString('en');
  return ms.toFixed(ms >= 10 ? 1 : 2);
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Formats a power of two as `2¹²`, any other number in full. */
export function shortSize(n: number): string {
  const log = Math.log2(n);
  if (n <= 1 || !Number.isInteger(log)) return n.toLocaleString('en');
  return `2${String(log).replace(/\d/g, (digit) => superscripts[Number(digit)] as string)}`;
}

/** Formats a power of two as `2¹² = 4,096`, any other number alone. */
export function formatSize(n: number): string {
  const [short, size] = [shortSize(n), n.toLocaleString('en')];
  return short === size ? size : `${short} = ${size}`;
}

export function formatBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(0)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** Returns whether a run opened no GPU: the CPU engine reports the vendor `cpu`. */
export const isCpu = ({ vendor }: Pick<AdapterDescription, 'vendor'>): boolean => vendor === 'cpu';

export function describeAdapter({ vendor, architecture, device, description }: AdapterDescription): string {
  const parts = [vendor, architecture, device, description].filter((part) => part !== '');
  return parts.length === 0 ? 'an adapter without a name' : [...new Set(parts)].join(' · ');
}

/** Formats the remaining time of a run, rounded to the precision of the estimate. */
function formatTimeLeft(seconds: number): string {
  if (seconds < 2) return 'a moment left';
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  return seconds < 5400 ? `about ${Math.round(seconds / 60)} min left` : `about ${(seconds / 3600).toFixed(1)} h left`;
}

/**
 * Formats the current step for a status line: the remaining work and time first, as a terminal cuts
 * the end, and the duration of the step if it is long.
 */
export function formatProgress({ doing, done, total, stepSeconds, secondsLeft }: Readonly<MsmBench>): string {
  if (doing === '') return '';
  const since = stepSeconds < 1 ? '' : ` (${Math.floor(stepSeconds)} s)`;
  const left = secondsLeft === null ? '' : `, ${formatTimeLeft(secondsLeft)}`;
  return `${done} of ${total} done${left}: ${doing} …${since}`;
}

/** Formats nanoseconds as the step of a clock. */
function formatStep(ns: number): string {
  if (ns < 1000) return `${ns} ns`;
  return ns < 1e6 ? `${Number((ns / 1000).toPrecision(3))} µs` : `${Number((ns / 1e6).toPrecision(3))} ms`;
}

/** Formats a ratio as `1.2` or `43`. */
export const formatRatio = (ratio: number): string =>
  ratio >= 10 ? Math.round(ratio).toLocaleString('en') : ratio.toPrecision(2);

/** Formats a factor as `1.004`, `1.24`, `3.2` or `43`: near 1 with more decimals. */
export const formatFactor = (factor: number): string =>
  factor < 2 ? factor.toFixed(factor < 1.02 ? 3 : 2) : formatRatio(factor);

/**
 * Formats a comparison as `1.24 × faster` or `1.24 × slower`.
 *
 * @param ratio time of the other, divided by the time of the subject
 */
export const formatSpeed = (ratio: number): string =>
  ratio >= 1 ? `${formatFactor(ratio)} × faster` : `${formatFactor(1 / ratio)} × slower`;

export const formatPercent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** Formats a rate in millions a second, with three digits. */
export const formatMillions = (perSecond: number | null): string =>
  perSecond === null ? '–' : Number((perSecond / 1e6).toPrecision(3)).toLocaleString('en');

/** Formats a peak of field-bench: bytes a second for a copy, operations a second for all else. */
export const formatPeak = (operation: string, perSecond: number): string =>
  operation === 'copy' ? `${(perSecond / 1e9).toPrecision(3)} GB/s` : `${formatMillions(perSecond)} M/s`;

/** Formats a share of the peak. Above 1, the measured peak is not a limit. */
export const formatOfPeak = (ofPeak: number | null): string =>
  ofPeak === null ? '–' : ofPeak > 1 ? 'no limit' : formatPercent(ofPeak);

/** Formats the resolution of the GPU's timestamps. */
function formatClock({ timestamps, timestampQuantumNs }: Environment): string {
  if (!timestamps) return 'no timestamps: total times only';
  return timestampQuantumNs === null
    ? 'timestamps do not tick'
    : `timestamps tick in steps of ${formatStep(timestampQuantumNs)}`;
}

/** Formats the runtime with its operating system, and the GPU's clock if a GPU was opened. */
export const formatRuntime = ({ adapter, environment }: RowOf<'init'>): string =>
  [`${environment.runtime}, ${environment.os}`, isCpu(adapter) ? [] : formatClock(environment)].flat().join('; ');

/** Formats the environment of a run: adapter or CPU, runtime, operating system and clock. */
export const placeOf = (init: RowOf<'init'>): string => {
  const { adapter, environment } = init;
  const cores = environment.cores == null ? '' : `, ${environment.cores} logical cores`;
  const where = isCpu(adapter)
    ? `CPU${cores}, no GPU opened`
    : `${describeAdapter(adapter)}, ${adapter.software ? 'software' : 'hardware'}`;
  return `${where}; ${formatRuntime(init)}`;
};
