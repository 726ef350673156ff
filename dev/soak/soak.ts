/**
 * Soak test: random load for a while. Engines of both groups and of vectors share one device, with
 * budgets. Calls are sums of all sizes and priorities, batches, loaded scalars, replaced bases, and
 * transforms whose results are summed; some are aborted or refused. Every result is compared with
 * the known one, and memory with the budget.
 */
import { createFieldEngine } from '../../src/fields.js';
import { createMsmEngine, type EngineStats, type Fp2, type MsmEngine, MsmError, type Tuning } from '../../src/index.js';
import { oracleOf } from '../oracle/curves.js';
import { type Coordinate, makeKnownBases, type OracleCurve, Random } from '../oracle/known-bases.js';
import { randomCall, type Side } from './random-call.js';
import { VectorSide } from './vector-call.js';
import { type WatchedBytes, watchBytes } from './watch-bytes.js';

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

class Soak {
  readonly violations: string[] = [];
  readonly #options: SoakOptions;
  readonly #watched: WatchedBytes;
  readonly #random: Random;
  readonly #g1: Side<bigint>;
  readonly #g2: Side<Fp2>;
  readonly #vectors: VectorSide;
  readonly #rejected: Record<string, number> = {};
  readonly #begun = performance.now();
  #calls = 0;
  #saidAt = 0;

  constructor(
    options: SoakOptions,
    watched: WatchedBytes,
    random: Random,
    { g1, g2, vectors }: { readonly g1: Side<bigint>; readonly g2: Side<Fp2>; readonly vectors: VectorSide },
  ) {
    this.#options = options;
    this.#watched = watched;
    this.#random = random;
    this.#g1 = g1;
    this.#g2 = g2;
    this.#vectors = vectors;
  }

  get state(): SoakTold {
    const { violations } = this;
    const { peak, frees } = this.#watched;
    return {
      ...{ seconds: this.#elapsed(), calls: this.#calls, rejected: this.#rejected, violations },
      ...{ peakBytes: peak, frees },
      stats: [this.#g1.engine.stats, this.#g2.engine.stats],
    };
  }

  /** Runs all callers until the time is over, something fails, or no call ends any more. */
  async run(): Promise<void> {
    // the timer also keeps Node alive, which would otherwise exit with success if all callers
    // waited forever
    let timer: ReturnType<typeof setInterval> | undefined;
    const stalled = new Promise<void>((resolve) => {
      let [seen, since] = [this.#calls, performance.now()];
      timer = setInterval(() => {
        if (this.#calls !== seen) [seen, since] = [this.#calls, performance.now()];
        if (performance.now() - since < STALL_MS) return;
        const stats = JSON.stringify(this.state.stats);
        this.violations.push(`no call ended in ${STALL_MS / 1000} seconds: ${stats}`);
        resolve();
      }, 1000);
    });
    const callers = Array.from({ length: this.#options.concurrency }, () => this.#call());
    await Promise.race([stalled, Promise.all(callers)]);
    clearInterval(timer);
  }

  /** Checks that no calls and no memory are left. */
  checkEnd(): void {
    for (const { waiting, running } of this.state.stats) {
      if (waiting + running > 0) this.violations.push(`${waiting} calls wait and ${running} run after the last call`);
    }
    for (const { engine, known } of [this.#g1, this.#g2]) {
      const { bases, scalars } = engine.memory;
      if (bases !== known.bytes.length)
        this.violations.push(`${bases} bytes of bases are left, of ${known.bytes.length}`);
      if (scalars > 0) this.violations.push(`${scalars} bytes of scalars are left`);
    }
    const { engine } = this.#vectors;
    engine.trim();
    if (engine.memory.used > 0) this.violations.push(`${engine.memory.used} bytes of vectors are left`);
  }

  #elapsed(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  async #call(): Promise<void> {
    const { seconds, deviceBudget, onTell } = this.#options;
    const random = this.#random;
    while (this.#elapsed() < seconds && this.violations.length === 0) {
      try {
        const kind = random.below(12);
        if (kind === 0) await this.#vectors.call(random, this.violations);
        else if (kind < 5) await randomCall(this.#g2, random, this.violations);
        else await randomCall(this.#g1, random, this.violations);
      } catch (error) {
        this.#countRejection(error);
      }
      this.#calls++;
      const { peak } = this.#watched;
      if (peak > deviceBudget) this.violations.push(`${peak} bytes were held, of ${deviceBudget}`);
      if (this.#elapsed() - this.#saidAt >= 30) {
        this.#saidAt = this.#elapsed();
        onTell?.(this.state);
      }
    }
  }

  #countRejection(error: unknown): void {
    const code = error instanceof MsmError ? error.code : String(error);
    this.#rejected[code] = (this.#rejected[code] ?? 0) + 1;
    if (!expectedCodes.includes(code)) this.violations.push(`a call rejected with ${String(error)}`);
  }
}

/** Runs a soak test. @returns its final state, without `violations` if all was as expected */
export const soak = async (device: GPUDevice, options: SoakOptions): Promise<SoakTold> => {
  const { seed, concurrency, points, deviceBudget } = options;
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
  const vectors = new VectorSide(await createFieldEngine({ field: 'bn254-fr', deviceOf: g1.engine }), g1);
  const running = new Soak(options, watched, new Random(seed), { g1, g2, vectors });
  await running.run();
  running.checkEnd();
  const result = running.state;
  for (const { engine } of [vectors, g1, g2]) engine.destroy();
  if (watched.bytes > 0) running.violations.push(`${watched.bytes} bytes were left behind`);
  return result;
};
