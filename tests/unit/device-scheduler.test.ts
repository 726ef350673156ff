/**
 * Memory of a device: the order in which jobs and lasting buffers get it, on a device that makes
 * nothing.
 */
import { expect, test } from 'vitest';
import type { MsmError } from '../../src/errors.js';
import { type Client, type Lease, Ledger, READ_BACK } from '../../src/gpu/device-memory.js';
import { DeviceScheduler } from '../../src/gpu/device-scheduler.js';
import { sleep } from '../support/time.js';

/** Makes buffers that take no memory. */
const nowhere = { createBuffer: ({ size }: GPUBufferDescriptor) => ({ size, destroy: () => undefined }) } as GPUDevice;

/** Bytes of a job: what others may have after its submits, and what it has until it was read. */
const [SHARED, OWN] = [1000, 100];

/** @param deviceBudget of all, in bytes */
const open = (deviceBudget: number) => {
  const owner = new DeviceScheduler();
  const ledger = new Ledger(nowhere);
  const member: Client = { ledger, budget: deviceBudget, deviceBudget, keeps: true };
  owner.join(member);
  const log: string[] = [];
  const leases = new Map<string, Lease>();
  /** Has a job wait; it makes its buffers as soon as it has begun. */
  const admit = (name: string): void => {
    const turn = { priority: 'normal', since: performance.now(), deadline: null } as const;
    const begin = (lease: Lease): void => {
      lease.make();
      leases.set(name, lease);
      log.push(name);
    };
    const wants = { scratch: SHARED, [READ_BACK]: OWN };
    owner.admit(member, wants, turn).then(begin, ({ code }: MsmError) => log.push(`${name}: ${code}`));
  };
  const of = (name: string): Lease => leases.get(name) as Lease;
  /** A job is over: the device has computed it, and it was read. */
  const end = (name: string): void => {
    owner.done(of(name));
    owner.release(of(name));
  };
  /** Has something wait that stays. */
  const settle = async (name: string, bytes: number, checkpoint = (): void => undefined): Promise<void> => {
    const make = async (): Promise<void> => {
      ledger.create('bases', name, bytes, 0);
      log.push(name);
    };
    try {
      await owner.withRoom(bytes, make, checkpoint);
    } catch (error) {
      log.push(`${name}: ${(error as Error).message}`);
    }
  };
  return { owner, member, ledger, log, admit, submit: (name: string) => owner.submitted(of(name)), end, settle };
};

/** Long enough for whoever looks now and then. */
const moment = (): Promise<void> => sleep(20);

test('later jobs leave room for lasting buffers', async () => {
  const { ledger, log, admit, submit, end, settle } = open(SHARED + 3 * OWN);
  for (const name of ['1', '2', '3']) admit(name);
  await moment();
  submit('1');
  await moment();
  void settle('bases', 300);
  submit('2');
  end('1');
  await moment();
  // the third would find its scratch where the second has left it
  expect(log).toEqual(['1', '2']);
  end('2');
  await moment();
  // and has no room beside them: whoever wanted it has to want less
  expect(log).toEqual(['1', '2', 'bases', '3: out-of-memory']);
  expect([ledger.bytesOf('bases'), ledger.bytesOf('scratch')]).toEqual([300, 0]);
});

test('lasting buffers get room in their order', async () => {
  const { log, admit, submit, end, settle } = open(SHARED + 10 * OWN);
  admit('1');
  await moment();
  void settle('large', SHARED);
  void settle('small', 4);
  admit('2');
  await moment();
  expect(log).toEqual(['1']);
  submit('1');
  end('1');
  await moment();
  expect(log).toEqual(['1', 'large', 'small', '2: out-of-memory']);
});

test('a lasting buffer that will never fit is rejected, and delays no other', async () => {
  const { log, admit, submit, end, settle } = open(SHARED + 10 * OWN);
  admit('1');
  await moment();
  const tooLarge = settle('too large', 2 * SHARED + 1);
  void settle('small', 4);
  submit('1');
  admit('2');
  await moment();
  expect(log).toEqual(['1']);
  end('1');
  await tooLarge;
  await moment();
  expect(log).toContainEqual(expect.stringMatching(/^too large: 2001 bytes more than the .+ deviceBudget of 2000/));
  expect(log.filter((each) => !each.startsWith('too large')).sort()).toEqual(['1', '2', 'small']);
});

test('a job that was aborted before it came gets nothing', async () => {
  const { owner, member } = open(SHARED + OWN);
  const turn = { priority: 'normal', since: performance.now(), deadline: null, signal: AbortSignal.abort() } as const;
  await expect(owner.admit(member, { scratch: SHARED, [READ_BACK]: OWN }, turn)).rejects.toMatchObject({
    code: 'aborted',
  });
});

test('a waiting lasting buffer can be cancelled', async () => {
  const { log, admit, settle } = open(SHARED + 2 * OWN);
  admit('1');
  await moment();
  let isOver = false;
  const waiting = settle('bases', 300, () => {
    if (isOver) throw new Error('ended');
  });
  admit('2');
  await moment();
  expect(log).toEqual(['1']);
  isOver = true;
  await waiting;
  expect(log).toEqual(['1', 'bases: ended']);
});
