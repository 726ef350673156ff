/** Two engines in turn on the same inputs, and the device's rate of products beside them. */

import { median, type RatioOfMedians, ratioOfMedians } from '../bench/statistics.js';
import { type ScalarDistributionName, scalarDistributions } from '../cases/scalar-distributions.js';
import { ratesAround } from '../field-bench/product-meter.js';
import { bn254G1, expectedMsm } from '../oracle/known-bases.mjs';
import type { Contestant, Round, SideName } from './contestant.js';

export interface Timing {
  readonly ms: number;
  /** The mean of what was measured right before and right after. */
  readonly productsPerSecond: number;
}

/** A and B once each: the same scalars for both, one right after the other. */
export interface Pair {
  readonly first: SideName;
  readonly a: Timing;
  readonly b: Timing;
}

export interface SideSummary {
  readonly medianMs: number;
  /** The median over the pairs of wall × rate. */
  readonly productEquivalents: number;
}

export interface Comparison {
  /** Of the walls. */
  readonly walls: RatioOfMedians;
  /** Of the product equivalents. */
  readonly equivalents: RatioOfMedians;
  readonly a: SideSummary;
  readonly b: SideSummary;
  /** Median. */
  readonly productsPerSecond: number;
}

/** Makes the inputs of a round: other scalars for each index, as far as the distribution has others. */
export const roundMaker =
  (logs: readonly bigint[], scalars: ScalarDistributionName, seed: number) =>
  (name: string, index: number): Round => {
    const { values, bytes } = scalarDistributions[scalars].make(logs.length, seed + index);
    return { name, scalars: bytes, expected: expectedMsm(bn254G1, logs, values) };
  };

/**
 * A and B strictly in turn; who begins changes with every pair, so that neither always comes after the other. Between any two MSMs, and
 * before the first and after the last, stands a measurement of the product.
 */
export const runPairs = async (
  a: Contestant,
  b: Contestant,
  meter: { measure(): Promise<number> },
  reps: number,
  makeRound: (pair: number) => Round | Promise<Round>,
  onPair?: (pair: Pair, index: number) => void,
): Promise<Pair[]> => {
  const pairs: Pair[] = [];
  const rateAround = await ratesAround(meter);
  const time = async (contestant: Contestant, round: Round): Promise<Timing> => {
    const ms = await contestant.time(round);
    return { ms, productsPerSecond: await rateAround() };
  };
  for (let i = 0; i < reps; i++) {
    const round = await makeRound(i);
    const pair: Pair =
      i % 2 === 0
        ? { first: 'A', a: await time(a, round), b: await time(b, round) }
        : { first: 'B', b: await time(b, round), a: await time(a, round) };
    pairs.push(pair);
    onPair?.(pair, i);
  }
  return pairs;
};

/** @param pairs at least one */
export const summarise = (pairs: readonly Pair[], seed: number): Comparison => {
  const [a, b] = [pairs.map((pair) => pair.a), pairs.map((pair) => pair.b)];
  const walls = (timings: readonly Timing[]): number[] => timings.map(({ ms }) => ms);
  const equivalents = (timings: readonly Timing[]): number[] =>
    timings.map(({ ms, productsPerSecond }) => (ms / 1000) * productsPerSecond);
  const side = (timings: readonly Timing[]): SideSummary => ({
    medianMs: median(walls(timings)) as number,
    productEquivalents: median(equivalents(timings)) as number,
  });
  return {
    walls: ratioOfMedians(walls(a), walls(b), { seed }),
    equivalents: ratioOfMedians(equivalents(a), equivalents(b), { seed }),
    a: side(a),
    b: side(b),
    productsPerSecond: median([...a, ...b].map(({ productsPerSecond }) => productsPerSecond)) as number,
  };
};
