/**
 * npm --prefix tools/native start -- --op ntt --logn 12,14,16 --rounds 5 --json rows.json
 *
 * Builds the native programs, runs them and the library in turns, and prints medians.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const REPETITIONS = 5;

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

const ours = [process.execPath, join(here, 'ours.mjs')];
const ark = join(built, 'release', 'native-ark');

/**
 * Programs of each operation, by subject.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>}
 */
const operations = {
  msm: { 'webgpu-msm': [...ours, 'msm'], arkworks: [ark, 'msm'], 'gnark-crypto': [gnark, 'msm'] },
  ntt: {
    'webgpu-msm': [...ours, 'ntt'],
    'webgpu-msm, to reversed': [...ours, 'ntt-reversed'],
    arkworks: [ark, 'ntt'],
    'gnark-crypto': [gnark, 'ntt'],
    'gnark-crypto, to reversed': [gnark, 'ntt-reversed'],
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
    for (const [name, [program = '', ...before]] of round % 2 === 0 ? order : order.toReversed()) {
      const output = execFileSync(program, [...before, `${logn}`, `${REPETITIONS}`], { encoding: 'utf8' });
      for (const line of output.trim().split('\n')) {
        times.get(name)?.push(Number(line));
        rows.push({ event: 'native', operation: values.op, subject: name, logn, round, wallMs: Number(line) });
      }
    }
  }
  for (const [name, own] of times) console.log(`2^${logn}  ${name.padEnd(25)}  ${median(own).toFixed(2)} ms`);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
