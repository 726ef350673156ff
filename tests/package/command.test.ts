/** The command `webgpu-msm` of the built package, beside the command of snarkjs and its files. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Terminal } from '../../src/command/terminal.js';
import { fileOf } from '../../src/formats/zkey.js';
import { openZkey } from '../../src/formats.js';
import { buildLibrary } from '../support/build-library.js';
import { compileCircuit, shapes } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { runProgram } from '../support/packed-package.js';
import { ffCurveOf, memoryFile, powersOf, snarkjs, systems } from '../support/proving.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-command-'));
const at = (name: string): string => join(folder, name);
const manifest = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
const command = at(join('package', manifest.bin['webgpu-msm']));
/** An input that must not be printed; the circuit logs its public value 4, and `out`. */
const SECRET = '918273645546372819';
const input = { a: [1, 2, 3, 4, 5, SECRET], k: 4, turns: 2 };
const write = (name: string, value: unknown): void =>
  writeFileSync(at(name), value instanceof Uint8Array ? value : JSON.stringify(value));
const readText = (name: string): string => readFileSync(at(name), 'utf8');
const readJson = (name: string) => JSON.parse(readText(name));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in the folder. */
const run = (...words: readonly string[]): Promise<Ended> => runWith(null, ...words);

/** Runs the command in the folder. @param text standard input; null for one that is at its end */
const runWith = (text: string | null, ...words: readonly string[]): Promise<Ended> =>
  new Promise((settle, reject) => {
    const child = spawn(process.execPath, [command, ...words], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(text ?? '');
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (data) => (said[name] += data));
    child.once('error', reject);
    child.once('close', (code) => settle({ code, ...said }));
  });

const proveWords = ['prove', '--wasm', 'circuit.wasm', '--zkey', 'groth16.zkey', '--input', 'input.json'];
const verifyWords = (key: string, name = 'groth16'): string[] => [
  ...['verify', '--key', key, '--proof', `${name}.proof.json`, '--public', `${name}.public.json`],
];

