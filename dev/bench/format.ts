/** Numbers and names as the bench writes them. */
import type { AdapterDescription } from '../../src/api/device.js';
import type { Environment } from './environment.js';
import type { RowOf } from './rows.js';
import type { MsmBench } from './run.js';

/** Milliseconds with three significant digits, but no digits behind the point from 100 on. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms >= 100) return Math.round(ms).toLocaleString('en');
  return ms.toFixed(ms >= 10 ? 1 : 2);
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `2¹²`, or the number where it is no power of two. */
export function shortSize(n: number): string {
  const log = Math.log2(n);
  if (n <= 1 || !Number.isInteger(log)) return n.toLocaleString('en');
  return `2${String(log).replace(/\d/g, (digit) => superscripts[Number(digit)] as string)}`;
}

/** `2¹² = 4,096`, or the number alone. */
export function formatSize(n: number): string {
  const [short, size] = [shortSize(n), n.toLocaleString('en')];
  return short === size ? size : `${short} = ${size}`;
}

export function formatBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(0)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** Whether a run opened no GPU: the library's CPU engine calls its adapter so. */
export const isCpu = ({ vendor }: Pick<AdapterDescription, 'vendor'>): boolean => vendor === 'cpu';

export function describeAdapter({ vendor, architecture, device, description }: AdapterDescription): string {
  const parts = [vendor, architecture, device, description].filter((part) => part !== '');
  return parts.length === 0 ? 'an adapter without a name' : [...new Set(parts)].join(' · ');
}

/** What is left of a run, as roughly as it is known. */
export function formatTimeLeft(seconds: number): string {
  if (seconds < 2) return 'a moment left';
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  return seconds < 5400 ? `about ${Math.round(seconds / 60)} min left` : `about ${(seconds / 3600).toFixed(1)} h left`;
}

/** What goes on, for a line that is written anew: how long it takes already, where that is long, and what is left. */
export function formatProgress({ doing, done, total, stepSeconds, secondsLeft }: Readonly<MsmBench>): string {
  if (doing === '') return '';
  const since = stepSeconds < 1 ? '' : ` (${Math.floor(stepSeconds)} s)`;
  const left = secondsLeft === null ? '' : `, ${formatTimeLeft(secondsLeft)}`;
  return `${doing} …${since} ${done} of ${total} done${left}`;
}

/** Nanoseconds as a step of a clock. */
export function formatStep(ns: number): string {
  if (ns < 1000) return `${ns} ns`;
  return ns < 1e6 ? `${Number((ns / 1000).toPrecision(3))} µs` : `${Number((ns / 1e6).toPrecision(3))} ms`;
}

/** `1.2`, `43`: how many times as long. */
export const formatRatio = (ratio: number): string =>
  ratio >= 10 ? Math.round(ratio).toLocaleString('en') : ratio.toPrecision(2);

export const formatPercent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** A rate in millions a second, to three digits. */
export const formatMillions = (perSecond: number | null): string =>
  perSecond === null ? '–' : Number((perSecond / 1e6).toPrecision(3)).toLocaleString('en');

/** What field-bench calls a peak: a copy is of bytes, all else of operations. */
export const formatPeak = (operation: string, perSecond: number): string =>
  operation === 'copy' ? `${(perSecond / 1e9).toPrecision(3)} GB/s` : `${formatMillions(perSecond)} M/s`;

/** A share of the peak; one above 1 says that what was measured as the peak is none. */
export const formatOfPeak = (ofPeak: number | null): string =>
  ofPeak === null ? '–' : ofPeak > 1 ? 'no bound' : formatPercent(ofPeak);

/** What the clock of the GPU is worth. */
export function formatClock({ timestamps, timestampQuantumNs }: Environment): string {
  if (!timestamps) return 'no timestamps: wall times only';
  return timestampQuantumNs === null
    ? 'timestamps do not tick'
    : `timestamps tick in steps of ${formatStep(timestampQuantumNs)}`;
}

/** The runtime with its system, and the clock of the GPU where one was opened. */
export const formatRuntime = ({ adapter, environment }: RowOf<'init'>): string =>
  [`${environment.runtime}, ${environment.os}`, isCpu(adapter) ? [] : formatClock(environment)].flat().join('; ');

/** Where a run was: the adapter with its kind, or the CPU; the runtime with its system, and the clock. */
export const placeOf = (init: RowOf<'init'>): string => {
  const { adapter, environment } = init;
  const cores = environment.cores == null ? '' : `, ${environment.cores} logical cores`;
  const where = isCpu(adapter)
    ? `CPU${cores}, no GPU opened`
    : `${describeAdapter(adapter)}, ${adapter.software ? 'software' : 'hardware'}`;
  return `${where}; ${formatRuntime(init)}`;
};
