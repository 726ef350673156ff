/**
 * npm --prefix tools/native start -- --op ntt --logn 12,14,16 --rounds 5 --json rows.json
 * npm --prefix tools/native start -- --op groth16 --keys small.zkey,large.zkey --threads 1,2 --rounds 5
 *
 * Builds the native programs, runs them and the library in turns, and prints medians.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const project = join(here, '../..');
const built = join(tmpdir(), 'webgpu-msm-native');
const REPETITIONS = 5;

const { values } = parseArgs({
  options: {
    op: { type: 'string', default: 'msm' },
    logn: { type: 'string', default: '12,14,16' },
    keys: { type: 'string', default: '' },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});

/** @param {string} text */
const numbersOf = (text) => text.split(',').map(Number);
const [rounds = Number.NaN] = numbersOf(values.rounds);
const [sizes, threadCounts] = [numbersOf(values.logn), numbersOf(values.threads)];
if (![rounds, ...sizes, ...threadCounts].every((value) => Number.isInteger(value) && value > 0)) {
  throw new Error('--logn and --threads take numbers from 1, --rounds a number from 1');
}

/** @param {string} printed */
const lines = (printed) => printed.trim().split('\n').map(Number);

/** Returns milliseconds of timed results. @typedef {() => number[]} Timed */
/**
 * Programs that are timed in turns, by subject, and fields of their rows.
 * @typedef {{ title: string, fields: object, programs: Readonly<Record<string, Timed>> }} Case
 */

/** Builds a Rust program. @param {string} folder @param {string} name */
const buildRust = (folder, name) => {
  const cargo = ['build', '--release', '--quiet', '--locked', '--target-dir', built];
  execFileSync('cargo', cargo, { cwd: join(here, folder), stdio: 'inherit' });
  return join(built, 'release', name);
};

/** Builds a Go program. @param {string} folder */
const buildGo = (folder) => {
  const program = join(built, folder);
  execFileSync('go', ['build', '-o', program], { cwd: join(here, folder), stdio: 'inherit' });
  return program;
};

/* Sums and transforms on one thread. */

/** First results of the library's bench, in which V8 optimises. */
const WARM_UPS = 20;

/** Runs the bench on one thread, and leaves out its first results. @type {(logn: number, subject?: string) => Timed} */
const bench = (logn, subject) => () => {
  const file = join(built, 'ours.json');
  const own = subject === undefined ? ['--workers', '0', '--build', project] : ['--op', 'ntt'];
  const how = ['--backend', 'cpu', '--peers', 'none', '--logn', `${logn}`, '--reps', `${WARM_UPS + REPETITIONS}`];
  const command = [join(project, 'scripts/bench.mjs'), 'run', ...how, ...own, '--json', file];
  execFileSync(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] });
  /** @type {{ event: string, subject?: string, wallMs: number | number[] }[]} */
  const rows = JSON.parse(readFileSync(file, 'utf8'));
  const timed = rows.filter((row) => row.event === (subject ? 'transform' : 'repetition') && row.subject === subject);
  return timed.flatMap(({ wallMs }) => wallMs).slice(-REPETITIONS);
};

/** Returns the cases of sums or transforms. @param {'msm' | 'ntt'} op @returns {Case[]} */
const operationCases = (op) => {
  const [ark, gnark] = [buildRust('ark', 'native-ark'), buildGo('gnark')];
  return sizes.map((logn) => {
    /** @type {(program: string, operation: string) => Timed} */
    const native = (program, operation) => () =>
      lines(execFileSync(program, [operation, `${logn}`, `${REPETITIONS}`], { encoding: 'utf8' }));
    const programs = {
      msm: { 'webgpu-msm': bench(logn), arkworks: native(ark, 'msm'), 'gnark-crypto': native(gnark, 'msm') },
      ntt: {
        'webgpu-msm': bench(logn, 'webgpu-msm, natural to natural'),
        'webgpu-msm, to reversed': bench(logn, 'webgpu-msm, natural to reversed'),
        arkworks: native(ark, 'ntt'),
        'gnark-crypto': native(gnark, 'ntt'),
        'gnark-crypto, to reversed': native(gnark, 'ntt-reversed'),
      },
    };
    return { title: `2^${logn}`, fields: { logn }, programs: programs[op] };
  });
};

