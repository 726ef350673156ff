/**
 * Soak test: random load for a while. Engines of both groups and of vectors share one device, with
 * budgets. Calls are sums of all sizes and priorities, batches, loaded scalars, replaced bases, and
 * transforms whose results are summed; some are aborted or refused. Every result is compared with
 * the known one, and memory, counted at the boundary of WebGPU, with the budget.
 */
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
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
import { FieldValues, numbersIn } from '../oracle/field-values.js';
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

/**
 * Counts the buffers of the library on a device at the boundary of the API, independently of the
 * library.
 */
interface WatchedBytes {
  /** Bytes now, and at most so far. */
  readonly bytes: number;
  readonly peak: number;
  /** Buffers created, and buffers destroyed. */
  readonly made: number;
  readonly frees: number;
}

/** Watches a device from now on. */
export const watchBytes = (device: GPUDevice): WatchedBytes => {
  const told = { bytes: 0, peak: 0, made: 0, frees: 0 };
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    told.made++;
    told.bytes += buffer.size;
    told.peak = Math.max(told.peak, told.bytes);
    const destroy = buffer.destroy.bind(buffer);
    let isAlive = true;
    buffer.destroy = () => {
      if (isAlive) {
        told.bytes -= buffer.size;
        told.frees++;
      }
      isAlive = false;
      return destroy();
    };
    return buffer;
  };
  return told;
};

interface Side<Of extends Coordinate> {
  readonly oracle: OracleCurve<Of>;
  readonly engine: MsmEngine<Of>;
  readonly known: KnownBases<Of>;
  bases: Bases;
}

interface Vector {
  readonly vector: readonly bigint[];
  readonly offset: number;
}

const priorities: readonly Priority[] = ['interactive', 'normal', 'background'];

/** Aborts one call in twelve. */
const drawSignal = (random: Random): { readonly signal?: AbortSignal } => {
  if (random.below(12) > 0) return {};
  const controller = new AbortController();
  setTimeout(() => controller.abort(), random.below(60));
  return { signal: controller.signal };
};

/** Makes a call of a random kind and priority. Wrong results are added to `violations`. */
async function randomCall<Of extends Coordinate>(side: Side<Of>, random: Random, violations: string[]): Promise<void> {
  const { oracle, engine, known, bases } = side;
  const options = { priority: priorities[random.below(3)] as Priority, ...drawSignal(random) };
  const { length } = known.logs;
  const compare = (what: string, got: AffinePoint<Of>, { vector, offset }: Vector): void => {
    if (!samePoint(got, expectedMsm(oracle, known.logs.slice(offset), vector))) violations.push(`${what} is wrong`);
  };
  /** Draws a vector, with sizes log-uniform in powers of two. */
  const draw = (most: number): Vector => {
    const n = Math.max(1, Math.floor(most * 2 ** -random.below(9)));
    const offset = random.below(length - n + 1);
    return { vector: makeRandomScalars(oracle, n, random.below(2 ** 31)), offset };
  };
  const calls = {
    // running calls with the old ones may end with `destroyed`, so this kind is rare
    async replaceBases() {
      const fresh = await engine.loadBases(known.bytes, options);
      // another call may have replaced them meanwhile
      side.bases.destroy();
      side.bases = fresh;
    },
    async sumOverOwnBases() {
      const drawn = draw(length >> 2);
      const from = drawn.offset * (known.bytes.length / length);
      const others = await engine.loadBases(known.bytes.subarray(from), options);
      try {
        compare('a sum over bases of its own', await engine.msm(others, drawn.vector, options), drawn);
      } finally {
        others.destroy();
      }
    },
    async sumOfLoadedScalars() {
      const drawn = draw(length);
      const { offset } = drawn;
      const loaded = await engine.loadScalars(drawn.vector, options);
      const settled = await Promise.allSettled([
        engine.msm(bases, loaded, { ...options, offset }),
        engine.msm(bases, loaded, { ...options, offset }),
      ]);
      loaded.destroy();
      for (const each of settled) {
        if (each.status === 'rejected') throw each.reason;
        compare('a sum of loaded scalars', each.value, drawn);
      }
    },
    async batch() {
      const drawn = Array.from({ length: 1 + random.below(5) }, () => draw(length >> 3));
      const vectors = drawn.map(({ vector }) => vector);
      const sums = await engine.msmBatch(bases, vectors, { ...options, offsets: drawn.map(({ offset }) => offset) });
      for (const [i, each] of drawn.entries()) compare('a sum of a batch', sums[i] as AffinePoint<Of>, each);
    },
    async sum() {
      const drawn = draw(length);
      compare('a sum', await engine.msm(bases, drawn.vector, { ...options, offset: drawn.offset }), drawn);
    },
  };
  const kind = random.below(64);
  if (kind === 0) await calls.replaceBases();
  else if (kind < 5) await calls.sumOverOwnBases();
  else if (kind < 8) await engine.trim();
  else if (kind < 16) await calls.sumOfLoadedScalars();
  else if (kind < 28) await calls.batch();
  else await calls.sum();
}

/** Largest log2 of the elements of a vector. */
const MOST_BITS = 9;

/** Makes a call on vectors beside sums. Wrong results are added to `violations`. */
async function vectorCall(
  engine: FieldEngine,
  side: Side<bigint>,
  random: Random,
  violations: string[],
): Promise<void> {
  const { engine: sums, known, oracle } = side;
  const field = new FieldValues(engine.p);
  const n = Math.min(2 ** random.below(MOST_BITS + 1), known.logs.length);
  const numbers = Array.from({ length: n }, () => random.belowBig(engine.p));
  const options = drawSignal(random);
  const verify = random.below(8) === 0;
  const a = await engine.load(numbers, options);
  let square: FieldVector | undefined;
  try {
    square = await engine.run(
      (ops) => {
        const values = ops.ntt(a, { to: 'reversed' });
        return ops.keep(ops.intt(ops.multiply(values, values), { from: 'reversed' }));
      },
      { ...options, verify },
    );
    const values = field.ntt(numbers, {});
    const expected = field.intt(field.multiply(values, values), {});
    const offset = random.below(known.logs.length - n + 1);
    const sum = await sums.msm(side.bases, square, { ...options, offset });
    if (!samePoint(sum, expectedMsm(oracle, known.logs.slice(offset), expected)))
      violations.push(`a sum of a vector of ${n} is wrong`);
    const read = numbersIn(await engine.read(square, options), engine.numberBytes);
    if (String(read) !== String(expected)) violations.push(`a vector of ${n} is wrong`);
  } finally {
    square?.destroy();
    a.destroy();
  }
  if (random.below(16) === 0) engine.trim();
}

interface SoakOptions {
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
