/**
 * Queue of work in turns, such as sums on the CPU: order, aborts, and what goes first in pauses.
 */
import { expect, test } from 'vitest';
import { type Pause, TurnQueue, type TurnTicket } from '../../src/scheduling/turn-queue.js';
import { sleep } from '../support/time.js';

const ticket = (priority: TurnTicket['priority'], more: Partial<TurnTicket> = {}): TurnTicket => ({
  ...{ priority, since: 0, deadline: null, size: 1 },
  ...more,
});

/** Resolves when all pending promises have settled. */
const settled = (): Promise<void> => sleep();

/** A queue, a log of what it computes, and sums of several parts. */
const makeQueue = () => {
  const queue = new TurnQueue();
  const happened: string[] = [];
  const compute = (name: string, own: TurnTicket, parts = 1, between?: (part: number) => void): Promise<unknown> => {
    const all = async (pause: Pause): Promise<void> => {
      for (let part = 1; part <= parts; part++) {
        happened.push(`${name} ${part}`);
        await settled();
        between?.(part);
        await settled();
        await pause(10);
      }
    };
    return queue.inTurn(own, all).catch(({ code, message }) => happened.push(`${name} ${code ?? message}`));
  };
  return { queue, happened, compute };
};

test('waiting sums begin in the order of their deadlines', async () => {
  const { happened, compute } = makeQueue();
  await Promise.all([
    compute('first', ticket('normal')),
    compute('background', ticket('background')),
    compute('normal', ticket('normal', { since: 1 })),
    compute('in a hurry', ticket('background', { since: 2, deadline: 900 })),
    compute('later', ticket('normal', { since: 3 })),
  ]);
  expect(happened).toEqual(['first 1', 'in a hurry 1', 'normal 1', 'later 1', 'background 1']);
});

test('between two parts of a sum one more urgent sum goes first, and no other', async () => {
  const { happened, compute } = makeQueue();
  const more: Promise<unknown>[] = [];
  await compute('long', ticket('normal'), 4, (part) => {
    if (part !== 2) return;
    more.push(
      compute('as urgent', ticket('normal', { since: -1 })),
      compute('less urgent', ticket('background', { deadline: -5 })),
      compute('too large', ticket('interactive', { since: -3, size: 11 })),
      compute('one', ticket('interactive', { size: 10 }), 2),
      compute('other', ticket('interactive', { since: -2 })),
    );
  });
  await Promise.all(more);
  expect(happened).toEqual([
    ...['long 1', 'long 2', 'other 1', 'long 3', 'one 1', 'one 2', 'long 4'],
    ...['less urgent 1', 'as urgent 1', 'too large 1'],
  ]);
});

test('a sum that went first pauses for more urgent ones, too', async () => {
  const { happened, compute } = makeQueue();
  const more: Promise<unknown>[] = [];
  await compute('long', ticket('background'), 2, (part) => {
    if (part > 1) return;
    const urgent = (): number => more.push(compute('urgent', ticket('interactive')));
    more.push(compute('normal', ticket('normal'), 2, (own) => own === 1 && urgent()));
  });
  await Promise.all(more);
  expect(happened).toEqual(['long 1', 'normal 1', 'urgent 1', 'normal 2', 'long 2']);
});

test('an aborted sum leaves the queue at once; one whose signal has aborted does not enter it', async () => {
  const { happened, compute } = makeQueue();
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.all([
    compute('first', ticket('normal'), 2, (part) => part === 1 && controller.abort()),
    compute('gone', ticket('interactive', { signal, size: 11 })),
    compute('next', ticket('normal')),
  ]);
  expect(happened).toEqual(['first 1', 'gone aborted', 'first 2', 'next 1']);
  await compute('too late', ticket('normal', { signal }));
  expect(happened.slice(4)).toEqual(['too late aborted']);
});

test('a paused sum that is aborted rejects at once, and the sum that went first continues alone', async () => {
  const { happened, compute } = makeQueue();
  const controller = new AbortController();
  const more: Promise<unknown>[] = [];
  await compute('long', ticket('background', { signal: controller.signal }), 2, () => {
    more.push(
      compute('urgent', ticket('interactive'), 3, (part) => part === 1 && controller.abort()),
      compute('next', ticket('background')),
    );
  });
  await Promise.all(more);
  expect(happened).toEqual(['long 1', 'urgent 1', 'long aborted', 'urgent 2', 'urgent 3', 'next 1']);
});

test('after a sum that fails the next one begins, and a paused one continues', async () => {
  const { happened, compute } = makeQueue();
  const fail = (): never => {
    throw new Error('failed');
  };
  const more: Promise<unknown>[] = [];
  await compute(
    'long',
    ticket('normal'),
    2,
    (part) => part === 1 && more.push(compute('urgent', ticket('interactive'), 1, fail)),
  );
  await Promise.all([...more, compute('wrong', ticket('normal'), 1, fail), compute('next', ticket('normal'))]);
  expect(happened).toEqual(['long 1', 'urgent 1', 'urgent failed', 'long 2', 'wrong 1', 'next 1', 'wrong failed']);
});