beforeAll(async () => {
  await buildLibrary(at('package/dist'));
  cpSync(inProject('package.json'), at('package/package.json'));
  const compiled = await compileCircuit(shapes);
  write('circuit.wasm', compiled.wasm);
  write('circuit.r1cs', compiled.r1cs);
  write('input.json', input);
  for (const system of systems) {
    const zkey = await makeZkey(system, 'bn254', compiled.r1cs);
    write(`${system}.zkey`, zkey);
    write(`${system}.json`, await snarkjs.zKey.exportVerificationKey(memoryFile(zkey)));
    const { code, stderr } = await run(
      ...['prove', '--wasm', 'circuit.wasm', '--zkey', `${system}.zkey`, '--input', 'input.json', '--verify'],
      ...['--proof', `${system}.proof.json`, '--public', `${system}.public.json`],
    );
    expect([code, stderr.replace(/warning: webgpu-msm: zkey: γ equals δ.*\n/, '')]).toEqual([0, '']);
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('prove', () => {
  test.each(systems)('writes a proof of %s that snarkjs verifies', async (system) => {
    const result = { proof: readJson(`${system}.proof.json`), publicSignals: readJson(`${system}.public.json`) };
    expect(await verifyBySnarkjs(system, readFileSync(at(`${system}.zkey`)), result)).toBe(true);
  });

  test('writes the files of `snarkjs groth16 fullprove`, but for the random numbers', async () => {
    const cli = inProject('node_modules/snarkjs/build/cli.cjs');
    const files = ['input.json', 'circuit.wasm', 'groth16.zkey', 'theirs.proof.json', 'theirs.public.json'];
    await runProgram([process.execPath, cli, 'groth16', 'fullprove', ...files], folder, 60_000);
    const form = (name: string): string => readText(name).replace(/"\d+"/g, '"number"');
    expect(form('groth16.proof.json')).toBe(form('theirs.proof.json'));
    expect(readText('groth16.public.json')).toBe(readText('theirs.public.json'));
  });

  test('prints what has no file, and nothing that is secret', async () => {
    const plain = await run(...proveWords, '--public', 'only.public.json', '--backend', 'cpu');
    expect(plain.code).toBe(0);
    expect(Object.keys(JSON.parse(plain.stdout))).toEqual(['proof']);
    expect(readText('only.public.json')).toBe(readText('groth16.public.json'));
    const json = await run(...proveWords, '--verify', '--json');
    const result = JSON.parse(json.stdout);
    expect(result).toMatchObject({ protocol: 'groth16', curve: 'bn128', isVerified: true });
    expect(result.publicSignals).toEqual(readJson('groth16.public.json'));
    expect(result.timings.verificationMs).toBeGreaterThan(0);
    for (const { stdout, stderr } of [plain, json]) expect(stdout + stderr).not.toMatch(`second|\r|${SECRET}`);
  });

  test.each([
    ['inputs that do not satisfy the circuit', { ...input, k: 7 }, /do not satisfy the circuit.*line.*\nCorrect/s],
    ['an unknown signal', { ...input, b: 1 }, /webgpu-msm: input.*\bb\b/],
    ['a list of inputs', [SECRET], /must be an object with the values/],
  ])('refuses %s, without a value or a stack', async (_, wrong, message) => {
    write('wrong.json', wrong);
    const { code, stdout, stderr } = await run(...proveWords.with(-1, 'wrong.json'), '--proof', 'none.json');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(`    at |${SECRET}`);
    expect(() => statSync(at('none.json'))).toThrow('ENOENT');
  });

  test('refuses what is no JSON without its text, and a GPU without the package for it', async () => {
    writeFileSync(at('wrong.json'), `{ "a": ${SECRET}, }`);
    const broken = await run(...proveWords.with(-1, 'wrong.json'));
    expect([broken.code, broken.stderr]).toEqual([
      2,
      'webgpu-msm: wrong.json is not JSON; check that it is the right file\n',
    ]);
    const { code, stderr } = await run(...proveWords, '--backend', 'gpu');
    expect(code).toBe(2);
    expect(stderr).toMatch(/the package webgpu.*cannot be loaded\nInstall .*npm install webgpu/);
  });
});

describe('witness', () => {
  test('writes the bytes of `snarkjs wtns calculate`, for the owner alone', async () => {
    const words = ['witness', '--wasm', 'circuit.wasm', '--input', 'input.json', '--out', 'ours.wtns', '--json'];
    const { code, stdout } = await run(...words);
    const cli = inProject('node_modules/snarkjs/build/cli.cjs');
    const files = ['circuit.wasm', 'input.json', 'theirs.wtns'];
    await runProgram([process.execPath, cli, 'wtns', 'calculate', ...files], folder, 60_000);
    const theirs = readFileSync(at('theirs.wtns'));
    expect(readFileSync(at('ours.wtns')).equals(theirs)).toBe(true);
    expect([code, JSON.parse(stdout).byteLength]).toEqual([0, theirs.length]);
    expect(statSync(at('ours.wtns')).mode & 0o77).toBe(0);
  });
});

describe('verify', () => {
  const verifies = async (system: string, key: string): Promise<void> => {
    const valid = await run(...verifyWords(key, system));
    expect([valid.code, valid.stdout]).toEqual([0, 'The proof is valid.\n']);
    write('false.proof.json', readJson(`${system}.proof.json`));
    write('false.public.json', readJson(`${system}.public.json`).with(0, '1'));
    const invalid = await run(...verifyWords(key, 'false'), '--json');
    expect([invalid.code, invalid.stdout]).toEqual([1, '{"isValid":false}\n']);
  };
  const title = 'of %s by %s: 0 for a valid proof, 1 for other public values';
  test.each(systems.map((system) => [system, `${system}.json`] as const))(title, verifies);
  test.each([['groth16', 'groth16.zkey']])(title, verifies);
  test.each([
    ['plonk', 'plonk.zkey'],
    ['fflonk', 'fflonk.zkey'],
  ])(title, { tags: 'long' }, verifies);

  test('refuses keys that are damaged, and proofs of another system', async () => {
    const key = readJson('groth16.json');
    write('curve.json', { ...key, curve: 'bn255' });
    expect((await run(...verifyWords('curve.json'))).stderr).toMatch('key: curve must be bn128 or bls12381');
    write('point.json', { ...key, vk_alpha_1: ['1', '3', '1'] });
    const { code, stderr } = await run(...verifyWords('point.json'));
    expect(code).toBe(2);
    expect(stderr).toMatch('key: vk_alpha_1: ');
    write('list.json', { ...key, IC: key.IC.slice(1) });
    expect((await run(...verifyWords('list.json'))).stderr).toMatch(/key: IC must be an array of \d+ points/);
    const other = await run(...verifyWords('plonk.json'));
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(other.stderr).toMatch('proof must be a proof of plonk');
  });
});

describe('progress', () => {
  const shownBy = (isTTY: boolean, ...all: readonly (readonly [number, number | null])[]): string => {
    let shown = '';
    const write = (text: unknown): boolean => {
      shown += text;
      return true;
    };
    const terminal = new Terminal({ isTTY, write });
    for (const [done, total] of all) {
      terminal.progress({ stage: 'proof', part: 'H', done, total, remainingMs: null });
    }
    terminal.warn('late');
    terminal.clear();
    return shown;
  };

  test('is a bar on the last line of a terminal, which results do not follow', () => {
    const lines = shownBy(true, [0, 7], [6, 7], [7, 7], [0, 0], [9, null]).split('\r\x1b[2K');
    expect(lines).toEqual([
      '',
      `proof        [${'-'.repeat(24)}] 0 of 7 H`,
      `proof        [${'#'.repeat(20)}----] 6 of 7 H`,
      `proof        [${'#'.repeat(24)}] 7 of 7 H`,
      `proof        [${'#'.repeat(24)}] 0 of 0 H`,
      'proof        9 H',
      'warning: late\n',
    ]);
  });

  test('is not written to pipes and files', () => {
    expect(shownBy(false, [0, 7], [7, 7])).toBe('warning: late\n');
  });
});

/** A function of snarkjs that writes a file. */
type Setup = (...given: readonly unknown[]) => Promise<unknown>;

describe('info', () => {
  /** Facts of snarkjs. */
  const { info } = (snarkjs as unknown as { r1cs: { info(file: object): Promise<Record<string, number>> } }).r1cs;
  const facts = async (name: string) => JSON.parse((await run('info', name, '--json')).stdout);

  test('says what files are', async () => {
    const theirs = await info(memoryFile(readFileSync(at('circuit.r1cs'))));
    const { nVars, nOutputs, nPubInputs, nPrvInputs, nLabels, nConstraints } = theirs;
    expect(await facts('circuit.r1cs')).toEqual({
      ...{ format: 'r1cs', curve: 'bn254', constraints: nConstraints, variables: nVars, outputs: nOutputs },
      ...{ publicInputs: nPubInputs, privateInputs: nPrvInputs, labels: nLabels },
      byteLength: statSync(at('circuit.r1cs')).size,
    });
    const publicSignals = readJson('groth16.public.json').length;
    const shared = { format: 'zkey', curve: 'bn254', publicSignals };
    expect(await facts('groth16.zkey')).toMatchObject({ ...shared, protocol: 'groth16', variables: nVars });
    const groth16 = await facts('groth16.zkey');
    expect(groth16.contributions).toEqual([]);
    // points of A and B1, B2, C and H, and 12 bytes for each coefficient that snarkjs reads
    const { exportJson } = snarkjs.zKey as unknown as Record<'exportJson', Setup>;
    const { ccoefs } = (await exportJson(at('groth16.zkey'))) as { readonly ccoefs: readonly unknown[] };
    const variables = nVars as number;
    const points = 64 * (5 * variables - publicSignals - 1 + groth16.domainSize);
    expect(groth16.loadedBytes - points - 12 * ccoefs.length).toBeOneOf([0, 1, 2]);
    expect(groth16.witnessBytes).toBe(32 * variables);
    expect(await facts('plonk.zkey')).toMatchObject({ ...shared, protocol: 'plonk' });
    const ptau = memoryFile();
    const { newAccumulator } = (snarkjs as unknown as { powersOfTau: Record<'newAccumulator', Setup> }).powersOfTau;
    await newAccumulator(await ffCurveOf('bn254'), 4, ptau);
    write('powers.ptau', (ptau as { data?: Uint8Array }).data);
    expect(await facts('powers.ptau')).toMatchObject({ format: 'ptau', curve: 'bn254', power: 4, mostConstraints: 16 });
    expect(await facts('circuit.wasm')).toMatchObject({ format: 'wasm', curve: 'bn254', values: nVars });
    await run('witness', '--wasm', 'circuit.wasm', '--input', 'input.json', '--out', 'info.wtns');
    expect(await facts('info.wtns')).toMatchObject({ format: 'wtns', curve: 'bn254', values: nVars });
  });

  test('times a key of Groth16 on request, and no other file', async () => {
    const timed = await run('info', 'groth16.zkey', '--time', '--json');
    const { openMs, proofMs, ...others } = JSON.parse(timed.stdout);
    expect(timed.code).toBe(0);
    expect([openMs, proofMs].every((ms) => Number.isInteger(ms) && ms > 0)).toBe(true);
    expect(others).toEqual(await facts('groth16.zkey'));
    for (const [name, message] of [
      ['plonk.zkey', '--time is for keys of groth16, and this is a key of plonk'],
      ['circuit.r1cs', '--time is for proving keys of groth16, and circuit.r1cs is none'],
    ] as const) {
      const { code, stdout, stderr } = await run('info', name, '--time');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(message);
    }
  });

  test('names the contributions to a key, without what a terminal obeys', async () => {
    const contributed = memoryFile();
    const { contribute } = snarkjs.zKey as unknown as Record<'contribute', Setup>;
    await contribute(memoryFile(readFileSync(at('groth16.zkey'))), contributed, 'first \x1b[31mred', 'entropy');
    write('contributed.zkey', (contributed as { data?: Uint8Array }).data);
    const { code, stdout } = await run('info', 'contributed.zkey');
    expect(code).toBe(0);
    expect(stdout).toMatch('contributions: 1\n  1. first [31mred\n');
  });

  test('refuses other files, and paths without a file', async () => {
    const other = await run('info', 'input.json');
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch('input.json is no .zkey, compact key, .ptau, .wtns, .r1cs or .wasm file');
    const missing = await run('info', 'missing.zkey');
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toMatch(/missing\.zkey: there is no such file or folder; check the path\n$/);
  });
});

describe('pack', () => {
  test('makes a compact key, which info describes and times, and unpack writes the .zkey again', async () => {
    const zkey = readFileSync(at('groth16.zkey'));
    expect(await run('pack', 'groth16.zkey')).toMatchObject({ code: 0, stderr: '' });
    const { byteLength: _, ...facts } = JSON.parse((await run('info', 'groth16.zkey', '--json')).stdout);
    const timed = await run('info', 'groth16.compact.zkey', '--time', '--json');
    expect(timed).toMatchObject({ code: 0 });
    expect(JSON.parse(timed.stdout)).toEqual({
      ...{ ...facts, format: 'compact zkey', openMs: expect.any(Number), proofMs: expect.any(Number) },
      ...{ zkeyBytes: zkey.length, byteLength: statSync(at('groth16.compact.zkey')).size },
      statedZkeySha256: createHash('sha256').update(zkey).digest('hex'),
    });
    expect(await run('unpack', 'groth16.compact.zkey', 'again.zkey')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(at('again.zkey')).equals(zkey)).toBe(true);
  });
});

describe('setup', () => {
  const setup = snarkjs.zKey as unknown as Record<'newZKey' | 'beacon' | 'verifyFromR1cs', Setup>;
  const theirs = async (name: 'newZKey' | 'beacon', ...given: readonly unknown[]): Promise<Uint8Array> => {
    const file = memoryFile() as { data?: Uint8Array };
    const at = name === 'newZKey' ? 2 : 1;
    await setup[name](...given.slice(0, at), file, ...given.slice(at));
    return new Uint8Array(file.data as Uint8Array);
  };
  const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(at(name)));
  /** A file for snarkjs, which leaves files that it opens by their paths to the garbage collector. */
  const inMemory = (name: string): object => memoryFile(bytesOf(name));
  const beaconWords = (zkey: string, out: string, beacon: string, iterations: string) => [
    ...['setup', 'beacon', '--zkey', zkey, '--out', out],
    ...['--beacon', beacon, '--iterations', iterations],
  ];
  const verifyKeyWords = (zkey: string) => ['setup', 'verify', '--zkey', zkey, '--ptau', 'prepared.ptau'];
  const BEACON = '0102030405060708090a0b0c0d0e0f10';

  beforeAll(async () => {
    const { nConstraints } = await (
      snarkjs as unknown as { r1cs: { info(file: object): Promise<Record<string, number>> } }
    ).r1cs.info(memoryFile(bytesOf('circuit.r1cs')));
    const power = Math.ceil(Math.log2((nConstraints as number) + 8));
    write('prepared.ptau', await powersOf('bn254', power, 2 ** (power + 1) - 1, true));
  });

  test('makes the key of snarkjs, contributes, ends by a beacon, and verifies as snarkjs does', async () => {
    const made = await run('setup', 'new', '--r1cs', 'circuit.r1cs', '--ptau', 'prepared.ptau', '--out', 'first.zkey');
    expect(made).toEqual({ code: 0, stdout: '', stderr: '' });
    const files = ['circuit.r1cs', 'prepared.ptau'].map(inMemory);
    expect(bytesOf('first.zkey')).toEqual(await theirs('newZKey', ...files));

    const words = ['setup', 'contribute', '--zkey', 'first.zkey', '--out', 'second.zkey', '--name', 'Ada'];
    const contributed = await runWith(SECRET, ...words, '--entropy', 'stdin');
    expect(contributed.code).toBe(0);
    expect(contributed.stdout).toMatch(/^Hash of the contribution: [\da-f]{128}\n$/);
    expect(contributed.stdout + contributed.stderr).not.toContain(SECRET);
    expect(Buffer.from(bytesOf('second.zkey')).includes(SECRET)).toBe(false);

    const ended = await run(
      ...beaconWords('second.zkey', 'last.zkey', BEACON, '10'),
      ...['--name', 'a block', '--json'],
    );
    expect(ended.code).toBe(0);
    expect(bytesOf('last.zkey')).toEqual(await theirs('beacon', inMemory('second.zkey'), 'a block', BEACON, 10));

    const verdict = await run(...verifyKeyWords('last.zkey'), '--r1cs', 'circuit.r1cs', '--json');
    expect(verdict.code).toBe(0);
    const { isValid, why, contributions } = JSON.parse(verdict.stdout);
    expect([isValid, why]).toEqual([true, null]);
    const [first, last] = contributions;
    expect(contributed.stdout).toContain(first.hash);
    expect(first).toMatchObject({ name: 'Ada', beacon: null });
    expect(last).toEqual({
      name: 'a block',
      hash: JSON.parse(ended.stdout).hash,
      beacon: { value: BEACON, iterations: 10 },
    });
    expect(await setup.verifyFromR1cs(...files, inMemory('last.zkey'))).toBe(true);
  });

  test('verifies against the first key, and says why a key is not valid', async () => {
    const valid = await run(...verifyKeyWords('second.zkey'), '--initial', 'first.zkey', '--memory-limit', '1G');
    expect([valid.code, valid.stdout]).toEqual([
      0,
      expect.stringMatching(/^The key is valid\.\n {2}1\. Ada: [\da-f]{128}\n$/),
    ]);
    const damaged = bytesOf('second.zkey');
    const { at: from = 0 } = fileOf(await openZkey(damaged)).sections.get(9) ?? {};
    const [one, two] = [damaged.slice(from, from + 64), damaged.slice(from + 64, from + 128)];
    damaged.set(two, from);
    damaged.set(one, from + 64);
    write('damaged.zkey', damaged);
    const other = await run(...verifyKeyWords('damaged.zkey'), '--initial', 'first.zkey', '--json');
    expect(other.code).toBe(1);
    expect(JSON.parse(other.stdout)).toMatchObject({ isValid: false, why: expect.stringMatching(/./) });
  });

  test('draws from the system alone where nobody types, and writes nothing where it fails', async () => {
    const words = ['setup', 'contribute', '--zkey', 'first.zkey', '--json'];
    const [one, two] = [await run(...words, '--out', 'one.zkey'), await run(...words, '--out', 'two.zkey')];
    expect([one.code, two.code]).toEqual([0, 0]);
    expect(JSON.parse(one.stdout).hash).not.toBe(JSON.parse(two.stdout).hash);
    const before = readdirSync(folder);
    const failures = [
      await run(...words, '--out', 'none.zkey', '--entropy', 'stdin'),
      await run('setup', 'contribute', '--zkey', 'circuit.r1cs', '--out', 'none.zkey'),
      await run(...beaconWords('first.zkey', 'none.zkey', 'xy', '10')),
      await run(...beaconWords('first.zkey', 'none.zkey', BEACON, 'x')),
      await run(...verifyKeyWords('first.zkey')),
      await run('setup', 'contribute', '--zkey', 'first.zkey', '--out', 'none.zkey', '--entropy', SECRET),
      await run(...words, '--out', 'none.zkey', '--backend', 'gpu'),
      await run(...words, '--out', 'none.zkey', '--memory-limit', '1M'),
      await run(...verifyKeyWords('second.zkey'), '--initial', 'first.zkey', '--memory-limit', '1M'),
    ];
    expect(failures.map(({ code }) => code)).toEqual(failures.map(() => 2));
    expect(failures[0]?.stderr).toMatch('standard input has no bytes');
    expect(failures[4]?.stderr).toMatch('either --r1cs or --initial');
    expect(failures[6]?.stderr).toMatch('the package webgpu, which gives Node a GPU, cannot be loaded');
    for (const { stderr } of failures.slice(7)) {
      expect(stderr).toMatch('options.memoryLimit is 1048576 bytes');
      expect(stderr).toMatch('Raise --memory-limit where you set it');
    }
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe('setup of other files', () => {
  interface Powers {
    newAccumulator(curve: unknown, power: number, to: object): Promise<unknown>;
    beacon(from: unknown, to: object, name: string, beacon: string, iterations: number): Promise<unknown>;
    preparePhase2(from: unknown, to: object): Promise<unknown>;
    verify(file: unknown): Promise<boolean>;
  }
  const { powersOfTau } = snarkjs as unknown as { readonly powersOfTau: Powers };
  const BEACON = '0102030405060708090a0b0c0d0e0f10';
  const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(at(name)));
  /** A file for snarkjs, which leaves files that it opens by their paths to the garbage collector. */
  const inMemory = (name: string): object => memoryFile(bytesOf(name));
  const made = async (make: (file: object) => Promise<unknown>): Promise<Uint8Array> => {
    const file = memoryFile() as { data?: Uint8Array };
    await make(file);
    return new Uint8Array(file.data as Uint8Array);
  };
  const ptau = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run('setup', 'ptau', ...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };

  test('makes powers of tau with the bytes of snarkjs, and verifies them', async () => {
    await ptau('new', '--power', '3', '--out', '0.ptau');
    expect(bytesOf('0.ptau')).toEqual(
      await made(async (file) => powersOfTau.newAccumulator(await ffCurveOf('bn254'), 3, file)),
    );
    const said = await ptau('contribute', '--ptau', '0.ptau', '--out', '1.ptau', '--name', 'Ada');
    expect(said).toMatch(/^Hash of the contribution: [\da-f]{128}\n$/);
    await ptau('beacon', '--ptau', '1.ptau', '--out', '2.ptau', '--beacon', BEACON, '--iterations', '10');
    expect(bytesOf('2.ptau')).toEqual(
      await made((file) => powersOfTau.beacon(memoryFile(bytesOf('1.ptau')), file, '', BEACON, 10)),
    );
    await ptau('prepare', '--ptau', '2.ptau', '--out', '3.ptau', '--backend', 'cpu', '--memory-limit', '1G');
    expect(bytesOf('3.ptau')).toEqual(
      await made((file) => powersOfTau.preparePhase2(memoryFile(bytesOf('2.ptau')), file)),
    );
    expect(await powersOfTau.verify(memoryFile(bytesOf('3.ptau')))).toBe(true);
    await ptau('truncate', '--ptau', '3.ptau', '--power', '2', '--out', 'short.ptau');
    expect(bytesOf('short.ptau').length).toBeLessThan(bytesOf('3.ptau').length);
    expect(await ptau('verify', '--ptau', '3.ptau')).toMatch(/^The powers are valid\.\n {2}1\. Ada: /);
    const damaged = bytesOf('3.ptau');
    damaged[damaged.length - 40] = (damaged[damaged.length - 40] as number) ^ 1;
    write('damaged.ptau', damaged);
    expect((await run('setup', 'ptau', 'verify', '--ptau', 'damaged.ptau')).code).toBe(1);
  });

  test('exchanges files with bellman, with the bytes of snarkjs', async () => {
    const { zKey } = snarkjs as unknown as {
      readonly zKey: Record<'newZKey' | 'exportBellman' | 'importBellman', Setup>;
    };
    write(
      'bellman.zkey',
      await made((file) => zKey.newZKey(inMemory('circuit.r1cs'), inMemory('prepared.ptau'), file)),
    );
    const bellman = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await run('setup', 'bellman', ...words);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    await bellman('export', '--zkey', 'bellman.zkey', '--out', 'challenge');
    expect(bytesOf('challenge')).toEqual(await made((file) => zKey.exportBellman(inMemory('bellman.zkey'), file)));
    const said = await bellman('contribute', '--challenge', 'challenge', '--out', 'response');
    expect(said).toMatch(/^Hash of the contribution: [\da-f]{128}\n$/);
    const files = ['--zkey', 'bellman.zkey', '--response', 'response', '--name', 'Ada'];
    await bellman('import', ...files, '--out', 'imported.zkey');
    const args = ['bellman.zkey', 'response'].map(inMemory);
    expect(bytesOf('imported.zkey')).toEqual(await made((file) => zKey.importBellman(...args, file, 'Ada')));
    const words = ['--zkey', 'imported.zkey', '--ptau', 'prepared.ptau', '--r1cs', 'circuit.r1cs'];
    expect((await run('setup', 'verify', ...words)).code).toBe(0);
  });

  test('exchanges powers of tau with bellman, with the bytes of snarkjs', async () => {
    const { exportChallenge, importResponse } = (snarkjs as unknown as { readonly powersOfTau: Record<string, Setup> })
      .powersOfTau as Record<'exportChallenge' | 'importResponse', Setup>;
    await ptau('new', '--power', '3', '--out', 'p0.ptau');
    await ptau('bellman', 'export', '--ptau', 'p0.ptau', '--out', 'powers-challenge');
    expect(bytesOf('powers-challenge')).toEqual(await made((file) => exportChallenge(at('p0.ptau'), file)));
    const words = ['--challenge', 'powers-challenge', '--out', 'powers-response', '--entropy', 'random'];
    expect(await ptau('bellman', 'contribute', ...words)).toMatch(/^Hash of the contribution: [\da-f]{128}\n$/);
    const files = ['--ptau', 'p0.ptau', '--response', 'powers-response', '--name', 'Ada'];
    await ptau('bellman', 'import', ...files, '--out', 'p1.ptau');
    const args = [at('p0.ptau'), at('powers-response')] as const;
    expect(bytesOf('p1.ptau')).toEqual(await made((file) => importResponse(...args, file, 'Ada', true)));
    expect(await ptau('verify', '--ptau', 'p1.ptau')).toMatch(/^The powers are valid\.\n {2}1\. Ada: /);
    const other = await run('setup', 'ptau', 'bellman', 'import', ...files.with(1, 'p1.ptau'), '--out', 'none.ptau');
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch('another challenge');
  });

  test('makes keys of PLONK, and exports verification keys', async () => {
    const words = ['setup', 'new', '--system', 'plonk', '--r1cs', 'circuit.r1cs', '--ptau', 'wide.ptau'];
    write('wide.ptau', await powersOf('bn254', 9, 2 ** 10 - 1, false));
    expect(await run(...words, '--out', 'ours.zkey')).toEqual({ code: 0, stdout: '', stderr: '' });
    const { plonk } = snarkjs as unknown as {
      readonly plonk: { setup(r1cs: unknown, ptau: unknown, to: object): Promise<unknown> };
    };
    const files = ['circuit.r1cs', 'wide.ptau'].map(inMemory) as [object, object];
    expect(bytesOf('ours.zkey')).toEqual(await made((file) => plonk.setup(...files, file)));
    expect((await run('setup', 'export', '--zkey', 'ours.zkey', '--out', 'ours.json')).code).toBe(0);
    const key = await snarkjs.zKey.exportVerificationKey(memoryFile(bytesOf('ours.zkey')));
    expect(readJson('ours.json')).toEqual(key);
  });
});

describe('usage', () => {
  test.each([
    [[...proveWords, '--backend', 'tpu'], 'Allowed choices are auto, cpu, gpu'],
    [[...proveWords, '--memory-limit', 'half'], 'such as 512M'],
    [[...proveWords, '--memory-limit', '1'], 'memoryLimit'],
    [['prove', '--wasm', 'circuit.wasm'], "required option '--zkey <file>'"],
    [['verfy'], 'Did you mean verify?'],
    [[...proveWords, '--prof', 'x'], 'Did you mean --proof?'],
  ])('%j has the exit code 2', async (words, message) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('help and version have the exit code 0', async () => {
    const help = await run('--help');
    expect(help.code).toBe(0);
    for (const name of ['prove', 'witness', 'verify', 'info', 'setup', 'Exit codes'])
      expect(help.stdout).toContain(name);
    expect(await run('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('a bare call prints the help and has the exit code 2', async () => {
    expect((await run()).code).toBe(2);
  });
});
