/** Many short vectors in one call, beside a call for each, in turn. */
import { samePoint } from '../../../dev/oracle/known-bases.mjs';
import { median } from '../../start/measure.mjs';
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';
import { SEED } from '../workbench.mjs';

const LOGN = 12;
const VECTORS = 10;
const TARGET = { most: 0.5 };

/** Away from the rounds that the stage has. */
const FIRST_ROUND = 100;

/** @satisfies {import('./all.mjs').Row} */
export const batch = {
  name: 'batch',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    if (bench.logn < LOGN) return null;
    const { engine, logs, points } = await bench.stage(2 ** LOGN);
    const bases = await engine.loadBases(points);
    const makeRound = bench.tools.roundMaker(logs, 'random', SEED);
    const rounds = Array.from({ length: VECTORS }, (_, i) => makeRound(`vector ${i}`, FIRST_ROUND + i));
    const vectors = rounds.map(({ scalars }) => scalars);
    const together = () => engine.msmBatch(bases, vectors);
    const oneByOne = async () => {
      const sums = [];
      for (const vector of vectors) sums.push(await engine.msm(bases, vector));
      return sums;
    };
    const time = async (/** @type {typeof together} */ compute, /** @type {string} */ how) => {
      const begun = performance.now();
      const sums = await compute();
      const ms = performance.now() - begun;
      const wrong = rounds.findIndex(({ expected }, i) => {
        const sum = sums[i];
        return sum === undefined || !samePoint(sum, expected);
      });
      // both are what the oracle says, and so the same
      if (wrong >= 0 || sums.length !== VECTORS) throw new Error(`WRONG: ${how}, vector ${wrong} of ${sums.length}`);
      return ms;
    };
    const sides = /** @type {const} */ ([
      { compute: oneByOne, how: 'ten calls', wallsMs: /** @type {number[]} */ ([]) },
      { compute: together, how: 'a batch', wallsMs: /** @type {number[]} */ ([]) },
    ]);
    bench.progress('batch: warming up');
    for (const { compute, how } of sides) await time(compute, how);
    for (let rep = 0; rep < bench.reps; rep++) {
      bench.progress(`batch: run ${rep + 1} of ${bench.reps}`);
      // who begins changes, so that neither always comes after the other
      for (const side of rep % 2 === 0 ? sides : sides.toReversed()) {
        side.wallsMs.push(await time(side.compute, side.how));
      }
    }
    bases.destroy();
    return { singleMs: sides[0].wallsMs, batchMs: sides[1].wallsMs };
  },

  /**
   * @param {{ singleMs: number[], batchMs: number[] } | null} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge(measured, { software }) {
    const what = `${VECTORS} vectors of ${stageName(LOGN)}: one batch ÷ ${VECTORS} calls`;
    const target = software ? null : TARGET;
    if (measured === null) return [notMeasured(what, target, needs(LOGN))];
    return [{ what, target, value: median(measured.batchMs) / median(measured.singleMs), unit: '×' }];
  },
};
