import type { AdapterDescription, Tuning } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import type { FieldProduct } from '../../field/modulus.js';
import type { KernelWithArray } from '../../shaders/limits.js';

/** Knobs whose defaults depend on the class of the adapter. */
export type ClassKnobs = Pick<
  Tuning,
  | 'walkerCoordinates'
  | 'walkerThreadsPerWorkgroup'
  | 'walkerSlots'
  | 'walkerTasks'
  | 'walkerEntriesPerTask'
  | 'walkerLeastThreads'
  | 'combineBits'
  | 'sortThreadsPerWorkgroup'
  | 'sortEntriesPerThread'
> & {
  /** null: derived from the measured rate of the device. */
  readonly additionsPerSubmit: number | null;
  /** Other defaults for coordinates that are pairs. */
  readonly pairs?: Partial<Tuning>;
};

/**
 * A GPU wants tens of thousands of threads, and slots and held entries cost it registers and cache:
 * with 16 entries a thread of the sort spills on a Mali (docs/reference/performance.md).
 */
export const gpuKnobs: ClassKnobs = {
  walkerCoordinates: 'affine',
  walkerThreadsPerWorkgroup: 64,
  walkerSlots: 8,
  walkerTasks: 131072, // 2^17, but bundlers keep an unused object that has powers
  walkerEntriesPerTask: 32,
  walkerLeastThreads: 2 ** 12,
  combineBits: 2,
  sortThreadsPerWorkgroup: 128,
  sortEntriesPerThread: 8,
  additionsPerSubmit: null,
};

/**
 * Large desktop GPUs have 384 to 528 schedulers, and a walk with one warp on each waits half of the
 * time. Extended coordinates let a thread wait for products alone: on an H200 prototypes add 1.7
 * times as many points with 2^18 tasks as affine slots do, and 3.4 times with 2^16
 * (docs/contributing/decisions/15-coordinates-of-the-walk.md). Sums of pairs would spill, so G2
 * keeps slots, of which 8 with 2^18 tasks are 1,024 warps. Tasks are short, and small walks of
 * slots take one warp for each scheduler before they share inversions: an H200 is the faster for
 * both (docs/reference/performance.md).
 */
export const wideKnobs: ClassKnobs = {
  ...gpuKnobs,
  walkerCoordinates: 'xyzz',
  walkerEntriesPerTask: 16,
  walkerLeastThreads: 2 ** 14,
  sortEntriesPerThread: 16,
  pairs: { walkerCoordinates: 'affine', walkerTasks: 2 ** 18 },
};

/**
 * A software adapter has a few cores, no latency to hide and no screen to hold up: few threads with
 * many slots each.
 */
export const softwareKnobs: ClassKnobs = {
  walkerCoordinates: 'affine',
  walkerThreadsPerWorkgroup: 16,
  walkerSlots: 32,
  walkerTasks: 2 ** 12,
  walkerEntriesPerTask: 32,
  walkerLeastThreads: 16,
  combineBits: 4,
  sortThreadsPerWorkgroup: 8,
  sortEntriesPerThread: 256,
  additionsPerSubmit: 2 ** 30,
};

/**
 * Source of an adapter's expected speed: measured for its class, guessed as for any GPU, or that of
 * a software adapter.
 */
export type Trust = 'known' | 'guessed' | 'software';

/** Fields of an adapter that its class depends on. */
type Described = Pick<AdapterDescription, 'vendor' | 'architecture'> &
  Partial<Pick<AdapterDescription, 'description' | 'software'>>;

/** A class of adapters. */
interface DeviceClass {
  readonly matches: (adapter: Described) => boolean;
  /** The fastest product of the field arithmetic (docs/reference/chips.md). */
  readonly product: FieldProduct;
  /**
   * The WGSL language feature that `product` needs; without it the class computes `unsigned`
   * products.
   */
  readonly feature?: 'packed_4x8_integer_dot_product';
  /** Expected time of an MSM without scalars, in ms. */
  readonly fixedMs: number;
  /**
   * Expected time of an addition on BN254 G1, in ns. Optimistic: a GPU that is expected to be slow
   * is never tried.
   */
  readonly digitNs: number;
  readonly trust: Trust;
  readonly knobs: ClassKnobs;
  /**
   * Whether it is a large GPU. Its groups have as many windows as the memory budget allows; those
   * of others take little memory. Its first submits have more additions.
   */
  readonly isWide?: true;
  /** Kernels whose private arrays are padded; none by default. */
  readonly padded?: readonly KernelWithArray[];
}

