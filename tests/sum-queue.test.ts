/** Who has the CPU: in which order sums are computed, who leaves, and who goes first between the parts of another one. */
import { expect, test } from 'vitest';
import { type Pause, SumQueue, type SumTicket } from '../src/msm/cpu/sum-queue.js';

const turn = (priority: SumTicket['priority'], more: Partial<SumTicket> = {}): SumTicket => ({
  ...{ priority, since: 0, deadline: null, additions: 1 },
  ...more,
});

/** Until all has happened that needs no time. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A line, what happens on it, and sums whose parts are computed one by one. */
const makeLine = () => {
  const line = new SumQueue();
  const happened: string[] = [];
  const compute = (name: string, own: SumTicket, parts = 1, between?: (part: number) => void): Promise<unknown> => {
    const all = async (pause: Pause): Promise<void> => {
      for (let part = 1; part <= parts; part++) {
        happened.push(`${name} ${part}`);
        await settled();
        between?.(part);
        await settled();
        await pause(10);
      }
    };
    return line.inTurn(own, all).catch(({ code, message }) => happened.push(`${name} ${code ?? message}`));
  };
  return { line, happened, compute };
};

test('those that wait go in the order in which they are due', async () => {
  const { happened, compute } = makeLine();
  await Promise.all([
    compute('first', turn('normal')),
    compute('background', turn('background')),
    compute('normal', turn('normal', { since: 1 })),
    compute('in a hurry', turn('background', { since: 2, deadline: 900 })),
    compute('later', turn('normal', { since: 3 })),
  ]);
  expect(happened).toEqual(['first 1', 'in a hurry 1', 'normal 1', 'later 1', 'background 1']);
});

test('what is more urgent goes after the part that is computed, one in each pause, and nothing else does', async () => {
  const { happened, compute } = makeLine();
  const more: Promise<unknown>[] = [];
  await compute('long', turn('normal'), 4, (part) => {
    if (part !== 2) return;
    more.push(
      compute('as urgent', turn('normal', { since: -1 })),
      compute('less urgent', turn('background', { deadline: -5 })),
      compute('too large', turn('interactive', { since: -3, additions: 11 })),
      compute('one', turn('interactive', { additions: 10 }), 2),
      compute('other', turn('interactive', { since: -2 })),
    );
  });
  await Promise.all(more);
  expect(happened).toEqual([
    ...['long 1', 'long 2', 'other 1', 'long 3', 'one 1', 'one 2', 'long 4'],
    ...['less urgent 1', 'as urgent 1', 'too large 1'],
  ]);
});

test('who went first lets others go first', async () => {
  const { happened, compute } = makeLine();
  const more: Promise<unknown>[] = [];
  await compute('long', turn('background'), 2, (part) => {
    if (part > 1) return;
    const urgent = (): number => more.push(compute('urgent', turn('interactive')));
    more.push(compute('normal', turn('normal'), 2, (own) => own === 1 && urgent()));
  });
  await Promise.all(more);
  expect(happened).toEqual(['long 1', 'normal 1', 'urgent 1', 'normal 2', 'long 2']);
});

test('who waits and is aborted leaves at once, and before who comes aborted', async () => {
  const { happened, compute } = makeLine();
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.all([
    compute('first', turn('normal'), 2, (part) => part === 1 && controller.abort()),
    compute('gone', turn('interactive', { signal, additions: 11 })),
    compute('next', turn('normal')),
  ]);
  expect(happened).toEqual(['first 1', 'gone aborted', 'first 2', 'next 1']);
  await compute('too late', turn('normal', { signal }));
  expect(happened.slice(4)).toEqual(['too late aborted']);
});

test('who let another go first and is aborted leaves at once; the other goes on, and nobody beside it', async () => {
  const { happened, compute } = makeLine();
  const controller = new AbortController();
  const more: Promise<unknown>[] = [];
  await compute('long', turn('background', { signal: controller.signal }), 2, () => {
    more.push(
      compute('urgent', turn('interactive'), 3, (part) => part === 1 && controller.abort()),
      compute('next', turn('background')),
    );
  });
  await Promise.all(more);
  expect(happened).toEqual(['long 1', 'urgent 1', 'long aborted', 'urgent 2', 'urgent 3', 'next 1']);
});

test('who fails lets the next one begin, and the one that waits for it go on', async () => {
  const { happened, compute } = makeLine();
  const fail = (): never => {
    throw new Error('failed');
  };
  const more: Promise<unknown>[] = [];
  await compute(
    'long',
    turn('normal'),
    2,
    (part) => part === 1 && more.push(compute('urgent', turn('interactive'), 1, fail)),
  );
  await Promise.all([...more, compute('wrong', turn('normal'), 1, fail), compute('next', turn('normal'))]);
  expect(happened).toEqual(['long 1', 'urgent 1', 'urgent failed', 'long 2', 'wrong 1', 'next 1', 'wrong failed']);
});
