/** Positions and texts of the labels of logarithmic axes. */

/** Width of a label, in CSS pixels. */
const LABEL_WIDTH = 40;

/** Returns evenly spaced powers of two for the labels of a logarithmic axis, as many as fit. */
export function sizeTicks(min: number, max: number, width: number): number[] {
  const octaves = Math.log2(max / min);
  const step = [1, 2, 4, 8].find((candidate) => (candidate * width) / octaves >= LABEL_WIDTH) ?? 16;
  const ticks: number[] = [];
  for (let log = Math.ceil(Math.log2(min) / step) * step; 2 ** log <= max; log += step) ticks.push(2 ** log);
  return ticks;
}

/** Returns the decades between two times; over a short range also 2 and 5 times them. */
export function timeTicks(min: number, max: number): number[] {
  const factors = max / min < 200 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let log = Math.floor(Math.log10(min)); 10 ** log <= max; log++)
    for (const factor of factors) ticks.push(Number((factor * 10 ** log).toPrecision(3)));
  return ticks.filter((tick) => tick >= min && tick <= max);
}

/** Formats milliseconds as `1 ms`, `10 ms` or `1 s`. */
export const timeLabel = (ms: number): string =>
  ms >= 1000
    ? `${(ms / 1000).toLocaleString('en')} s`
    : `${ms.toLocaleString('en', { maximumSignificantDigits: 3 })} ms`;
