/** Devices that notice finished work only now and then, as Firefox's, and other devices. */
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { measureWaits, waitForQueue } from '../../src/gpu/device-watch.js';
import { createMsmEngine } from '../../src/index.js';
import { type LeasedDevice, leaseDevice } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { sleep } from '../support/time.js';

const POLL_MS = 100;

/** Says that waits are over every `POLL_MS`, and at every submit; on request. */
class Poll {
  /** For each wait: how long its end went unsaid, and whether a poll said it, or a submit. */
  readonly ends: { readonly lagMs: number; readonly by: 'poll' | 'submit' }[] = [];
  submits = 0;
  emptySubmits = 0;
  #over: ((by: 'poll' | 'submit') => void)[] = [];
  readonly #timer = setInterval(() => this.#look('poll'), POLL_MS);

  #look(by: 'poll' | 'submit'): void {
    for (const tell of this.#over.splice(0)) tell(by);
  }

  submit(commands: readonly unknown[]): void {
    this.submits++;
    if (commands.length === 0) this.emptySubmits++;
    this.#look('submit');
  }

  async wait<Value>(wait: Promise<Value>): Promise<Value> {
    const settled = await wait.then(
      (value) => () => value,
      (reason: unknown) => () => {
        throw reason;
      },
    );
    const over = performance.now();
    const by = await new Promise<'poll' | 'submit'>((resolve) => this.#over.push(resolve));
    this.ends.push({ lagMs: performance.now() - over, by });
    return settled();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const polls: Poll[] = [];
afterEach(() => {
  for (const poll of polls.splice(0)) poll.stop();
});

const newPoll = (): Poll => {
  const poll = new Poll();
  polls.push(poll);
  return poll;
};

/** A queue that does what it is told at once, but says so only when its poll looks. */
const fakeDevice = (work: () => Promise<undefined> = async () => undefined) => {
  const poll = newPoll();
  let lose: (info: GPUDeviceLostInfo) => void = () => undefined;
  const lost = new Promise<GPUDeviceLostInfo>((resolve) => {
    lose = resolve;
  });
  const queue = {
    submit: (commands: readonly unknown[]) => poll.submit(commands),
    onSubmittedWorkDone: () => poll.wait(work()),
  };
  return {
    device: { lost, queue } as unknown as GPUDevice,
    poll,
    lose: () => lose({ message: 'taken away' } as GPUDeviceLostInfo),
  };
};

describe('an MSM of 4096 points in nine submits', () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 4096, seed: 3 });

  const multiply = async ({ device }: LeasedDevice) => {
    const tuning = { cpuBelow: 0, windowBits: 8, additionsPerSubmit: 2 ** 14, walkerSlots: 4 };
    const engine = await createMsmEngine({ curve: 'bn254', device, tuning, selfTest: false });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    const submits = gpuRunOf(engine).submits;
    engine.destroy();
    return submits;
  };

  test('waits for the device, and hardly for its polls', { tags: 'long' }, async () => {
    const poll = newPoll();
    const leased = await leaseDevice();
    leased.tap = ({ method, args, proceed }) => {
      if (method === 'submit') poll.submit(args[0] as readonly unknown[]);
      return /^(mapAsync|onSubmittedWorkDone)$/.test(method) ? poll.wait(proceed() as Promise<unknown>) : proceed();
    };
    expect(await multiply(leased)).toBe(9);
    // those that measure, then loadBases, then the nine
    const [align, first, , second, , ...rest] = poll.ends;
    expect(Math.max(...[align, first, second].map((end) => end?.lagMs ?? 0))).toBeGreaterThan(0.5 * POLL_MS);
    expect(rest).toHaveLength(1 + 9);
    // a poll may come before an empty submit; without those it would end all waits
    expect(rest.filter(({ by }) => by === 'poll').length).toBeLessThan(5);
    const { submits } = poll;
    await sleep(20);
    expect(poll.submits).toBe(submits);
  });

  test('makes no extra submit if waits are fast', { tags: 'long' }, async () => {
    const leased = await leaseDevice();
    const submitted: number[] = [];
    leased.tap = ({ method, args, proceed }) => {
      if (method === 'submit') submitted.push((args[0] as readonly unknown[]).length);
      // what is measured is a wait for nothing; on a CPU that compiles meanwhile it may take a
      // while all the same
      return method === 'onSubmittedWorkDone' && submitted.length === 0 ? Promise.resolve() : proceed();
    };
    expect(await multiply(leased)).toBe(9);
    expect(submitted).toEqual(Array(1 + 9).fill(1));
  });
});

test('waits are measured once a device', async () => {
  const { device, poll } = fakeDevice();
  await measureWaits(device);
  const { submits, ends } = poll;
  expect(ends).toHaveLength(5);
  await Promise.all([measureWaits(device), measureWaits(device)]);
  expect([poll.submits, poll.ends.length]).toEqual([submits, 5]);
});

test('a busy device does not count as one that polls too seldom', async () => {
  let waits = 0;
  const device = {
    lost: new Promise(() => undefined),
    queue: {
      submit: () => undefined,
      onSubmittedWorkDone: () => {
        waits++;
        return sleep(120);
      },
    },
  } as unknown as GPUDevice;
  await measureWaits(device);
  expect(waits).toBe(3);
  let submits = 0;
  device.queue.submit = () => {
    submits++;
  };
  await waitForQueue(device, sleep(30));
  expect(submits).toBe(0);
});

describe('empty submits end', () => {
  const slow = async () => {
    const fake = fakeDevice();
    await measureWaits(fake.device);
    return fake;
  };

  /** It is nudged, and then no more. */
  const expectQuiet = async ({ poll }: { poll: Poll }, before: number): Promise<void> => {
    expect(poll.emptySubmits).toBeGreaterThan(before);
    const { submits } = poll;
    await sleep(20);
    expect(poll.submits).toBe(submits);
  };

  test('when the awaited promise has settled', async () => {
    const fake = await slow();
    const before = fake.poll.emptySubmits;
    expect(await waitForQueue(fake.device, fake.poll.wait(sleep(10).then(() => 7)))).toBe(7);
    await expectQuiet(fake, before);
  });

  test('when the wait rejects', async () => {
    const fake = await slow();
    const before = fake.poll.emptySubmits;
    const refused = sleep(10).then(() => Promise.reject(new Error('unmapped')));
    await expect(waitForQueue(fake.device, fake.poll.wait(refused))).rejects.toThrow('unmapped');
    await expectQuiet(fake, before);
  });

  test('when the device is lost, also if nothing ends the wait', async () => {
    const fake = await slow();
    const before = fake.poll.emptySubmits;
    const wait = waitForQueue(fake.device, new Promise(() => undefined));
    const ended = expect(wait).rejects.toThrow('taken away');
    await sleep(10);
    fake.lose();
    await sleep(10);
    await expectQuiet(fake, before);
    await ended;
  });

  test('when the device rejects them', async () => {
    const fake = await slow();
    let tried = 0;
    fake.device.queue.submit = () => {
      tried++;
      throw new Error('no more');
    };
    expect(
      await waitForQueue(
        fake.device,
        sleep(20).then(() => 7),
      ),
    ).toBe(7);
    expect(tried).toBe(1);
  });
});

test('a device that is lost during the measurement is awaited no longer', async () => {
  const { device, lose } = fakeDevice(() => new Promise(() => undefined));
  const measured = measureWaits(device);
  lose();
  await measured;
});
