/** Modes: kinds of calls with known results, into which faults are injected. */

import type { Bases } from '../../src/api/engine.js';
import type { AffinePoint } from '../../src/api/values.js';
import type { MsmEngineOptions } from '../../src/engine/options.js';
import { MsmError } from '../../src/errors.js';
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { createCheckedEngine } from '../checks/engine.js';
import { bls12381, bls12381Oracle } from '../oracle/curves.js';
import { FieldValues, numbersIn } from '../oracle/field-values.js';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  groupOrder,
  type KnownBases,
  makeKnownBases,
  type OracleCurve,
  type Random,
  samePoint,
} from '../oracle/known-bases.js';
import type { RecordingDevice } from './recording-device.js';

/** Returns whether the result is correct. It runs after the fault is over. */
type Judge = () => Promise<boolean>;

/** An engine of a mode, and its calls. */
export interface Subject {
  readonly engine: { readonly lastRun: object | null; destroy(): void };
  /**
   * Makes a call of the mode on random data. Its commands depend on n alone.
   *
   * @param broken true if the call must be refused, for modes with such calls
   * @throws the errors of the engine
   */
  call(random: Random, n: number, broken: boolean): Promise<Judge>;
}

export interface Mode {
  /** Smallest and largest number of scalars, or of points. */
  readonly sizes: readonly [number, number];
  /** Bytes of a point on the GPU. */
  readonly pointBytes: number;
  /** @param most largest number of scalars of a call */
  open(device: RecordingDevice, random: Random, most: number): Promise<Subject>;
}

/** Generator of the coset. */
const COSET = 7n;

const lengthOf = (n: number): number => 2 ** Math.ceil(Math.log2(n));

interface Numbers {
  readonly quotient: readonly bigint[];
  readonly inverses: readonly bigint[];
}

const compute = async (fr: FieldEngine, numbers: readonly bigint[]): Promise<Numbers> => {
  const a = await fr.load(numbers);
  const made = await fr.run((ops) => {
    const onCoset = ops.ntt(ops.intt(a, { to: 'reversed' }), { from: 'reversed', coset: COSET });
    return {
      quotient: ops.keep(ops.multiplySubtract(onCoset, onCoset, ops.prefixProduct(a))),
      inverses: ops.keep(ops.gather(ops.invert(a), [...numbers.keys()].reverse())),
    };
  });
  const read = async (vector: FieldVector): Promise<bigint[]> => numbersIn(await fr.read(vector), fr.numberBytes);
  const results = { quotient: await read(made.quotient), inverses: await read(made.inverses) };
  for (const vector of [a, made.quotient, made.inverses]) vector.destroy();
  return results;
};

const expectedOf = (oracle: FieldValues, a: readonly bigint[]): Numbers => {
  const onCoset = oracle.ntt(oracle.intt(a, {}), { coset: COSET });
  return {
    quotient: oracle.multiplySubtract(onCoset, onCoset, oracle.prefixProduct(a)),
    inverses: oracle.invert(a).toReversed(),
  };
};

/** A mode of runs on vectors: load, transforms, a quotient, inverses, read. */
const vectorMode: Mode = {
  sizes: [2, 200],
  // no points are read back
  pointBytes: 64,
  open: async (device, _, most) => {
    const engine = await createFieldEngine({ field: 'bn254-fr', device: device.device });
    const oracle = new FieldValues(engine.p);
    // the first run tests the kernels, and makes the table of powers
    await compute(engine, Array(lengthOf(most)).fill(1n));
    return {
      engine,
      call: async (random: Random, n) => {
        const numbers = Array.from({ length: lengthOf(n) }, () => random.belowBig(engine.p));
        const { quotient, inverses } = await compute(engine, numbers);
        return async () => {
          const expected = expectedOf(oracle, numbers);
          return String([quotient, inverses]) === String([expected.quotient, expected.inverses]);
        };
      },
    };
  },
};

interface Curve {
  readonly oracle: OracleCurve;
  readonly engine: MsmEngineOptions['curve'];
}

const onBn254: Curve = { oracle: bn254G1, engine: 'bn254' };

/** BLS12-381 has a cofactor, and a field of 381 bits. */
const onBls12381: Curve = { oracle: bls12381Oracle, engine: bls12381 };

interface Settings {
  readonly curve?: Curve;
  readonly options?: Partial<MsmEngineOptions>;
  readonly ownDevice?: boolean;
  readonly precompute?: number;
  /** The GPU checks the stages of the engine. */
  readonly checks?: boolean;
}

/** Returns the bytes of a point. The fields of all these curves fill their words. */
const pointBytesOf = ({ curve = onBn254 }: Settings): number => 2 * curve.oracle.coordinateBytes;

const pools = new Map<OracleCurve, KnownBases>();
const POOL = 1200;

/** Returns n points with known logarithms. */
const takeBases = (
  random: Random,
  { oracle }: Curve,
  n: number,
): { logs: bigint[]; bytes: Uint8Array<ArrayBuffer> } => {
  const pool = pools.get(oracle) ?? makeKnownBases(oracle, POOL, 1);
  pools.set(oracle, pool);
  const [first, size] = [random.below(POOL - n + 1), 2 * oracle.coordinateBytes];
  return { logs: pool.logs.slice(first, first + n), bytes: pool.bytes.slice(first * size, (first + n) * size) };
};

