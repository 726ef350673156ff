/** Time slices: when they end, and what runs between them. */
import { afterEach, expect, test, vi } from 'vitest';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { stopClock } from '../support/time.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a slice is over after half a frame, and the next one begins after the pause', async () => {
  const clock = stopClock();
  const slice = new TimeSlice(() => clock.spend(100));
  clock.spend(8);
  expect(slice.isOver).toBe(false);
  clock.spend(1);
  expect(slice.isOver).toBe(true);
  await slice.yield();
  expect(slice.isOver).toBe(false);
  expect(slice.waitedMs).toBe(100);
});

test.each([
  ['in Node', setImmediate],
  ['in pages', undefined],
])('timers and messages of others run between slices %s', async (_, immediate) => {
  vi.stubGlobal('setImmediate', immediate);
  const seen = { timers: 0, messages: 0 };
  const timer = (): void => {
    if (++seen.timers < 3) setTimeout(timer, 0);
  };
  setTimeout(timer, 0);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    if (++seen.messages < 3) port2.postMessage(null);
    else port1.close();
  };
  port2.postMessage(null);
  const slice = new TimeSlice(() => undefined);
  while (seen.timers < 3 || seen.messages < 3) await slice.yield();
});

test('a pause waits for no timer, which pages delay by 4 ms and hidden pages by a second', async () => {
  vi.stubGlobal('setImmediate', undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  await new TimeSlice(() => undefined).yield();
  expect(vi.getTimerCount()).toBe(0);
});

test('platforms without MessageChannel pause by a timer', async () => {
  vi.stubGlobal('setImmediate', undefined);
  vi.stubGlobal('MessageChannel', undefined);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const paused = new TimeSlice(() => undefined).yield();
  expect(vi.getTimerCount()).toBe(1);
  vi.runAllTimers();
  await paused;
});
