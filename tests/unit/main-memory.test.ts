/** Defaults in bytes from the size of main memory: the budget of loaded points, and the ceiling of keys. */
import { expect, test } from 'vitest';
import { defaultBasesBudget, defaultMemoryLimit, inheritMemoryLimit } from '../../src/engine/main-memory.js';

const [MiB, GiB] = [2 ** 20, 2 ** 30];

const refuse = (): never => {
  throw new Error('a permission that there is not');
};

test.each<[told: object, bytes: number]>([
  // deviceMemory of browsers, in GiB
  [{ navigator: { deviceMemory: 8 } }, GiB],
  [{ navigator: { deviceMemory: 32 } }, 4 * GiB],
  [{ navigator: { deviceMemory: 0.25 } }, 64 * MiB],
  // Node
  [{ process: { availableMemory: () => 16 * GiB } }, 2 * GiB],
  [{ navigator: {}, process: { availableMemory: () => 2 * GiB } }, 256 * MiB],
  // where nothing is told, or what is none
  [{}, 512 * MiB],
  [{ navigator: {}, process: {} }, 512 * MiB],
  [{ navigator: { deviceMemory: Number.NaN }, process: { availableMemory: () => 0 } }, 512 * MiB],
  [{ process: { availableMemory: refuse } }, 512 * MiB],
])('the budget of %o', (told, bytes) => {
  expect(defaultBasesBudget(told)).toBe(bytes);
});

test('the default budget is a whole number', () => {
  const bytes = defaultBasesBudget();
  expect(Number.isSafeInteger(bytes)).toBe(true);
  expect(bytes).toBeGreaterThanOrEqual(64 * MiB);
});

const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0';
const android = 'Mozilla/5.0 (Android 16; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0';
const none = Number.POSITIVE_INFINITY;

test.each<[told: object, bytes: number]>([
  // pages of computers
  [{ navigator: { deviceMemory: 8, userAgentData: { mobile: false } } }, 4 * GiB],
  [{ navigator: { deviceMemory: 0.5 } }, 256 * MiB],
  [{ navigator: { userAgent: mac, maxTouchPoints: 0 } }, none],
  // of phones and tablets
  [{ navigator: { deviceMemory: 8, userAgentData: { mobile: true } } }, 2 * GiB],
  [{ navigator: { deviceMemory: 2, userAgent: android } }, 512 * MiB],
  [{ navigator: { userAgent: android } }, 512 * MiB],
  [{ navigator: { userAgent: iPhone } }, 512 * MiB],
  [{ navigator: { userAgent: mac, maxTouchPoints: 5 } }, 512 * MiB],
  // Node: its machine, its container; 0 and 2^64 are no limit
  [{ os: { totalmem: () => 16 * GiB }, process: { constrainedMemory: () => 0 } }, 12 * GiB],
  [{ os: { totalmem: () => 16 * GiB }, process: { constrainedMemory: () => 2 ** 64 } }, 12 * GiB],
  [{ os: { totalmem: () => 16 * GiB }, process: { constrainedMemory: () => GiB } }, 768 * MiB],
  [{ navigator: { userAgent: 'Node.js/24' }, os: { totalmem: () => 16 * GiB }, process: {} }, 12 * GiB],
  [{ process: { constrainedMemory: () => GiB } }, 768 * MiB],
  [{ os: { totalmem: refuse }, process: { constrainedMemory: refuse } }, none],
  // a page of Electron has a process as well
  [{ navigator: { deviceMemory: 8 }, os: { totalmem: () => 64 * GiB }, process: {} }, 4 * GiB],
  // where nothing is told, or what is none
  [{}, none],
  [{ navigator: { deviceMemory: Number.NaN }, os: null }, none],
])('the ceiling of %o', (told, bytes) => {
  expect(defaultMemoryLimit(told)).toBe(bytes);
});

test('the ceiling of this process is below the memory of the machine', async () => {
  const { totalmem } = await import('node:os');
  expect(defaultMemoryLimit()).toBeLessThanOrEqual(0.75 * totalmem());
  expect(defaultMemoryLimit()).toBeGreaterThan(2 ** 26);
});

test('a worker has the ceiling of the thread that started it', () => {
  inheritMemoryLimit(512 * MiB);
  expect(defaultMemoryLimit()).toBe(512 * MiB);
  expect(defaultMemoryLimit({ navigator: { deviceMemory: 8 } })).toBe(4 * GiB);
});
