/**
 * Random load for a while: engines of both groups on one device, with budgets; sums of all sizes and priorities, batches, loaded scalars, bases that come
 * and go, aborts, refusals. Every result is compared with the known one, and the memory with what was given.
 */
import {
  type AffinePoint,
  type Bases,
  createMsmEngine,
  type EngineStats,
  type Fp2,
  type MsmEngine,
  MsmError,
  type Priority,
  type Tuning,
} from '../../src/index.js';
import { oracleOf } from '../oracle/curves.js';
import {
  type Coordinate,
  expectedMsm,
  type KnownBases,
  makeKnownBases,
  makeRandomScalars,
  type OracleCurve,
  Random,
  samePoint,
} from '../oracle/known-bases.js';
import { watchBytes } from './watch-bytes.js';

export interface SoakOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Calls under way and waiting, at most. */
  readonly concurrency: number;
  /** Points of a group's bases. */
  readonly points: number;
  /** Bytes of all that engines may hold on the device. */
  readonly deviceBudget: number;
  /** Told now and then. */
  onTell?(told: SoakTold): void;
}

/** What came of it so far. */
export interface SoakTold {
  readonly seconds: number;
  readonly calls: number;
  /** Calls that rejected as they should, by code. */
  readonly rejected: Readonly<Record<string, number>>;
  readonly peakBytes: number;
  /** Times at which engines held more than they were given; and results that were wrong. */
  readonly violations: readonly string[];
  readonly frees: number;
  readonly stats: readonly EngineStats[];
}

interface Side<Of extends Coordinate> {
  readonly oracle: OracleCurve<Of>;
  readonly engine: MsmEngine<Of>;
  readonly known: KnownBases<Of>;
  bases: Bases;
}

const priorities: readonly Priority[] = ['interactive', 'normal', 'background'];

/** Submits of some ten milliseconds on SwiftShader, so that many calls have several. */
const tuning: Partial<Tuning> = { additionsPerSubmit: 2 ** 15 };

/** No call takes so long that is not forgotten, on any device. */
const STALL_MS = 60_000;

/** Expected rejections: aborted by us, and refused by `maxQueued`. */
const meant: readonly string[] = ['aborted', 'overloaded', 'destroyed'];

const openSide = async <Of extends Coordinate>(
  oracle: OracleCurve<Of>,
  engine: MsmEngine<Of>,
  points: number,
): Promise<Side<Of>> => {
  const known = makeKnownBases(oracle, points, 71);
  return { oracle, engine, known, bases: await engine.loadBases(known.bytes) };
};

