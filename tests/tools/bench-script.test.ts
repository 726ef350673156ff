/** `npm run bench`: the modes of the page in Node, on the build of the bench. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StampedRow } from '../../dev/bench/rows.js';
import { bench as benchCommand, stress } from '../../scripts/commands.js';
import { pagePaths } from '../../scripts/docs/site-pages.js';
import { buildLibrary, builtLibrary } from '../support/build-library.js';
import { inProject, runHere, runScript } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-bench-'));
const bench = (...args: string[]) => runScript('scripts/bench.mjs', args, 110_000);

/** Knobs of kernels that compile faster, where a test is not about kernels. */
const quick = '--fieldproduct unsigned --walkers 4 --walkertpb 8'.split(' ');

beforeAll(async () => {
  await build({ configFile: inProject('vite.bench.config.ts'), root: inProject('.') });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the docs suggest output files in a folder that the linter skips', () => {
  const { files } = JSON.parse(readFileSync(inProject('biome.json'), 'utf8')) as { files: { includes: string[] } };
  expect(files.includes).toContain('!dev/results');
  const suggested = pagePaths(inProject('.')).flatMap((name) => {
    const text = readFileSync(inProject(name), 'utf8');
    return [...text.matchAll(/--(?:json|trace) ([\w./-]+\.json)/g)].map(([, path]) => path);
  });
  for (const path of suggested) expect(path).toMatch(/^dev\/results\//);
});

describe('npm start', () => {
  it('runs the built library from a packed folder without sources, and prints the times', {
    tags: 'long',
  }, async () => {
    // where imports find the packages
    const place = inProject('node_modules/.cache/webgpu-msm/packed');
    cpSync(inProject('scripts'), join(place, 'scripts'), { recursive: true });
    cpSync(inProject('dist-bench'), join(place, 'dist-bench'), { recursive: true });
    await buildLibrary(join(place, 'dist'));
    const json = join(folder, 'start.json');
    const script = join(place, 'scripts/start.mjs');
    const small = ['--proof', '4', '--n', '2^4,9', '--reps', '1'];
    const { code, stdout, stderr } = await runScript(script, [...small, '--json', json], 110_000);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // a proof comes first, and nothing runs on a GPU that is slower than the CPU
    if (process.env.WEBGPU_MSM_ADAPTER_KIND === 'software') {
      expect(stdout).toMatch(
        /^adapter: CPU, .*\n\nA Groth16 proof of 14 constraints takes [\d.,]+ ms; the first one, /,
      );
      expect(stdout).toMatch(/\nComputed on the CPU: [^\n]*\n[\s\S]*\nThe only GPU here is a software adapter, .*\n$/);
      expect(stdout).not.toContain('walk');
    }
    for (const line of [/\n9 +correct +[\d.]+/, /\n2⁴ +correct +[\d.]+/]) expect(stdout).toMatch(line);
    const onGpu = await runScript(
      script,
      ['--proof', '0', '--n', '2^4', '--reps', '1', '--adapter', process.env.WEBGPU_MSM_ADAPTER ?? 'software'],
      110_000,
    );
    expect(onGpu).toMatchObject({ code: 0, stderr: '' });
    expect(onGpu.stdout).not.toContain('proof');
    for (const line of [/\nwalk +[\d.]+ ms, \d+ %\n/, /\ncompiled once.*walk \d+ ms/])
      expect(onGpu.stdout).toMatch(line);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    const [ofProof, ofSums] = rows.filter(({ event }) => event === 'init');
    expect(ofProof).toMatchObject({ mode: 'proof' });
    expect(ofSums).toMatchObject({ settings: [expect.stringContaining(`build=${realpathSync(place)}`)] });
  });

  it('refuses a wrong argument with code 1, and prints help', async () => {
    const { code, stdout, stderr } = await runScript('scripts/start.mjs', ['--n', '0'], 30_000);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^--n: '0' is not an integer from 1 to \d+\n\nusage: npm start/);
  });
});

