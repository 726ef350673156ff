/**
 * Multiplies points by scalars on a device, as an operation of a session: upload, import, scale, and
 * the products back.
 */
import { type CurveContext, withProduct } from '../../curves/curve.js';
import { multiply, toAffine } from '../../curves/jacobian.js';
import { writePoint } from '../../curves/point-source.js';
import { GpuFault } from '../../errors.js';
import { writeElement } from '../../field/field.js';
import { mod } from '../../field/modulus.js';
import type { OpenDevice } from '../../gpu/device.js';
import type { Submission, SubmissionResult } from '../../gpu/submission.js';
import type { Call } from '../../scheduling/call.js';
import { sumInSlices } from '../../scheduling/time-slice.js';
import type { Configure } from '../../session/current-device.js';
import type { DeviceView, KnownAnswer, Operation, Step } from '../../session/operation.js';
import { LANES, sumOfLanes } from '../../shaders/hash-chain.js';
import { type Command, type Kernel, once, type Slice } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { safeRate } from '../plan/cost.js';
import { deviceClassOf, productFor } from '../plan/device-profiles.js';
import { DIGEST_THREADS, DigestConfig, digestKernel, digestOfItems } from '../stages/entry.js';
import { IMPORT_THREADS, importKernel, packImportConfig } from '../stages/import.js';
import {
  digitWordsOf,
  planeWordsOf,
  SCALE_THREADS,
  type ScalarDigits,
  ScaleConfig,
  scalarDigits,
  scaleKernel,
} from '../stages/scale.js';
import { ADDITIONS } from './gpu-setup.js';

/** Arithmetic and kernels of a device. */
export interface ScaleSetup {
  /** The curve with the field product that the device computes with. */
  readonly curve: CurveContext;
  importPoints(): Kernel;
  scale(): Kernel;
  digest(): Kernel;
}

/** Returns how a session sets up devices for a curve. @param own has a = 0 */
export const scaleConfigure = (own: CurveContext): Configure<ScaleSetup> => {
  const make = ({ adapter }: Pick<OpenDevice, 'adapter'>, product: CurveContext['field']['product']): ScaleSetup => {
    const curve = withProduct(own, product);
    // the array of an inversion, as tables have one
    const pads = deviceClassOf(adapter).padded?.includes('tables');
    return {
      curve,
      importPoints: once(() => importKernel(curve)),
      scale: once(() => scaleKernel(curve, pads)),
      digest: once(digestKernel),
    };
  };
  return {
    make: (open) => make(open, productFor(open.adapter, open.hasDot4)),
    simpler: ({ curve }, open) => (curve.field.product === 'unsigned' ? null : make(open, 'unsigned')),
    nameOf: ({ curve }) => curve.field.product,
  };
};

/** Points and their scalars. */
export interface ScaleInput {
  /** x‖y of each point, little-endian. */
  readonly points: Uint32Array;
  /** Factor that their coordinates were multiplied by. */
  readonly scale: bigint;
  /** Index of the scalar of each point. */
  readonly which: Uint32Array;
  /** Digits of the scalars. */
  readonly digits: ScalarDigits;
  /** Products are returned with their coordinates times each of these factors. */
  readonly scales: readonly bigint[];
}

/** For each scale x‖y of the products, little-endian; null where the device refuses a point. */
type Products = readonly Uint32Array[] | null;

/** A step that multiplies the points [first, first + count). */
interface ScaleStep extends Step {
  readonly first: number;
  readonly count: number;
}

interface ScaleTypes {
  readonly input: ScaleInput;
  readonly result: Products;
  readonly step: ScaleStep;
  /** Digest of what is sent. */
  readonly expected: number;
  /** The products for all scales; null where the device refuses a point. */
  readonly part: Uint32Array | null;
}

/** Milliseconds that a step may take, by the expected rate of the device. */
const STEP_MS = 50;

/** Points of a step: fewer leave a GPU idle, and more take memory. */
const STEP_POINTS = { least: 2 ** 10, most: 2 ** 15 } as const;

