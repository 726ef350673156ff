/**
 * Soak test: random load for a while. Engines of both groups and of vectors share one device, with
 * budgets. Calls are sums of all sizes and priorities, batches, loaded scalars, replaced bases, and
 * transforms whose results are summed; some are aborted or refused. Every result is compared with
 * the known one, and memory with the budget.
 */
import { createFieldEngine, type FieldEngine } from '../../src/fields.js';
import { createMsmEngine, type EngineStats, type Fp2, type MsmEngine, MsmError, type Tuning } from '../../src/index.js';
import { oracleOf } from '../oracle/curves.js';
import { type Coordinate, makeKnownBases, type OracleCurve, Random } from '../oracle/known-bases.js';
import { randomCall, type Side, vectorCall } from './random-call.js';
import { watchBytes } from './watch-bytes.js';

export interface SoakOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Largest number of calls that run or wait. */
  readonly concurrency: number;
  /** Points of the bases of G1; G2 has a quarter. */
  readonly points: number;
  /** Bytes that all engines together may hold on the device. */
  readonly deviceBudget: number;
  /** Reports the state about every 30 seconds. */
  onTell?(told: SoakTold): void;
}

/** State of a soak test. */
export interface SoakTold {
  readonly seconds: number;
  readonly calls: number;
  /** Expected rejections by code. */
  readonly rejected: Readonly<Record<string, number>>;
  readonly peakBytes: number;
  /** Texts of wrong results, exceeded budgets and other failures. */
  readonly violations: readonly string[];
  readonly frees: number;
  readonly stats: readonly EngineStats[];
}

/** Submits of about ten milliseconds on SwiftShader, so that many calls have several. */
const tuning: Partial<Tuning> = { additionsPerSubmit: 2 ** 15 };

/** Time without any finished call after which a call counts as forgotten, on any device. */
const STALL_MS = 60_000;

/**
 * Codes of expected rejections: aborts, refusals by `maxQueued`, and calls whose bases were
 * replaced.
 */
const expectedCodes: readonly string[] = ['aborted', 'overloaded', 'destroyed'];

const openSide = async <Of extends Coordinate>(
  oracle: OracleCurve<Of>,
  engine: MsmEngine<Of>,
  points: number,
): Promise<Side<Of>> => {
  const known = makeKnownBases(oracle, points, 71);
  return { oracle, engine, known, bases: await engine.loadBases(known.bytes) };
};

/** Runs a soak test. @returns its final state, without `violations` if all was as expected */
export const soak = async (device: GPUDevice, options: SoakOptions): Promise<SoakTold> => {
  const { seed, seconds, concurrency, points, deviceBudget, onTell } = options;
  const random = new Random(seed);
  const watched = watchBytes(device);
  const own = { device, deviceBudget, tuning, maxQueued: { calls: concurrency } };
  const g1 = await openSide(
    oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve,
    await createMsmEngine({ ...own, curve: 'bn254', backend: 'both' }),
    points,
  );
  const g2 = await openSide(
    oracleOf({ curve: 'bn254', group: 'g2' }) as unknown as OracleCurve<Fp2>,
    await createMsmEngine({ ...own, curve: 'bn254', group: 'g2', backend: 'gpu' }),
    points >> 2,
  );
  const vectors = await createFieldEngine({ field: 'bn254-fr', deviceOf: g1.engine });

  const begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) / 1000;
  const violations: string[] = [];
  const rejected: Record<string, number> = {};
  let [calls, saidAt] = [0, 0];
  const state = (): SoakTold => ({
    ...{ seconds: elapsed(), calls, rejected, violations, peakBytes: watched.peak, frees: watched.frees },
    stats: [g1.engine.stats, g2.engine.stats],
  });
  const countRejection = (error: unknown): void => {
    const code = error instanceof MsmError ? error.code : String(error);
    rejected[code] = (rejected[code] ?? 0) + 1;
    if (!expectedCodes.includes(code)) violations.push(`a call rejected with ${String(error)}`);
  };
  const call = async (): Promise<void> => {
    const kind = random.below(12);
    if (kind === 0) await vectorCall(vectors, g1, random, violations);
    else if (kind < 5) await randomCall(g2, random, violations);
    else await randomCall(g1, random, violations);
  };
  const caller = async (): Promise<void> => {
    while (elapsed() < seconds && violations.length === 0) {
      await call().catch(countRejection);
      calls++;
      if (watched.peak > deviceBudget) violations.push(`${watched.peak} bytes were held, of ${deviceBudget}`);
      if (elapsed() - saidAt < 30) continue;
      saidAt = elapsed();
      onTell?.(state());
    }
  };
  await untilStalled(
    Promise.all(Array.from({ length: concurrency }, caller)),
    () => calls,
    () => violations.push(`no call ended in ${STALL_MS / 1000} seconds: ${JSON.stringify(state().stats)}`),
  );

  vectors.trim();
  const result = state();
  violations.push(...leftOvers(result.stats, [g1, g2], vectors));
  for (const engine of [vectors, g1.engine, g2.engine]) engine.destroy();
  if (watched.bytes > 0) violations.push(`${watched.bytes} bytes were left behind`);
  return result;
};

/** Waits for work, or until it makes no progress any more. */
async function untilStalled(work: Promise<unknown>, progress: () => number, onStall: () => void): Promise<void> {
  // the timer also keeps Node alive, which would otherwise exit with success if all callers waited
  // forever
  let timer: ReturnType<typeof setInterval> | undefined;
  const stalled = new Promise<void>((resolve) => {
    let [seen, since] = [progress(), performance.now()];
    timer = setInterval(() => {
      if (progress() !== seen) [seen, since] = [progress(), performance.now()];
      if (performance.now() - since < STALL_MS) return;
      onStall();
      resolve();
    }, 1000);
  });
  await Promise.race([stalled, work]);
  clearInterval(timer);
}

/** Returns texts about calls and memory that are left after the last call. */
const leftOvers = (
  stats: readonly EngineStats[],
  sides: readonly (Side<bigint> | Side<Fp2>)[],
  vectors: FieldEngine,
): string[] => [
  ...stats.flatMap(({ waiting, running }) =>
    waiting + running > 0 ? [`${waiting} calls wait and ${running} run after the last call`] : [],
  ),
  ...sides.flatMap(({ engine: { memory }, known: { bytes } }) => [
    ...(memory.bases === bytes.length ? [] : [`${memory.bases} bytes of bases are left, of ${bytes.length}`]),
    ...(memory.scalars > 0 ? [`${memory.scalars} bytes of scalars are left`] : []),
  ]),
  ...(vectors.memory.used > 0 ? [`${vectors.memory.used} bytes of vectors are left`] : []),
];
