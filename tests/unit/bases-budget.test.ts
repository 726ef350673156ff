/**
 * Default budget of loaded points in bytes, from the limits of the device and the size of main
 * memory.
 */
import { expect, test } from 'vitest';
import { defaultBasesBudget } from '../../src/provers/prover-engines.js';

const [MiB, GiB] = [2 ** 20, 2 ** 30];
const [none, large] = [Number.POSITIVE_INFINITY, 4 * GiB];

const refuse = (): never => {
  throw new Error('a permission that there is not');
};

test.each<[maxBufferSize: number, told: object, bytes: number]>([
  // deviceMemory of browsers, in GiB
  [large, { navigator: { deviceMemory: 8 } }, GiB],
  [large, { navigator: { deviceMemory: 32 } }, 4 * GiB],
  [none, { navigator: { deviceMemory: 32 } }, 4 * GiB],
  [large, { navigator: { deviceMemory: 0.25 } }, 64 * MiB],
  // one buffer of the device
  [256 * MiB, { navigator: { deviceMemory: 8 } }, 256 * MiB],
  [MiB, { navigator: { deviceMemory: 8 } }, 64 * MiB],
  // Node
  [large, { process: { availableMemory: () => 16 * GiB } }, 2 * GiB],
  [none, { navigator: {}, process: { availableMemory: () => 2 * GiB } }, 256 * MiB],
  // where nothing is told, or what is none
  [large, {}, 512 * MiB],
  [large, { navigator: {}, process: {} }, 512 * MiB],
  [large, { navigator: { deviceMemory: Number.NaN }, process: { availableMemory: () => 0 } }, 512 * MiB],
  [large, { process: { availableMemory: refuse } }, 512 * MiB],
])('of a buffer of %d bytes and %o', (maxBufferSize, told, bytes) => {
  expect(defaultBasesBudget(maxBufferSize, told)).toBe(bytes);
});

test('the default budget is a whole number', () => {
  const bytes = defaultBasesBudget(Number.POSITIVE_INFINITY);
  expect(Number.isSafeInteger(bytes)).toBe(true);
  expect(bytes).toBeGreaterThanOrEqual(64 * MiB);
});
