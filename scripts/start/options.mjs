/** The command line of `npm start`. */
import { parseInteger, parseSize, parseStrictly } from '../command-line.mjs';

export const usage = `Computes BN254 multi-scalar multiplications on the GPU, checks each, and prints what they took.

usage: npm start -- [options]

  --n 1024,2^12,...    how many points; 2^k is understood     (default 2^10,2^12,2^14)
  --reps 3             timed repetitions of each, after a warm-up; the median is printed
  --seed 1             of the points and the scalars
  --adapter auto       auto: the GPU where there is one, else the software adapter from npm; or software, hardware
  --precompute 1       multiples of each point that loadBases keeps
  --budget 256         the engine's memoryBudget in MiB; what needs more runs in groups and chunks
  --json FILE          also writes what was measured to a file, one row a size
  --help               this text
`;

/** Beyond this the points alone are 4 GiB. */
const LARGEST_N = 2 ** 26;

/**
 * @param {string[]} args
 */
export function parseOptions(args) {
  const values = parseStrictly(
    {
      n: { type: 'string', default: '2^10,2^12,2^14' },
      reps: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      adapter: { type: 'string' },
      json: { type: 'string' },
      budget: { type: 'string' },
      precompute: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false, short: 'h' },
    },
    args,
  );
  return {
    help: values.help,
    adapter: values.adapter,
    json: values.json,
    sizes: [...new Set(values.n.split(',').map((text) => parseSize('n', text.trim(), 1, LARGEST_N)))].sort(
      (a, b) => a - b,
    ),
    reps: parseInteger('reps', values.reps, 1, 1000),
    seed: parseInteger('seed', values.seed, 0, 2 ** 32 - 1),
    precompute: parseInteger('precompute', values.precompute, 1, 64),
    memoryBudget: values.budget === undefined ? undefined : 2 ** 20 * parseInteger('budget', values.budget, 1, 2 ** 20),
  };
}
