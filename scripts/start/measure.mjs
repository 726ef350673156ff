/** One size of `npm start`: computes, checks every result, and gives the medians. */
import { performance } from 'node:perf_hooks';
import { bn254G1, encodeScalars, expectedMsm, makeRandomScalars, samePoint } from '../../dev/oracle/known-bases.mjs';

/** Added to the seed of the bases it gives that of the first run's scalars. */
const SCALAR_STREAM = 0x10000;

/**
 * @typedef {import('../../src/api.js').MsmEngine} MsmEngine
 * @typedef {import('../../dev/oracle/known-bases.mjs').KnownBases} KnownBases
 * @typedef {import('../../dev/oracle/known-bases.mjs').AffinePoint} AffinePoint
 *
 * @typedef {object} Measurement
 * @property {number} n
 * @property {number} wallMs median
 * @property {number[]} wallsMs of every repetition
 * @property {number} productEquivalents median of wall × the rate of the plain 13-bit product, measured before and after each
 * @property {import('../../src/api.js').RunRecord | null} lastRun
 * @property {{ name: string, ms: number }[] | null} phases medians, in the order in which they run
 * @property {number} scratchBytes
 * @property {number} basesBytes
 * @property {{ run: string, expected: AffinePoint, got: AffinePoint }[]} wrong the runs that disagreed with noble
 */

/**
 * @param {MsmEngine} engine
 * @param {KnownBases} known at least n of them
 * @param {{ n: number, reps: number, seed: number, precompute: number, ratesAround: () => Promise<() => Promise<number>>, progress: (text: string) => void }} options
 * @returns {Promise<Measurement>}
 */
export async function measure(engine, known, { n, reps, seed, precompute, ratesAround, progress }) {
  progress('loading the bases');
  const pointBytes = 2 * bn254G1.coordinateBytes;
  const bases = await engine.loadBases(known.bytes.subarray(0, n * pointBytes), { precompute });
  try {
    const basesBytes = bases.byteLength;
    const walls = [];
    const equivalents = [];
    /** @type {(() => Promise<number>) | null} */
    let rateAround = null;
    /** @type {Map<string, number[]> | null} */
    let phases = new Map();
    /** @type {Measurement['wrong']} */
    const wrong = [];
    for (let rep = 0; rep <= reps; rep++) {
      const run = rep === 0 ? 'warm-up' : `run ${rep} of ${reps}`;
      progress(run);
      // Other scalars each time, so that no run can pass by leaving the last one's result where it was; and another
      // stream than the bases', whose logarithms the scalars would else repeat.
      const scalars = makeRandomScalars(bn254G1, n, seed + SCALAR_STREAM + rep);
      const bytes = encodeScalars(bn254G1, scalars);

      const begun = performance.now();
      const got = await engine.msm(bases, bytes);
      const wall = performance.now() - begun;

      const expected = expectedMsm(bn254G1, known.logs, scalars);
      if (!samePoint(got, expected)) wrong.push({ run, expected, got });
      // after the warm-up
      if (rateAround === null) {
        rateAround = await ratesAround();
        continue;
      }
      walls.push(wall);
      equivalents.push((wall / 1000) * (await rateAround()));
      const timed = engine.lastRun?.phases ?? null;
      if (timed === null) phases = null;
      for (const { name, ms } of timed ?? []) phases?.set(name, [...(phases.get(name) ?? []), ms]);
    }
    return {
      n,
      wallMs: median(walls),
      wallsMs: walls,
      productEquivalents: median(equivalents),
      lastRun: engine.lastRun,
      phases: phases && [...phases].map(([name, times]) => ({ name, ms: median(times) })),
      scratchBytes: engine.memory.scratch,
      basesBytes,
      wrong,
    };
  } finally {
    bases.destroy();
  }
}

/** @param {number[]} values at least one */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ i) => sorted[i] ?? Number.NaN;
  return (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
}