/** @returns what came of it; `violations` is empty where all was as it should be */
export const soak = async (device: GPUDevice, options: SoakOptions): Promise<SoakTold> => {
  const { seed, seconds, concurrency, points, deviceBudget, onTell } = options;
  const random = new Random(seed);
  const watched = watchBytes(device);
  const own = { device, deviceBudget, tuning, maxQueued: { calls: concurrency } };
  const g1 = await openSide(
    oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve,
    await createMsmEngine({ ...own, curve: 'bn254' }),
    points,
  );
  const g2 = await openSide(
    oracleOf({ curve: 'bn254', group: 'g2' }) as unknown as OracleCurve<Fp2>,
    await createMsmEngine({ ...own, curve: 'bn254', group: 'g2', backend: 'gpu' }),
    points >> 2,
  );
  const violations: string[] = [];
  const rejected: Record<string, number> = {};
  let [calls, saidAt] = [0, 0];
  const begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) / 1000;
  const told = (): SoakTold => ({
    ...{ seconds: elapsed(), calls, rejected, violations, peakBytes: watched.peak, frees: watched.frees },
    stats: [g1.engine.stats, g2.engine.stats],
  });

  /** One call of a random kind on a side, whose result has to be right. */
  const call = async <Of extends Coordinate>(side: Side<Of>): Promise<void> => {
    const { oracle, engine, known } = side;
    const priority = priorities[random.below(3)] as Priority;
    const controller = random.below(12) === 0 ? new AbortController() : null;
    const common = { priority, ...(controller && { signal: controller.signal }) };
    if (controller !== null) setTimeout(() => controller.abort(), random.below(60));
    const compare = (what: string, got: AffinePoint<Of>, vector: readonly bigint[], offset: number): void => {
      if (!samePoint(got, expectedMsm(oracle, known.logs.slice(offset), vector))) violations.push(`${what} is wrong`);
    };
    const draw = (most: number): { readonly vector: bigint[]; readonly offset: number } => {
      // as many small ones as large ones
      const length = Math.max(1, Math.floor(most * 2 ** -random.below(9)));
      const offset = random.below(known.logs.length - length + 1);
      return { vector: makeRandomScalars(oracle, length, random.below(2 ** 31)), offset };
    };
    const { bases } = side;
    const kind = random.below(64);
    if (kind === 0) {
      const fresh = await engine.loadBases(known.bytes, common);
      // calls that have it already may end with `destroyed`: so this is seldom
      side.bases.destroy();
      side.bases = fresh;
    } else if (kind < 5) {
      const { vector, offset } = draw(known.logs.length >> 2);
      const from = offset * (known.bytes.length / known.logs.length);
      const others = await engine.loadBases(known.bytes.subarray(from), common);
      try {
        compare('a sum over bases of its own', await engine.msm(others, vector, common), vector, offset);
      } finally {
        others.destroy();
      }
    } else if (kind < 8) {
      await engine.trim();
    } else if (kind < 16) {
      const { vector, offset } = draw(known.logs.length);
      const loaded = await engine.loadScalars(vector, common);
      const twice = [
        engine.msm(bases, loaded, { ...common, offset }),
        engine.msm(bases, loaded, { ...common, offset }),
      ];
      const settled = await Promise.allSettled(twice);
      loaded.destroy();
      for (const each of settled) {
        if (each.status === 'rejected') throw each.reason;
        compare('a sum of loaded scalars', each.value, vector, offset);
      }
    } else if (kind < 28) {
      const drawn = Array.from({ length: 1 + random.below(5) }, () => draw(known.logs.length >> 3));
      const sums = await engine.msmBatch(
        bases,
        drawn.map(({ vector }) => vector),
        { ...common, offsets: drawn.map(({ offset }) => offset) },
      );
      for (const [i, { vector, offset }] of drawn.entries()) {
        compare('a sum of a batch', sums[i] as AffinePoint<Of>, vector, offset);
      }
    } else {
      const { vector, offset } = draw(known.logs.length);
      compare('a sum', await engine.msm(bases, vector, { ...common, offset }), vector, offset);
    }
  };

  const caller = async (): Promise<void> => {
    while (elapsed() < seconds && violations.length === 0) {
      try {
        await (random.below(3) === 0 ? call(g2) : call(g1));
      } catch (error) {
        const code = error instanceof MsmError ? error.code : String(error);
        rejected[code] = (rejected[code] ?? 0) + 1;
        if (!meant.includes(code)) violations.push(`a call rejected with ${String(error)}`);
      }
      calls++;
      if (watched.peak > deviceBudget) violations.push(`${watched.peak} bytes were held, of ${deviceBudget}`);
      if (elapsed() - saidAt >= 30) {
        saidAt = elapsed();
        onTell?.(told());
      }
    }
  };
  // a timer, too, without which Node would end, and well, where nothing is left that could wake a caller
  let stalled: ReturnType<typeof setInterval> | undefined;
  const forgotten = new Promise<void>((resolve) => {
    let [seen, since] = [calls, performance.now()];
    stalled = setInterval(() => {
      if (calls !== seen) [seen, since] = [calls, performance.now()];
      if (performance.now() - since < STALL_MS) return;
      violations.push(`no call ended in ${STALL_MS / 1000} seconds: ${JSON.stringify(told().stats)}`);
      resolve();
    }, 1000);
  });
  await Promise.race([forgotten, Promise.all(Array.from({ length: concurrency }, caller))]);
  clearInterval(stalled);
  const stats = [g1.engine.stats, g2.engine.stats];
  for (const { waiting, running } of stats) {
    if (waiting + running > 0) violations.push(`${waiting} calls wait and ${running} run, and nobody called`);
  }
  for (const { engine, known } of [g1, g2]) {
    const { bases, scalars } = engine.memory;
    if (bases !== known.bytes.length) violations.push(`${bases} bytes of bases are left, of ${known.bytes.length}`);
    if (scalars > 0) violations.push(`${scalars} bytes of scalars are left`);
  }
  const result = told();
  for (const { engine } of [g1, g2]) engine.destroy();
  if (watched.bytes > 0) violations.push(`${watched.bytes} bytes were left behind`);
  return result;
};