/**
 * Additions of the walk that take as long as a product by digits of so many positions: of 10 field
 * products, where a doubling has 7 and an addition 11, two of three positions have an addition, and
 * the inversion takes as long as four doublings.
 */
const additionsOf = (positions: number): number => (7 * positions + (11 * 2 * positions) / 3 + 40) / 10;

const rateOf = ({ setup, adapter }: DeviceView<ScaleSetup>): number => safeRate(setup.curve, adapter, null);

/** Accounts: rejected points, then digests of what arrived and of the products. */
const REJECTS = 0;
const ARRIVED = 2;
const LEFT = ARRIVED + LANES;
const ACCOUNTS_BYTES = 4 * (LEFT + LANES);

/** Names of the buffers. */
const slices = {
  points: { buffer: 'points' },
  which: { buffer: 'which' },
  digits: { buffer: 'digits' },
  factors: { buffer: 'factors' },
  products: { buffer: 'products' },
} as const;

/** Data that a step sends, with the words of each item. */
interface Sent {
  readonly to: Slice;
  readonly words: Uint32Array;
  readonly itemWords: number;
}

/** Returns the data that a step sends. It sends the scalars between its least and its greatest index. */
const sentBy = ({ points, which, digits }: ScaleInput, { first, count }: ScaleStep, curve: CurveContext): Sent[] => {
  const own = which.subarray(first, first + count);
  const [least, greatest] = own.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)] as const, [
    0xffffffff, 0,
  ] as readonly [number, number]);
  const { pointWords } = curve;
  const digitWords = digitWordsOf(curve);
  return [
    {
      to: slices.points,
      words: points.subarray(first * pointWords, (first + count) * pointWords),
      itemWords: pointWords,
    },
    { to: slices.which, words: own.map((each) => each - least), itemWords: 1 },
    {
      to: slices.digits,
      words: digits.words.subarray(least * digitWords, (greatest + 1) * digitWords),
      itemWords: digitWords,
    },
  ];
};

/** Returns the command that adds the digest of a buffer to an account. */
const digestCommand = (
  setup: ScaleSetup,
  words: Slice,
  items: number,
  itemWords: number,
  account: number,
): Command => ({
  kind: 'dispatch',
  phase: 'digest',
  kernel: setup.digest(),
  config: DigestConfig.pack({ items, item_words: itemWords, account }),
  bindings: { words },
  groups: groupsFor(items, DIGEST_THREADS),
});

