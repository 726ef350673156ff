/** What a comparison says, in words: the same on the page and in a terminal. */
import type { ComparisonRow } from './rows.js';
import { leastPairs } from './statistics.js';

/** @returns the verdict, and what it rests on */
export function comparisonWords({ a, b, walls, pairs }: ComparisonRow): { verdict: string; detail: string } {
  const { ratio, low, high, verdict } = walls;
  const interval = `ratio of the medians, B ÷ A: ${ratio.toFixed(3)}; 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}, bootstrap over ${pairs} pairs`;
  switch (verdict) {
    case 'A is faster':
      return { verdict, detail: `${b} takes ${ratio.toFixed(2)} times as long as ${a} (${interval})` };
    case 'B is faster':
      return { verdict, detail: `${a} takes ${(1 / ratio).toFixed(2)} times as long as ${b} (${interval})` };
    case 'no difference':
      return { verdict: 'No difference', detail: `that these pairs show: the interval has 1 in it (${interval})` };
    case 'too few pairs':
      return {
        verdict: 'Too few pairs',
        detail: `for a verdict: ${pairs}, and ${leastPairs} are needed (${interval})`,
      };
  }
}