const open = (
  device: RecordingDevice,
  { curve = onBn254, options = {}, ownDevice = false, checks = false }: Settings,
) =>
  createCheckedEngine({
    curve: curve.engine,
    ...(ownDevice ? { gpu: device.gpu } : { device: device.device }),
    ...options,
    tuning: { cpuBelow: 0, ...options.tuning },
    checks,
    // the self-test is off, so that faults strike the calls themselves
    selfTest: false,
  });

const randomScalar = (random: Random, { oracle }: Curve): bigint => random.belowBig(groupOrder(oracle) - 1n) + 1n;

/** Draws n scalars for each vector of a call. */
type Draw = (random: Random, curve: Curve, n: number) => readonly bigint[][];

const dense: Draw = (random, curve, n) => [Array.from({ length: n }, () => randomScalar(random, curve))];

/** Draws vectors of unequal lengths, which form two batches. */
const batch: Draw = (random, curve, n) => [n, Math.ceil(n / 8), n].flatMap((length) => dense(random, curve, length));

/** Draws so few non-zero scalars that the engine picks them out. */
const sparse: Draw = (random, curve, n) => {
  const scalars = Array.from({ length: n }, () => 0n);
  for (let left = Math.ceil(n / 20); left > 0; ) {
    const at = random.below(n);
    if (scalars[at] !== 0n) continue;
    scalars[at] = randomScalar(random, curve);
    left--;
  }
  return [scalars];
};

const multiplying = (sizes: Mode['sizes'], settings: Settings = {}, draw: Draw = dense): Mode => ({
  sizes,
  pointBytes: pointBytesOf(settings),
  open: async (device, random, most) => {
    const { curve = onBn254, precompute = 1 } = settings;
    const engine = await open(device, settings);
    const { logs, bytes } = takeBases(random, curve, most);
    const bases = await engine.loadBases(bytes, { precompute });
    return {
      engine,
      call: async (data, n) => {
        const vectors = draw(data, curve, n);
        const encoded = vectors.map((scalars) => encodeScalars(curve.oracle, scalars));
        const [only] = encoded as [Uint8Array];
        const sums = encoded.length === 1 ? [await engine.msm(bases, only)] : await engine.msmBatch(bases, encoded);
        return async () =>
          vectors.every((scalars, i) => samePoint(sums[i] as AffinePoint, expectedMsm(curve.oracle, logs, scalars)));
      },
    };
  },
});

/**
 * Returns a mode that loads bases, valid ones and ones with a point off the curve. Valid bases must
 * give a correct MSM.
 */
const loading = (sizes: Mode['sizes'], settings: Settings = {}): Mode => ({
  sizes,
  pointBytes: pointBytesOf(settings),
  open: async (device) => {
    const { curve = onBn254, precompute = 1 } = settings;
    const engine = await open(device, settings);
    return {
      engine,
      call: async (random, n, broken) => {
        const { logs, bytes } = takeBases(random, curve, n);
        if (broken) {
          const at = random.below(n) * 2 * curve.oracle.coordinateBytes;
          bytes[at] = (bytes[at] as number) ^ 1;
        }
        const refused = (error: unknown): null => {
          if (broken && error instanceof MsmError && error.code === 'not-on-curve') return null;
          throw error;
        };
        const bases = await engine.loadBases(bytes, { precompute }).catch(refused);
        if (broken) return async () => bases === null;
        return async () => {
          const [scalars] = dense(random, curve, n) as [bigint[]];
          const sum = await engine.msm(bases as Bases, encodeScalars(curve.oracle, scalars));
          return samePoint(sum, expectedMsm(curve.oracle, logs, scalars));
        };
      },
    };
  },
});

export const modes = {
  default: multiplying([1, 600]),
  'own device': multiplying([1, 200], { ownDevice: true }),
  submits: multiplying([20, 100], { options: { tuning: { additionsPerSubmit: 1024 } } }),
  chunks: multiplying([300, 500], { options: { tuning: { windowBits: 5 }, memoryBudget: 300_000 } }),
  batch: multiplying([4, 40], {}, batch),
  tables: multiplying([1, 300], { precompute: 4 }),
  sparse: multiplying([100, 400], {}, sparse),
  cofactor: multiplying([1, 60], { curve: onBls12381 }),
  checks: multiplying([1, 200], { checks: true }),
  verify: multiplying([1, 300], { options: { verify: true } }),
  'verify batch': multiplying([4, 40], { options: { verify: true } }, batch),
  'verify cofactor': multiplying([1, 60], { curve: onBls12381, options: { verify: true } }),
  load: loading([1, 600]),
  'load tables': loading([1, 100], { precompute: 4 }),
  vectors: vectorMode,
} as const satisfies Readonly<Record<string, Mode>>;
export type ModeName = keyof typeof modes;
export const modeNames = Object.keys(modes) as readonly ModeName[];
