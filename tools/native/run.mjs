/**
 * npm --prefix tools/native start -- --op ntt --logn 12,14,16 --rounds 5 --json rows.json
 *
 * Builds the native programs, runs them and the library in turns, and prints medians.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const project = join(here, '../..');
const [REPETITIONS, WARM_UPS] = [5, 20];

const { values } = parseArgs({
  options: {
    op: { type: 'string', default: 'msm' },
    logn: { type: 'string', default: '12,14,16' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const sizes = values.logn.split(',').map(Number);
const rounds = Number(values.rounds);
if (![rounds, ...sizes].every((value) => Number.isInteger(value) && value > 0)) {
  throw new Error('--logn takes numbers from 1, --rounds a number from 1');
}

const built = join(tmpdir(), 'webgpu-msm-native');
const gnark = join(built, 'gnark');
const cargo = ['build', '--release', '--quiet', '--locked', '--target-dir', built];
execFileSync('cargo', cargo, { cwd: join(here, 'ark'), stdio: 'inherit' });
execFileSync('go', ['build', '-o', gnark], { cwd: join(here, 'gnark'), stdio: 'inherit' });

const ark = join(built, 'release', 'native-ark');

/** Returns the milliseconds of timed results. @typedef {(logn: number) => number[]} Timed */

/** Runs a native program. @type {(program: string, operation: string) => Timed} */
const native = (program, operation) => (logn) => {
  const printed = execFileSync(program, [operation, `${logn}`, `${REPETITIONS}`], { encoding: 'utf8' });
  return printed.trim().split('\n').map(Number);
};

/** Runs the bench on one thread. Its first results are left out, in which V8 optimises. @type {(subject?: string) => Timed} */
const ours = (subject) => (logn) => {
  const file = join(built, 'ours.json');
  const own = subject === undefined ? ['--workers', '0', '--build', project] : ['--op', 'ntt'];
  const how = ['--backend', 'cpu', '--peers', 'none', '--logn', `${logn}`, '--reps', `${WARM_UPS + REPETITIONS}`];
  const bench = [join(project, 'scripts/bench.mjs'), 'run', ...how, ...own, '--json', file];
  execFileSync(process.execPath, bench, { stdio: ['ignore', 'ignore', 'inherit'] });
  /** @type {{ event: string, subject?: string, wallMs: number | number[] }[]} */
  const rows = JSON.parse(readFileSync(file, 'utf8'));
  const timed = rows.filter((row) => row.event === (subject ? 'transform' : 'repetition') && row.subject === subject);
  return timed.flatMap(({ wallMs }) => wallMs).slice(-REPETITIONS);
};

/** Programs of each operation, by subject. @type {Readonly<Record<string, Readonly<Record<string, Timed>>>>} */
const operations = {
  msm: { 'webgpu-msm': ours(), arkworks: native(ark, 'msm'), 'gnark-crypto': native(gnark, 'msm') },
  ntt: {
    'webgpu-msm': ours('webgpu-msm, natural to natural'),
    'webgpu-msm, to reversed': ours('webgpu-msm, natural to reversed'),
    arkworks: native(ark, 'ntt'),
    'gnark-crypto': native(gnark, 'ntt'),
    'gnark-crypto, to reversed': native(gnark, 'ntt-reversed'),
  },
};
const programs = operations[values.op];
if (programs === undefined) throw new Error('--op takes msm or ntt');

/** @param {readonly number[]} all */
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

/** @type {object[]} */
const rows = [
  {
    event: 'init',
    environment: { runtime: `Node ${process.version}`, cores: availableParallelism(), cpu: cpus()[0]?.model },
    at: new Date().toISOString(),
  },
];
for (const logn of sizes) {
  /** @type {Map<string, number[]>} */
  const times = new Map(Object.keys(programs).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = Object.entries(programs);
    for (const [name, time] of round % 2 === 0 ? order : order.toReversed()) {
      for (const wallMs of time(logn)) {
        times.get(name)?.push(wallMs);
        rows.push({ event: 'native', operation: values.op, subject: name, logn, round, wallMs });
      }
    }
  }
  for (const [name, own] of times) console.log(`2^${logn}  ${name.padEnd(25)}  ${median(own).toFixed(2)} ms`);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
