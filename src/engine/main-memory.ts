/** Main memory of the platform, and how much of it the library takes by default. */
import { MsmError } from '../errors.js';
import { nodeModule } from '../threads/platform.js';

/**
 * Sources of the size of main memory that need no import. Browsers round `deviceMemory` to powers of two,
 * from 0.25 to 32 GiB; some have none. `availableMemory` of Node is the memory left to the process,
 * `constrainedMemory` the limit of its container, and `totalmem` of `node:os` the memory of the machine,
 * in bytes.
 */
export interface MemorySources {
  readonly navigator?: {
    readonly deviceMemory?: unknown;
    readonly userAgent?: unknown;
    readonly userAgentData?: { readonly mobile?: unknown };
    readonly maxTouchPoints?: unknown;
  };
  readonly process?: { availableMemory?(): unknown; constrainedMemory?(): unknown };
  readonly os?: { totalmem(): unknown } | null;
}

const sourcesHere = (): MemorySources => {
  const { navigator, process } = globalThis as Pick<MemorySources, 'navigator' | 'process'>;
  return { ...(navigator && { navigator }), ...(process && { process }), os: nodeModule('node:os') };
};

/** Returns an amount that a platform tells; null if it tells none. */
const amountOf = (tell: () => unknown): number | null => {
  try {
    const value = tell();
    return typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY ? value : null;
  } catch {
    // the process lacks the permission
    return null;
  }
};

const GIBIBYTE = 2 ** 30;

/** Main memory assumed for points where its size is unknown, in bytes. */
const UNKNOWN = 4 * GIBIBYTE;

/** Share of main memory for points of provers. Points take this much again on the device. */
const SHARE_OF_POINTS = 1 / 8;

/** Least budget of points, in bytes: the size of the key of a small circuit. */
const LEAST_POINTS = 2 ** 26;

/** Returns the default of `basesBudget`, in bytes. */
export const defaultBasesBudget = ({ navigator, process }: MemorySources = sourcesHere()): number => {
  const gibibytes = amountOf(() => navigator?.deviceMemory);
  const bytes = gibibytes === null ? amountOf(() => process?.availableMemory?.()) : gibibytes * GIBIBYTE;
  return Math.max(LEAST_POINTS, Math.floor(SHARE_OF_POINTS * (bytes ?? UNKNOWN)));
};

/* The ceiling of a key. */

/**
 * Shares of main memory that a page takes at most on a computer and on a phone, which ends pages early, and
 * a program in Node. A key that takes more does not prove well there without a ceiling either.
 */
const [SHARE_OF_PAGE, SHARE_ON_PHONE, SHARE_OF_PROGRAM] = [1 / 2, 1 / 4, 3 / 4];

/** The ceiling of a phone whose memory is unknown: those of Apple do not tell it. */
const UNKNOWN_ON_PHONE = GIBIBYTE / 2;

/** Returns whether a browser is one of a phone or a tablet, as far as it tells. */
const isMobile = ({ userAgent, userAgentData, maxTouchPoints }: NonNullable<MemorySources['navigator']>): boolean => {
  if (userAgentData?.mobile === true) return true;
  const text = typeof userAgent === 'string' ? userAgent : '';
  // a tablet of Apple names itself a Mac, and no Mac has a touch screen
  return /Android|iPhone|iPad|iPod|Mobile/.test(text) || (text.includes('Macintosh') && Number(maxTouchPoints) > 1);
};

/** Returns the bytes of the machine or of the container that a process is in; null where they are unknown. */
const memoryOfProcess = ({ process, os }: MemorySources): number | null => {
  const all = amountOf(() => os?.totalmem());
  const constrained = amountOf(() => process?.constrainedMemory?.());
  if (all === null || constrained === null) return all ?? constrained;
  return Math.min(all, constrained);
};

/** The default of the thread that started this worker; null if it told none. */
let inheritedLimit: number | null = null;

/**
 * Takes the default of `memoryLimit` of the thread that started this worker. The navigator of a worker has no
 * `maxTouchPoints`, by which alone a tablet of Apple differs from a Mac.
 */
export const inheritMemoryLimit = (bytes: number): void => {
  inheritedLimit = bytes;
};

/**
 * Returns the default of `memoryLimit` in bytes: half of the memory that a browser tells, a quarter of it on
 * a phone, where 0.5 GiB stand for an unknown size; in Node three quarters of the memory of the machine or
 * its container. Infinity where nothing is known.
 */
export const defaultMemoryLimit = (sources?: MemorySources): number =>
  (sources === undefined ? inheritedLimit : null) ?? limitByPlatform(sources ?? sourcesHere());

