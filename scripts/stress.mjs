/** npm run stress -- fuzz|faults|soak|mutate: looks for mistakes that no test names. */
import { fromModule, runSubcommand } from './command-line.mjs';

await runSubcommand(
  `Looks for mistakes that no test names: each command draws at random, from a seed, until its time is over.

usage: npm run stress -- COMMAND [options]`,
  {
    fuzz: fromModule(
      'random programs: engines, points, scalars and calls, against an oracle',
      () => import('./fuzz.mjs'),
    ),
    faults: fromModule(
      'one fault in one call: is it found, retried, or at least not a wrong result?',
      () => import('./faults.mjs'),
    ),
    soak: fromModule('random load of many callers, with the bytes of all buffers counted', () => import('./soak.mjs')),
    mutate: fromModule('one change in a source: does a test notice?', () => import('./mutate.mjs')),
  },
);
