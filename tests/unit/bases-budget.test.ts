/** Default budget of loaded points in bytes, from the size of main memory. */
import { expect, test } from 'vitest';
import { defaultBasesBudget } from '../../src/provers/prover-engines.js';

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
])('of %o', (told, bytes) => {
  expect(defaultBasesBudget(told)).toBe(bytes);
});

test('the default budget is a whole number', () => {
  const bytes = defaultBasesBudget();
  expect(Number.isSafeInteger(bytes)).toBe(true);
  expect(bytes).toBeGreaterThanOrEqual(64 * MiB);
});
