/** The command line of `npm run ab`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseInteger, parseSize, parseStrictly, UsageError } from '../command-line.mjs';

export const usage = `Which of two configurations, or of two builds, is faster here, and is the difference more than noise?

usage: npm run ab -- [options]

  --a walkerSlots=8,…  knobs of A, as createMsmEngine({ tuning }) takes them (README.md has them); others are the engine's choice,
                       but for cpuBelow, which is 0 unless given; and precompute=4, for loadBases
  --b walkerSlots=16,… knobs of B
  --a-build DIR        A is the library that is built in DIR/dist; default: this one
  --b-build DIR        the same for B
  --n 2^12             how many points; 2^k is understood
  --reps 15            pairs of A and B; who begins changes with each
  --points distinct    distribution of the points
  --scalars random     distribution of the scalars, which are others in each pair
  --seed 1             of the points and the scalars
  --json FILE          also writes the result and every pair to a file
  --adapter auto       auto, software or hardware
  --help               this text`;

/** The most points that a case of dev/cases has. */
const LARGEST_N = 2 ** 22;

const here = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {Readonly<Record<string, number | boolean | string>>} Settings
 *
 * @typedef {object} SideOptions
 * @property {'A' | 'B'} name
 * @property {Settings} settings as they were given
 * @property {Settings} tuning the knobs among them; the engine judges them, as another build may have other knobs
 * @property {Settings} load what is for loadBases
 * @property {string} build folder of the package
 * @property {string} library the module in it
 * @property {boolean} own whether it is this checkout's
 */

export function parseOptions() {
  const values = parseStrictly({
    a: { type: 'string', default: '' },
    b: { type: 'string', default: '' },
    'a-build': { type: 'string' },
    'b-build': { type: 'string' },
    n: { type: 'string', default: '2^12' },
    reps: { type: 'string', default: '15' },
    points: { type: 'string', default: 'distinct' },
    scalars: { type: 'string', default: 'random' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const { help, points, scalars, json, adapter } = values;
  return {
    help,
    points,
    scalars,
    json,
    adapter,
    n: parseSize('n', values.n, 1, LARGEST_N),
    reps: parseInteger('reps', values.reps, 1, 1000),
    seed: parseInteger('seed', values.seed, 0, 2 ** 32 - 1),
    // --help is answered wherever it is asked
    sides: help ? [] : [side('A', values.a, values['a-build']), side('B', values.b, values['b-build'])],
  };
}

/**
 * @param {'A' | 'B'} name
 * @param {string} text
 * @param {string | undefined} folder
 * @returns {SideOptions}
 */
function side(name, text, folder) {
  const option = name.toLowerCase();
  const build = folder === undefined ? here : resolve(folder);
  const library = resolve(build, 'dist/index.js');
  if (!existsSync(library)) {
    throw new UsageError(`--${option}-build: ${library} is not there; \`npm run build\` makes it`);
  }
  const settings = parseSettings(option, text);
  const { precompute, ...tuning } = settings;
  const load = precompute === undefined ? {} : { precompute };
  return { name, settings, tuning, load, build, library, own: folder === undefined };
}

/**
 * `walkerSlots=8,fieldCarry=float,checks=true`
 *
 * @param {string} option
 * @param {string} text
 * @returns {Settings}
 * @throws UsageError
 */
export function parseSettings(option, text) {
  /** @type {Map<string, number | boolean | string>} */
  const settings = new Map();
  for (const part of text.trim() === '' ? [] : text.split(',')) {
    const [, name, value] = /^\s*(\w+)=([\w^]+)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`--${option}: '${part}' is not a setting; write them as walkerSlots=8,fieldCarry=float`);
    }
    if (settings.has(name)) throw new UsageError(`--${option}: ${name} is given twice`);
    settings.set(name, parseValue(value));
  }
  return Object.fromEntries(settings);
}

/** @param {string} text */
function parseValue(text) {
  if (text === 'true' || text === 'false') return text === 'true';
  const power = /^2\^(\d{1,2})$/.exec(text);
  if (power) return 2 ** Number(power[1]);
  return /^\d+$/.test(text) ? Number(text) : text;
}