/* Proofs of Groth16 on some threads. */

/** Timed proofs of a run, and untimed ones of the library before them. */
const [PROOFS, WARM_PROOFS] = [3, 6];

/** Returns the logarithm of a key's domain, and the kind of its witness. @param {string} zkey @param {string} wtns */
const circuitOf = (zkey, wtns) => {
  const domain = sectionOf(readFileSync(zkey), 2).readUInt32LE(80);
  const witness = sectionOf(readFileSync(wtns), 2);
  const values = Array.from({ length: witness.length / 32 }, (_, i) => witness.subarray(32 * i + 4, 32 * (i + 1)));
  const long = values.filter((value) => value.some((byte) => byte !== 0)).length;
  return { logn: Math.log2(domain), witness: long < values.length / 2 ? 'bits' : 'dense' };
};

/** Returns a section of a file of snarkjs. @param {Buffer} file @param {number} wanted */
const sectionOf = (file, wanted) => {
  for (let at = 12; at < file.length; at += 12 + Number(file.readBigUInt64LE(at + 4))) {
    if (file.readUInt32LE(at) === wanted) return file.subarray(at + 12, at + 12 + Number(file.readBigUInt64LE(at + 4)));
  }
  throw new Error(`there is no section ${wanted}`);
};

/** Returns the cases of proofs: a witness stands beside its key. @returns {Case[]} */
const proofCases = () => {
  const keys = values.keys.split(',').filter(Boolean);
  if (keys.length === 0) throw new Error('--keys takes .zkey files of Groth16 on BN254, with a .wtns beside each');
  const [ark, gnark] = [buildRust('ark-groth16', 'native-ark-groth16'), buildGo('gnark-groth16')];
  return keys.flatMap((path) => {
    // npm starts programs in the folder of their package
    const zkey = resolve(process.env.INIT_CWD ?? '.', path);
    const wtns = zkey.replace(/\.zkey$/, '.wtns');
    const { logn, witness } = circuitOf(zkey, wtns);
    return threadCounts.map((threads) => {
      /** @type {(program: string, arguments_: readonly (string | number)[]) => Timed} */
      const program = (name, given) => () =>
        lines(
          execFileSync(name, given.map(String), {
            ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
            env: { ...process.env, GOMAXPROCS: `${threads}` },
          }),
        );
      const programs = {
        'webgpu-msm': program(process.execPath, [
          ...[join(here, 'prove.mjs'), zkey, wtns],
          ...[PROOFS, threads, WARM_PROOFS],
        ]),
        arkworks: program(ark, [zkey, wtns, PROOFS, threads]),
        gnark: program(gnark, [witness, logn, PROOFS]),
      };
      const title = `2^${logn} ${witness}, ${threads} thread${threads === 1 ? '' : 's'}`;
      return { title, fields: { logn, witness, threads }, programs };
    });
  });
};

/* All programs of a case in turns. */

/** @type {Readonly<Record<string, () => Case[]>>} */
const operations = { msm: () => operationCases('msm'), ntt: () => operationCases('ntt'), groth16: proofCases };
const casesOf = operations[values.op];
if (casesOf === undefined) throw new Error(`--op takes ${Object.keys(operations).join(', ')}`);

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
for (const { title, fields, programs } of casesOf()) {
  /** @type {Map<string, number[]>} */
  const times = new Map(Object.keys(programs).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = Object.entries(programs);
    for (const [name, time] of round % 2 === 0 ? order : order.toReversed()) {
      for (const wallMs of time()) {
        times.get(name)?.push(wallMs);
        rows.push({ event: 'native', operation: values.op, subject: name, ...fields, round, wallMs });
      }
    }
  }
  for (const [name, own] of times) console.log(`${title}  ${name.padEnd(25)}  ${median(own).toFixed(2)} ms`);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