const limitByPlatform = (sources: MemorySources): number => {
  const { navigator } = sources;
  const onPhone = navigator !== undefined && isMobile(navigator);
  const gibibytes = amountOf(() => navigator?.deviceMemory);
  if (gibibytes !== null) return Math.floor((onPhone ? SHARE_ON_PHONE : SHARE_OF_PAGE) * gibibytes * GIBIBYTE);
  if (onPhone) return UNKNOWN_ON_PHONE;
  const bytes = memoryOfProcess(sources);
  return bytes === null ? Number.POSITIVE_INFINITY : Math.floor(SHARE_OF_PROGRAM * bytes);
};

/** A limit of main memory. */
export interface MemoryLimit {
  /** Infinity: no limit. */
  readonly bytes: number;
  /** False for the default: what takes more is not refused, and takes as little as it can. */
  readonly isStrict: boolean;
}

/** Returns the limit that an option `memoryLimit` means. */
export const limitOf = (memoryLimit: number | undefined): MemoryLimit => ({
  bytes: memoryLimit ?? defaultMemoryLimit(),
  isStrict: memoryLimit !== undefined,
});

/* Sums. */

/**
 * Memory of sums in bytes on the caller's thread and on each worker, chosen so that the peaks of
 * processes with domains of 2^18 and 2^20, with no worker and with one, stay within the limit and
 * what Node takes: WebAssembly, rounds, and what is not collected yet.
 */
const [CALLER_BYTES, WORKER_BYTES] = [5 * 2 ** 24, 2 ** 25];

/** Returns the memory of sums on all threads, in bytes. */
export const bytesOfThreads = (workers: number): number => CALLER_BYTES + workers * WORKER_BYTES;

/** Returns how many of some workers fit some bytes, beside the thread of the caller. */
export const workersWithin = (bytes: number, most: number): number =>
  Math.max(0, Math.min(most, Math.floor((bytes - CALLER_BYTES) / WORKER_BYTES)));

/** Points that an engine may have in main memory. */
interface PointsHolder {
  /** null where there is no copy, or the points were freed. */
  readonly source: { readonly bytes: Uint8Array } | null;
}

/**
 * Main memory of engines that share threads: the points that they keep, and the sums of all threads.
 * Without any explicit limit the default of the platform holds, which refuses nothing. An explicit
 * limit replaces the default, also where it is higher, and is strict. Of several explicit limits the
 * lowest holds. A limit holds as long as the threads do.
 */
export class MainMemory {
  #limit: MemoryLimit = { bytes: Number.POSITIVE_INFINITY, isStrict: false };
  /** Handles that their callers may leave to the garbage collector. */
  #holders: readonly WeakRef<PointsHolder>[] = [];
  #reserved = 0;

  /** Takes the limit of one more engine. */
  restrict({ bytes, isStrict }: MemoryLimit): void {
    const isReplaced = isStrict === this.#limit.isStrict ? bytes < this.#limit.bytes : isStrict;
    if (isReplaced) this.#limit = { bytes, isStrict };
  }

  /** Bytes of the limit; Infinity: none. */
  get limit(): number {
    return this.#limit.bytes;
  }

  /** Bytes of the points that are kept and that are being loaded. */
  get points(): number {
    const live = this.#holders.filter((each) => (each.deref()?.source ?? null) !== null);
    this.#holders = live;
    return live.reduce((sum, each) => sum + (each.deref()?.source?.bytes.length ?? 0), this.#reserved);
  }

  /** Returns how many of some workers have room for sums beside the points. */
  workers(most: number): number {
    return workersWithin(this.#limit.bytes - this.points, most);
  }

  /**
   * Reserves memory for points, until they are held or the load has failed.
   *
   * @returns frees the memory
   * @throws MsmError `out-of-memory` if the points and the sums of one thread exceed the limit
   */
  reserve(bytes: number): () => void {
    const { points } = this;
    const { bytes: limit, isStrict } = this.#limit;
    if (isStrict && points + bytes + CALLER_BYTES > limit) {
      throw new MsmError(
        'out-of-memory',
        `options.memoryLimit is ${limit} bytes, and these points take ${bytes} bytes beside ${points} of others and ${CALLER_BYTES} for sums on one thread; raise it, or destroy bases that are not needed`,
      );
    }
    this.#reserved += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#reserved -= bytes;
      isHeld = false;
    };
  }

  /** Counts points for as long as they are kept. */
  hold(holder: PointsHolder): void {
    this.#holders = [...this.#holders, new WeakRef(holder)];
  }
}
