/**
 * npm run stress -- mutate --minutes 480 --seed 1
 *
 * Changes one thing in a source of the library, thousands of times, and runs the tests that could
 * notice. A mutant that no test notices needs a test, or a reason in
 * scripts/mutate/harmless.json. Files stay unchanged: a source is changed as a test loads it.
 */
import { adapterOption, anyText, command, flag, integer, listOf, outputFile, valued } from './command-line.js';

export const options = {
  minutes: valued('10', 'duration', integer(1, 10_000), 10),
  seed: valued('1', 'seed of the order; the same seed gives the same order', integer(0, 2 ** 31), 1),
  files: valued('survey,wgsl/sort', 'only sources whose path contains one of these words', listOf(anyText), ['']),
  lines: valued('40,41', 'only changes that begin in one of these lines', listOf(integer(1, 10_000))),
  quick: flag('only tests without a GPU, and only sources that such tests are about'),
  json: valued('FILE', 'write every mutant and its outcome as JSON', outputFile),
  adapter: adapterOption,
};

export const mutateCommand = command({
  about: 'one change in a source: does a test notice?',
  usage: 'usage: npm run stress -- mutate [options]',
  options,
  notes:
    'Exit code: 0 every mutant is noticed, or explained in scripts/mutate/harmless.json · 1 one is not · 2 bad usage',
  // imported late: TypeScript takes a while to load
  run: async (given) => (await import('./mutate/campaign.js')).campaign(given),
});
