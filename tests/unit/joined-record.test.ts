/** The record of a call that was divided. */
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/api/run-record.js';
import { joinedRecord } from '../../src/msm/routing/router.js';

const own = { n: 1000, vectors: 1, wallMs: 5 };

const part = (on: 'cpu' | 'gpu', entries: number, arithmetic: RunRecord['arithmetic']): RunRecord =>
  ({ on, entries, arithmetic, workers: 0, noWorkers: null, retried: null, verified: true }) as RunRecord;

test('its arithmetic is that of the largest part on the CPU, not that of the last', () => {
  const few = part('cpu', 3, 'wasm');
  const many = part('cpu', 20_000, 'wasm-fma');
  const gpu = part('gpu', 90_000, null);
  for (const front of [
    [many, few],
    [few, many],
  ]) {
    expect(joinedRecord({ front, back: [] }, 0, own)).toMatchObject({ on: 'cpu', arithmetic: 'wasm-fma' });
    expect(joinedRecord({ front, back: [gpu] }, 0.8, own)).toMatchObject({ on: 'both', arithmetic: 'wasm-fma' });
  }
  expect(joinedRecord({ front: [], back: [gpu] }, 1, own)).toMatchObject({ on: 'gpu', arithmetic: null });
});