/** Matches `vendor architecture`, as WebGPU names them. */
const named =
  (names: RegExp): DeviceClass['matches'] =>
  ({ vendor, architecture }) =>
    names.test(`${vendor} ${architecture}`.toLowerCase());

const bytesProduct = { product: 'dot4', feature: 'packed_4x8_integer_dot_product' } as const;
const amd = { fixedMs: 4, digitNs: 3, trust: 'known', knobs: wideKnobs, isWide: true } as const;
const nvidia = { ...amd, product: 'fma', padded: ['program', 'tables'] } as const;
// with its array in registers run_program takes up to twice the instructions
// (docs/reference/chips.md)
const known = { trust: 'known', knobs: gpuKnobs, padded: ['program'] } as const;
const apple = { fixedMs: 5, digitNs: 11, ...known } as const;
const qualcomm = { fixedMs: 8, digitNs: 40, ...known } as const;
const intel = { fixedMs: 6, digitNs: 50, ...known } as const;
const software = { fixedMs: 20, digitNs: 600, trust: 'software', knobs: softwareKnobs } as const;

/**
 * The classes of adapters; the first that matches counts.
 *
 * Products of bytes are the fastest on RDNA since 2 and Adreno since 7xx. Chips of Intel have the
 * instruction as well, but too few registers. Drivers also announce the feature on chips without
 * the instruction, where such a product takes several times as long as any other. Products by
 * floats are the fastest on Apple and older Adrenos, where a multiplication of 32 bits takes as
 * long as three or four of floats, and on NVIDIA: on an H200 the walk in extended coordinates adds
 * 1.3 times as many points with them as with bytes.
 *
 * The times come from published results for 2^20 points (183 ms on an Apple M4 Pro, 704 ms on an
 * Adreno, 3,716 ms on a Google Pixel 10), and from the walk on SwiftShader on two cores
 * (docs/reference/performance.md).
 */
const classes: readonly DeviceClass[] = [
  { matches: ({ software: isSoftware }) => isSoftware === true, product: 'unsigned', ...software },
  { matches: named(/^nvidia /), ...nvidia },
  { matches: named(/^amd rdna-[2-9]/), ...bytesProduct, ...amd },
  { matches: named(/^amd /), product: 'unsigned', ...amd },
  { matches: named(/^apple /), product: 'fma', ...apple },
  { matches: named(/^qualcomm adreno-[7-9]/), ...bytesProduct, ...qualcomm },
  { matches: named(/^qualcomm /), product: 'fma', ...qualcomm },
  {
    matches: named(/^(arm|img-tec|imagination|samsung) /),
    ...{ product: 'unsigned', fixedMs: 10, digitNs: 120, trust: 'known', knobs: gpuKnobs },
  },
  { matches: named(/^intel /), product: 'unsigned', ...intel },
];

const unknown: DeviceClass = {
  matches: () => true,
  ...{ product: 'unsigned', fixedMs: 6, digitNs: 25, trust: 'guessed', knobs: gpuKnobs },
};

/** Returns the class of an adapter. */
export const deviceClassOf = (adapter: Described): DeviceClass =>
  classes.find(({ matches }) => matches(adapter)) ?? unknown;

/**
 * Returns the scratch that an engine may take by default, in bytes. On a large GPU 2^20 scalars of
 * BN254 fit it in one group of windows.
 */
export const defaultBudget = (adapter: Described): number => (deviceClassOf(adapter).isWide ? 2 ** 29 : 2 ** 28);

/**
 * Returns the product that an adapter computes fastest.
 *
 * @param hasDot4 whether WGSL has `packed_4x8_integer_dot_product` here
 */
export const productFor = (adapter: Described, hasDot4: boolean): FieldProduct => {
  const { product, feature } = deviceClassOf(adapter);
  return feature === undefined || hasDot4 ? product : 'unsigned';
};

/**
 * Returns why a device must not compile products of bytes, or null if it may. SwiftShader writes
 * such products out, and its compiler ended the process with tables on BLS12-381, and with an
 * instrumented walk on the Weierstrass image of ed25519, where a is not 0.
 */
export const dot4Refusal = (
  { coordinates, field, a }: Pick<CurveContext, 'coordinates' | 'field' | 'a'>,
  isSoftware: boolean,
  isInstrumented: boolean,
): string | null => {
  const isTried = coordinates.degree === 1 && field.bits <= 256 && !(isInstrumented && !coordinates.isZero(a));
  return !isSoftware || isTried
    ? null
    : "tuning.fieldProduct: 'dot4' is for GPUs here. Compilers of software adapters may end the process where p has more than 256 bits, in G2, and in instrumented walks where a is not 0; leave it out, or take 'unsigned'";
};