describe('help', () => {
  const namesItsUsage = { code: 0, stdout: expect.stringMatching(/usage: npm [\s\S]*--help/), stderr: '' };

  it.each(['start', 'correctness', 'dev', 'stress'])('of %s names its usage', async (name) => {
    expect(await runScript(`scripts/${name}.mjs`, ['--help'], 30_000)).toEqual(namesItsUsage);
  });

  it.each([
    ['bench count', benchCommand],
    ['bench gpu-day', benchCommand],
    ['stress fuzz', stress],
    ['stress faults', stress],
    ['stress soak', stress],
  ])('of %s names its usage', async (name, command) => {
    expect(await runHere(command, [...name.split(' ').slice(1), '--help'])).toEqual(namesItsUsage);
  });
});

describe('npm run bench', () => {
  it('sweeps sizes and a knob, prints a table, and writes every row as the page posts them', {
    tags: 'long',
  }, async () => {
    const json = join(folder, 'rows.json');
    const { code, stdout, stderr } = await bench(
      ...['run', '--logn', '4..5', '--walkerpriv', '0,1', '--reps', '2'],
      ...['--json', json],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^adapter: .*, (software|hardware); Node v20/);
    for (const line of [/\n2⁴ +correct +walkerpriv=0 +\d/, /\n2⁵ +correct +walkerpriv=1 +\d/])
      expect(stdout).toMatch(line);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    expect(rows[0]).toMatchObject({ event: 'init', mode: 'sweep', settings: ['walkerpriv=0', 'walkerpriv=1'] });
    expect(rows.at(-1)).toMatchObject({ event: 'end', status: 'done' });
    const placements = rows.flatMap((row) => (row.event === 'repetition' ? [row.placement] : []));
    // in turns, and who begins changes
    const turns = ['workgroup', 'private', 'private', 'workgroup'];
    expect(placements).toEqual([...turns, ...turns]);
  });

  it('writes a trace for Perfetto', { tags: 'long' }, async () => {
    const trace = join(folder, 'trace.json');
    const { code, stdout } = await bench('run', '--logn', '4', '--reps', '1', ...quick, '--trace', trace);
    expect(code).toBe(0);
    expect(stdout).toContain('walk');
    expect(JSON.parse(readFileSync(trace, 'utf8')).traceEvents.length).toBeGreaterThan(6);
  });

  it('opens no GPU and takes no adapter with --backend cpu', { tags: 'long' }, async () => {
    const json = join(folder, 'cpu.json');
    const { code, stdout, stderr } = await bench(
      ...'run --logn 4 --reps 1 --peers none --backend cpu --json'.split(' '),
      json,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^adapter: CPU, \d+ logical cores, no GPU opened; Node v\d+[^;]*\n/);
    expect(stdout).not.toMatch(/software|hardware limit/);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    expect(rows.filter((row) => row.event === 'repetition')).toMatchObject([{ on: 'cpu', agrees: true }]);
    const refused = await bench(...'run --logn 4 --backend cpu --adapter software'.split(' '));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--adapter: msm-bench --backend cpu runs on the CPU and takes no adapter');
  });

  it('compares A and B, and prints the confidence', { tags: 'long' }, async () => {
    const { code, stdout } = await bench(...'run --logn 4 --reps 2 --a.c 4 --b.c 8'.split(' '));
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n2⁴ = 16 points\n[\s\S]*\nA: c=4 +\d[\s\S]*\nB: c=8 +\d/);
    expect(stdout).toContain('Too few pairs');
  });

  it('compares two builds, and finds the one with wrong results', { tags: 'long' }, async () => {
    const right = dirname(await builtLibrary());
    const both = await bench(...`run --n 64 --reps 2 --a.build ${right} --b.walkers 8`.split(' '));
    expect(both.code, both.stderr).toBe(0);
    for (const side of [`\nA: build=${right} `, '\nB: walkers=8 ']) expect(both.stdout).toContain(side);

    const wrong = join(folder, 'wrong');
    mkdirSync(join(wrong, 'dist'), { recursive: true });
    writeFileSync(join(wrong, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(wrong, 'dist/index.js'),
      `export const createMsmEngine = async () => ({
        lastRun: null,
        memory: { peak: 0 },
        pipelines: [],
        loadBases: async () => ({ byteLength: 0, destroy() {} }),
        msm: async () => ({ x: 1n, y: 2n, infinity: false }),
        destroy() {},
      });`,
    );
    const { code, stdout, stderr } = await bench('run', '--n', '64', '--reps', '3', '--b.build', wrong);
    expect(code).toBe(1);
    expect(stderr).toMatch(/wrong result at .*n=64.*, B, nothing was timed: got \(0x1, 0x2\), expected \(0x/);
    expect(stdout).not.toMatch(/B ÷ A/);
  });

  it('times transforms beside those of ffjavascript, which are right', async () => {
    const json = join(folder, 'transforms.json');
    const { code, stdout, stderr } = await bench(
      ...`run --op ntt --backend cpu --logn 0,5 --reps 2 --peers ffjavascript,noble --json ${json}`.split(' '),
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/2\^5 elements of bn254-fr: \S+ of ffjavascript’s time/);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    const timed = rows.flatMap((row) => (row.event === 'transform' && row.logN === 5 ? [row] : []));
    expect(timed.map(({ subject, products, passes, wallMs }) => [subject, products, passes, wallMs.length])).toEqual([
      ['webgpu-msm, natural to reversed', 80, 1, 2],
      ['webgpu-msm, natural to natural', 80, 1, 2],
      ['webgpu-msm, reversed to natural', 112, 1, 2],
      ['ffjavascript, fft', null, null, 2],
      ['ffjavascript, ifft', null, null, 2],
      ['noble, direct', null, null, 2],
      ['noble, inverse', null, null, 2],
    ]);
  });

  it('times transforms on the GPU', { tags: 'long' }, async () => {
    const json = join(folder, 'transforms-gpu.json');
    const args = `run --op ntt --logn 6,10 --reps 2 --peers none --json ${json}`;
    const { code, stdout, stderr } = await bench(...args.split(' '));
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/Transforms in bn254-fr, (unsigned|dot4|fma)/);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    const timed = rows.flatMap((row) => (row.event === 'transform' && row.logN === 10 ? [row] : []));
    expect(timed.map((row) => [row.products, row.passes])).toEqual([
      [5120, 2],
      [5120, 2],
      [6144, 2],
    ]);
  });

  it('loads the same points in several encodings, in turns', {
    tags: 'long',
  }, async () => {
    const json = join(folder, 'loading.json');
    const args = `run --phase load --n 100 --reps 2 --curve bls12-381 --encodings be,zcash-compressed --json ${json}`;
    const { code, stdout, stderr } = await bench(...args.split(' '));
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\n100 +zcash-compressed +[\d,.]+ .* [\d,.]+ – [\d,.]+ .* [\d,.]+\n/);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    // in turns
    const ways = ['be', 'zcash-compressed', 'be, checkSubgroup'];
    const loads = rows.flatMap((row) => (row.event === 'loading' ? [row.setting] : []));
    expect(loads).toEqual([...ways, ...ways.slice(1), ...ways.slice(0, 1)]);
    const loaded = rows.flatMap((row) => (row.event === 'loaded' ? [row] : []));
    expect(loaded.map(({ setting }) => setting)).toEqual(ways);
    expect(loaded[0]).toMatchObject({ beside: 'be', products: 5 });
  });

  it('measures products, and names a fastest only where the repetitions do', {
    tags: 'long',
  }, async () => {
    const args = 'field --chains 1 --reps 2 --ms 1 --threads 64'.split(' ');
    const { code, stdout, stderr } = await bench(...args);
    expect(code, stderr).toBe(0);
    for (const name of ['product, 13-bit, plain', 'product, words, unsigned', 'product, words, dot4']) {
      expect(stdout).toMatch(new RegExp(`\n${name} +[\\d.]+ +[\\d.]+ `));
    }
    // two repetitions are too few for a difference
    expect(stdout).toMatch(
      /\nThe product .* reaches .* million per second: the lowest median of \d+, from too few repetitions for a verdict/,
    );
    // heads of neighbouring columns do not run into each other
    const heads = /^Operation .*$/m.exec(stdout)?.[0] ?? '';
    expect(heads.split(/ {3,}/)).toEqual([
      'Operation',
      '1 chain, M/s',
      '× plain',
      '÷ product',
      'Share of the limit',
      'Compile, ms',
    ]);
  });

  it('cross-checks with peers', { tags: 'long' }, async () => {
    const { code, stdout } = await bench(
      ...['check', '--n', '9', '--reps', '1', ...quick],
      ...[
        '--case',
        'points=pairs,scalars=random',
        '--case',
        'encoding=gnark-compressed,points=distinct,scalars=all-equal',
      ],
    );
    expect(code).toBe(0);
    expect(stdout).toContain('Correct: 4 of 4 checks passed.');
  });

  it.each([
    [['run', '--walkerprv', '1'], '--walkerprv: no such knob; did you mean --walkerpriv?'],
    [['run', '--windowBits', '8'], '--windowBits: no such knob; did you mean --c?'],
    [['run', '--frobnicate'], "unknown option '--frobnicate'"],
    [['run', '--c', '99'], '--c: "99"'],
    [['race'], "unknown command 'race'"],
    [['sweep'], "unknown command 'sweep'"],
    [['run', 'calibrate'], "'calibrate' belongs to no option"],
    [['field', '--logn', '4'], '--logn: not used by autorun=field-bench'],
    [['run', '--adapter', 'abacus'], 'abacus'],
    [['run', '--json', '/no/such/folder/x.json'], '--json: there is no folder'],
    [['run', '--trace', '/no/such/folder/x.json'], '--trace: there is no folder'],
    [['run', '--op', 'ntt', '--trace', 'x.json'], '--trace: not used by transforms'],
    [['run', '--phase', 'lod'], "--phase: 'lod' is none of msm, load"],
    [
      ['run', '--phase', 'load', '--encodings', 'be,zcash'],
      '--encodings: "zcash" is not an encoding of bn254, g1; use le, be, ',
    ],
    [['run', '--b.build', '/nowhere'], '--build: /nowhere/dist/index.js does not exist'],
    [['run', '--op', 'ntt', '--backend', 'both'], '--backend: "both" is not gpu or cpu'],
    [['circuits', '--witnesses', '--pages'], '--witnesses and --pages exclude each other'],
    [['keys', '--zkey', 'a.zkey'], '--zkey and --witness are missing'],
    [['keys', '--limit', '0,1.5'], "--limit: '1.5' is not an integer from 0 to 1048576"],
  ])('refuses %j with the name of the option and code 2', async (args, named) => {
    const { code, stdout, stderr } = await runHere(benchCommand, args);
    expect(code).toBe(2);
    expect(stderr.split('\n')[0]).toContain(named);
    expect(stdout).toBe('');
  });

  it('refuses an option in a process of its own, too', async () => {
    const { code, stdout, stderr } = await bench('run', '--frobnicate');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("unknown option '--frobnicate'");
  });

  it.each([[[]], [['--help']]])('answers %j with every command', async (args) => {
    const { code, stdout } = await bench(...args);
    expect(code).toBe(0);
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name);
    const measured = ['run', 'check', 'proof', 'proofs', 'field', 'calibrate'];
    expect(listed).toEqual([...measured, 'count', 'setups', 'circuits', 'keys', 'gpu-day', 'self-test']);
  });

  it('lists every knob of a mode in its help, and no other', async () => {
    const { code, stdout } = await runHere(benchCommand, ['check', '--help']);
    expect(code).toBe(0);
    for (const knob of ['--logn', '--walkerpriv', '--submitadds', '--precompute', '--build DIR']) {
      expect(stdout).toContain(`\n  ${knob}`);
    }
    expect(stdout).not.toContain('--a.c');
    expect(stdout).not.toContain('--chains');
  });
});
