/** The default of the option `basesBudget`. */

/** Main memory assumed where its size is unknown, in bytes. */
const UNKNOWN = 2 ** 32;

/** Share of main memory for points. Points take this much again on the device. */
const SHARE = 1 / 8;

/** Least budget, in bytes: the size of the key of a small circuit. */
const LEAST = 2 ** 26;

/**
 * Sources of the size of main memory that need no import. Browsers round `deviceMemory` to powers
 * of two, from 0.25 to 32 GiB. `availableMemory` of Node is the memory left to the process, in
 * bytes.
 */
interface MemorySources {
  readonly navigator?: { readonly deviceMemory?: unknown };
  readonly process?: { availableMemory?(): unknown };
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY;

const mainMemory = ({ navigator, process }: MemorySources): number => {
  const gibibytes = navigator?.deviceMemory;
  if (isAmount(gibibytes)) return gibibytes * 2 ** 30;
  try {
    const bytes = process?.availableMemory?.();
    return isAmount(bytes) ? bytes : UNKNOWN;
  } catch {
    // the process lacks the permission
    return UNKNOWN;
  }
};

/**
 * Returns the default budget, in bytes.
 *
 * @param maxBufferSize the device's limit; Infinity without a device
 */
export const defaultBasesBudget = (
  maxBufferSize: number,
  sources: MemorySources = globalThis as MemorySources,
): number => Math.max(LEAST, Math.floor(Math.min(maxBufferSize, SHARE * mainMemory(sources))));