/** Multiplies points by scalars. */
export const scaleOperation: Operation<ScaleTypes, ScaleSetup> = {
  name: 'scale',
  unit: ADDITIONS,
  residents: () => [],
  plan({ which, digits }, device) {
    const bound = Math.floor((STEP_MS * rateOf(device)) / additionsOf(digits.positions));
    const most = Math.min(STEP_POINTS.most, Math.max(STEP_POINTS.least, bound));
    return Array.from({ length: Math.ceil(which.length / most) }, (_, i) => ({
      first: i * most,
      count: Math.min(most, which.length - i * most),
      submits: 1,
    }));
  },
  record(input, step, { setup }, call): Submission<number> {
    const { curve } = setup;
    const { coordinates: f } = curve;
    const { count } = step;
    const { scales, scale, digits } = input;
    const sent = sentBy(input, step, curve);
    const productBytes = count * scales.length * curve.pointBytes;
    const factors = new Uint32Array(scales.length * f.words);
    for (const [k, each] of scales.entries())
      writeElement(f, factors, k * f.words, f.multiple(f.one, mod(each, curve.p)));
    const commands: readonly Command[] = [
      ...sent.map(({ to, words, itemWords }) => digestCommand(setup, to, words.length / itemWords, itemWords, ARRIVED)),
      {
        kind: 'dispatch',
        phase: 'import',
        kernel: setup.importPoints(),
        config: packImportConfig(curve, { points: count, first: 0, rejects: REJECTS }, scale),
        bindings: { points: slices.points },
        groups: groupsFor(count, IMPORT_THREADS),
      },
      {
        kind: 'dispatch',
        phase: 'scale',
        kernel: setup.scale(),
        config: ScaleConfig.pack({
          points: count,
          positions: digits.positions,
          plane_words: planeWordsOf(curve),
          factors: scales.length,
        }),
        bindings: slices,
        groups: groupsFor(count, SCALE_THREADS),
      },
      // the scalars may be secret
      { kind: 'clear', slice: slices.digits },
      digestCommand(setup, slices.products, count * scales.length, curve.pointWords, LEFT),
    ];
    return {
      scratch: {
        ...Object.fromEntries(sent.map(({ to, words }) => [to.buffer, words.byteLength])),
        factors: factors.byteLength,
        products: productBytes,
      },
      uploads: [...sent.map(({ to, words }) => ({ to, data: words })), { to: slices.factors, data: factors }],
      commands,
      accounts: ACCOUNTS_BYTES,
      read: [{ ...slices.products, size: productBytes }],
      meanwhile: async () => {
        let sum = 0;
        for (const { words, itemWords } of sent) sum += await digestInSlices(words, itemWords, call);
        return sum >>> 0;
      },
    };
  },
  cost: ({ digits }, { count }, device) => (count * additionsOf(digits.positions)) / rateOf(device),
  async read(_, __, { accounts, data, expected }: SubmissionResult<number>, { setup }, call) {
    if (sumOfLanes(accounts, ARRIVED) !== expected) {
      throw new GpuFault('scale', 'other points arrived than those that were sent');
    }
    const products = data[0] as Uint32Array;
    if (sumOfLanes(accounts, LEFT) !== (await digestInSlices(products, setup.curve.pointWords, call))) {
      throw new GpuFault('scale', 'other products were read than those that were computed');
    }
    return accounts[REJECTS] === 0 && accounts[REJECTS + 1] === 0 ? products : null;
  },
  finish({ points, scales }, done) {
    const products = scales.map(() => new Uint32Array(points.length));
    let before = 0;
    for (const { part } of done) {
      if (part === null) return null;
      const size = part.length / scales.length;
      for (const [k, all] of products.entries()) all.set(part.subarray(k * size, (k + 1) * size), before);
      before += size;
    }
    return products;
  },
  knownAnswer: (_, { curve }) => knownProducts(curve),
};

const digestInSlices = (words: Uint32Array, itemWords: number, call: Call): Promise<number> =>
  sumInSlices(words.length / itemWords, call.timeSlice(), (begin, end) =>
    digestOfItems(words.subarray(begin * itemWords, end * itemWords), itemWords, begin),
  );

/** Returns the self-test: points and scalars for all cases of an addition, by double and add. */
const knownProducts = (curve: CurveContext): KnownAnswer<ScaleInput, Products> => {
  const { coordinates: f, generator, order, pointWords } = curve;
  const scalars = [0n, 1n, 2n, order - 1n, order / 3n, order / 5n];
  // multiples of the generator; 0 is infinity
  const bases = [1n, 0n, order - 3n];
  const count = bases.length * scalars.length;
  const stored = (multipleOf: (i: number) => bigint): Uint32Array<ArrayBuffer> => {
    const words = new Uint32Array(count * pointWords);
    for (let i = 0; i < count; i++) {
      writePoint(curve, words, i, toAffine(curve, multiply(curve, multipleOf(i), generator)));
    }
    return words;
  };
  const baseOf = (i: number): bigint => bases[Math.floor(i / scalars.length)] as bigint;
  const scalarOf = (i: number): bigint => scalars[i % scalars.length] as bigint;
  return {
    key: `scale ${curve.name} ${f.degree} ${curve.field.product}`,
    input: () => ({
      points: stored(baseOf),
      scale: 1n,
      which: Uint32Array.from({ length: count }, (_, i) => i % scalars.length),
      digits: scalarDigits(curve, scalars),
      scales: [1n],
    }),
    check: (products) => {
      const expected = stored((i) => (baseOf(i) * scalarOf(i)) % order);
      const isRight = products?.[0]?.every((word, i) => word === expected[i]) === true;
      return isRight ? null : 'known multiples came out wrong';
    },
  };
};
