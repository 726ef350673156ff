/** Random calls on one side, each of which is compared with the known result. */
import type { AffinePoint, Bases, MsmEngine, Priority } from '../../src/index.js';
import {
  type Coordinate,
  expectedMsm,
  type KnownBases,
  makeRandomScalars,
  type OracleCurve,
  type Random,
  samePoint,
} from '../oracle/known-bases.js';

/** An engine of one group, with its bases. */
export interface Side<Of extends Coordinate> {
  readonly oracle: OracleCurve<Of>;
  readonly engine: MsmEngine<Of>;
  readonly known: KnownBases<Of>;
  bases: Bases;
}

interface Vector {
  readonly vector: readonly bigint[];
  readonly offset: number;
}

interface CallOptions {
  readonly priority: Priority;
  readonly signal?: AbortSignal;
}

const priorities: readonly Priority[] = ['interactive', 'normal', 'background'];

/** One random call. Wrong results are added to `violations`. */
class RandomCall<Of extends Coordinate> {
  readonly #side: Side<Of>;
  readonly #random: Random;
  readonly #options: CallOptions;
  readonly #violations: string[];

  constructor(side: Side<Of>, random: Random, options: CallOptions, violations: string[]) {
    this.#side = side;
    this.#random = random;
    this.#options = options;
    this.#violations = violations;
  }

  async run(): Promise<void> {
    const kind = this.#random.below(64);
    if (kind === 0) await this.#replaceBases();
    else if (kind < 5) await this.#sumOverOwnBases();
    else if (kind < 8) await this.#side.engine.trim();
    else if (kind < 16) await this.#sumOfLoadedScalars();
    else if (kind < 28) await this.#batch();
    else await this.#sum();
  }

  #compare(what: string, got: AffinePoint<Of>, { vector, offset }: Vector): void {
    const { oracle, known } = this.#side;
    if (!samePoint(got, expectedMsm(oracle, known.logs.slice(offset), vector)))
      this.#violations.push(`${what} is wrong`);
  }

  /** Draws a vector, with sizes log-uniform in powers of two. */
  #draw(most: number): Vector {
    const { oracle, known } = this.#side;
    const random = this.#random;
    const length = Math.max(1, Math.floor(most * 2 ** -random.below(9)));
    const offset = random.below(known.logs.length - length + 1);
    return { vector: makeRandomScalars(oracle, length, random.below(2 ** 31)), offset };
  }

  /**
   * Replaces the bases. Running calls with the old ones may end with `destroyed`, so this kind is
   * rare.
   */
  async #replaceBases(): Promise<void> {
    const side = this.#side;
    const fresh = await side.engine.loadBases(side.known.bytes, this.#options);
    side.bases.destroy();
    side.bases = fresh;
  }

  async #sumOverOwnBases(): Promise<void> {
    const { engine, known } = this.#side;
    const drawn = this.#draw(known.logs.length >> 2);
    const from = drawn.offset * (known.bytes.length / known.logs.length);
    const others = await engine.loadBases(known.bytes.subarray(from), this.#options);
    try {
      this.#compare('a sum over bases of its own', await engine.msm(others, drawn.vector, this.#options), drawn);
    } finally {
      others.destroy();
    }
  }

  async #sumOfLoadedScalars(): Promise<void> {
    const { bases, engine, known } = this.#side;
    const drawn = this.#draw(known.logs.length);
    const { offset } = drawn;
    const loaded = await engine.loadScalars(drawn.vector, this.#options);
    const settled = await Promise.allSettled([
      engine.msm(bases, loaded, { ...this.#options, offset }),
      engine.msm(bases, loaded, { ...this.#options, offset }),
    ]);
    loaded.destroy();
    for (const each of settled) {
      if (each.status === 'rejected') throw each.reason;
      this.#compare('a sum of loaded scalars', each.value, drawn);
    }
  }

  async #batch(): Promise<void> {
    const { bases, engine, known } = this.#side;
    const drawn = Array.from({ length: 1 + this.#random.below(5) }, () => this.#draw(known.logs.length >> 3));
    const sums = await engine.msmBatch(
      bases,
      drawn.map(({ vector }) => vector),
      { ...this.#options, offsets: drawn.map(({ offset }) => offset) },
    );
    for (const [i, each] of drawn.entries()) this.#compare('a sum of a batch', sums[i] as AffinePoint<Of>, each);
  }

  async #sum(): Promise<void> {
    const { bases, engine, known } = this.#side;
    const drawn = this.#draw(known.logs.length);
    const { vector, offset } = drawn;
    this.#compare('a sum', await engine.msm(bases, vector, { ...this.#options, offset }), drawn);
  }
}

/** Makes a call of a random kind and priority, and aborts one in twelve. */
export async function randomCall<Of extends Coordinate>(
  side: Side<Of>,
  random: Random,
  violations: string[],
): Promise<void> {
  const priority = priorities[random.below(3)] as Priority;
  const controller = random.below(12) === 0 ? new AbortController() : null;
  if (controller !== null) setTimeout(() => controller.abort(), random.below(60));
  const options = { priority, ...(controller && { signal: controller.signal }) };
  await new RandomCall(side, random, options, violations).run();
}
