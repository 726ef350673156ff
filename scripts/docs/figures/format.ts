/** Writes measured values. */

/** A measured value, with its 95 % interval where there are enough pairs for one. */
export interface Measured {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

const grouped = (value: number, decimals: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

const short = (value: number): string => {
  const size = Math.abs(value);
  return grouped(value, size >= 9.95 || size === 0 ? 0 : size >= 0.995 ? 1 : size >= 0.095 ? 2 : 3);
};

const factor = (value: number): string => grouped(value, value >= 9.95 ? 0 : value >= 1.095 ? 1 : 2);

const interval = ({ low, high }: Measured, write: (value: number) => string): string =>
  low === undefined || high === undefined ? '' : ` (${write(low)} to ${write(high)})`;

const ratio = (value: number): string => grouped(value, value >= 9.95 ? 1 : 2);

/** Returns a ratio of times, ours ÷ theirs, as a sentence has it. */
const faster = ({ value, low, high }: Measured): string => {
  if (low !== undefined && high !== undefined && low <= 1 && high >= 1)
    return `no significant difference (${ratio(low)} to ${ratio(high)})`;
  return value < 1 ? `${factor(1 / value)} × faster` : `${factor(value)} × slower`;
};

/** Units and formats of figures. */
export const formats = {
  ms: ({ value }: Measured) => (value >= 10_000 ? `${grouped(value / 1000, 1)} s` : `${short(value)} ms`),
  seconds: ({ value }: Measured) => `${short(value)} s`,
  'ms as s': ({ value }: Measured) => `${grouped(value / 1000, 1)} s`,
  megabytes: ({ value }: Measured) => `${short(value)} MB`,
  'bytes as MB': ({ value }: Measured) => `${grouped(value / 1e6, 1)} MB`,
  'rate as M/s': ({ value }: Measured) => grouped(value / 1e6, 2),
  count: ({ value }: Measured) => grouped(value, 0),
  'count and tenths': ({ value }: Measured) => grouped(value, 1),
  percent: ({ value }: Measured) => `${grouped(100 * value, 100 * value < 9.95 ? 1 : 0)} %`,
  ratio: ({ value }: Measured) => ratio(value),
  'ratio and interval': (measured: Measured) => ratio(measured.value) + interval(measured, ratio),
  faster,
} as const satisfies Readonly<Record<string, (measured: Measured) => string>>;

export type FormatName = keyof typeof formats;

/** Returns the text of the least and greatest of some values: `1.7 to 2.4 × faster`. */
export const formatRange = (values: readonly Measured[], as: FormatName): string => {
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b);
  const [least, most] = [sorted[0] as number, sorted.at(-1) as number];
  if (as === 'faster' && most < 1) return `${factor(1 / most)} to ${factor(1 / least)} × faster`;
  const [from, to] = [formats[as]({ value: least }), formats[as]({ value: most })];
  const unit = / [^ ]+$/.exec(to)?.[0] ?? '';
  return `${unit !== '' && from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
};
