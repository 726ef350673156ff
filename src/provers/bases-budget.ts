/** How many bytes of points stay loaded where nobody says so. */

/** Main memory where nothing tells, in bytes. */
const UNKNOWN = 2 ** 32;

/** Share of main memory that points may take: they are kept there, and on the device. */
const SHARE = 1 / 8;

/** So much at least, in bytes: as much as the key of a small circuit takes. */
const LEAST = 2 ** 26;

/** Bytes of main memory, as far as they are known without an import: browsers round it to powers of two, from 0.25 to 32 GiB; Node says what is left to the process. */
interface Told {
  readonly navigator?: { readonly deviceMemory?: unknown };
  readonly process?: { availableMemory?(): unknown };
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY;

const mainMemory = ({ navigator, process }: Told): number => {
  const gibibytes = navigator?.deviceMemory;
  if (isAmount(gibibytes)) return gibibytes * 2 ** 30;
  try {
    const bytes = process?.availableMemory?.();
    return isAmount(bytes) ? bytes : UNKNOWN;
  } catch {
    // a permission that there is not
    return UNKNOWN;
  }
};

/** @param maxBufferSize of the device; Infinity where there is none */
export const defaultBasesBudget = (maxBufferSize: number, told: Told = globalThis as Told): number =>
  Math.max(LEAST, Math.floor(Math.min(maxBufferSize, SHARE * mainMemory(told))));
