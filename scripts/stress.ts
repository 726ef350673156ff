/** npm run stress -- fuzz|faults|soak: looks for mistakes that no test names. */
import { runSubcommand, subcommand } from './command-line.js';
import { faultsCommand } from './faults.js';
import { fuzzCommand } from './fuzz.js';
import { soakCommand } from './soak.js';

export const stress = (): Promise<void> =>
  runSubcommand(
    `Looks for mistakes that no test names: each command draws at random, from a seed, until its time is over.

usage: npm run stress -- COMMAND [options]`,
    {
      fuzz: subcommand(fuzzCommand),
      faults: subcommand(faultsCommand),
      soak: subcommand(soakCommand),
    },
  );
