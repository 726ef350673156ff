/** Setups of an accelerated snarkjs: the results and files of its own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Accelerated, accelerate } from '../../src/snarkjs.js';
import { ffCurveOf, memoryFile, powersOf, snarkjs } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame } from '../support/setups.js';

type Setup = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>;

const theirs = snarkjs as unknown as { readonly zKey: Setup; readonly powersOfTau: Setup };
const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-setups-'));
const warnings: string[] = [];

let ours: Accelerated;
let files: { readonly r1cs: Uint8Array; readonly ptau: Uint8Array; readonly zkey: Uint8Array };

beforeAll(async () => {
  const { r } = await ffCurveOf('bn254');
  const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
  const ptau = await powersOf('bn254', 4, 31, true);
  const file = memoryFile() as { data?: Uint8Array };
  await theirs.zKey.newZKey?.(memoryFile(r1cs), memoryFile(ptau), file);
  files = { r1cs, ptau, zkey: file.data as Uint8Array };
  // a copy: the namespace of the module is constant
  ours = await accelerate({ ...snarkjs }, { backend: 'cpu', maxWorkers: 0, onWarning: (text) => warnings.push(text) });
});

afterEach(() => {
  vi.restoreAllMocks();
  warnings.length = 0;
});

afterAll(async () => {
  ours();
  await (await ffCurveOf('bn254')).terminate();
  rmSync(folder, { recursive: true });
});

/** Calls a function of both, and expects the same result and the same file. */
const expectBoth = async (
  part: 'zKey' | 'powersOfTau',
  name: string,
  given: (target: unknown) => readonly unknown[],
): Promise<Uint8Array | undefined> => {
  const [left, right] = [memoryFile(), memoryFile()] as { data?: Uint8Array }[] as [
    { data?: Uint8Array },
    { data?: Uint8Array },
  ];
  drawSame(1);
  const result = await (ours[part] as unknown as Setup)[name]?.(...given(left));
  const expected = await theirs[part][name]?.(...given(right));
  vi.restoreAllMocks();
  if (expected instanceof Uint8Array) expectSame(result as Uint8Array, expected);
  else expect(result).toEqual(expected);
  if (right.data !== undefined) expectSame(left.data as Uint8Array, right.data);
  return left.data;
};

describe('zKey', () => {
  it('makes, contributes to, and ends keys as snarkjs does', async () => {
    const { r1cs, ptau, zkey } = files;
    await expectBoth('zKey', 'newZKey', (to) => [memoryFile(r1cs), memoryFile(ptau), to]);
    const next = await expectBoth('zKey', 'contribute', (to) => [memoryFile(zkey), to, 'Ada', 'dice']);
    const last = await expectBoth('zKey', 'beacon', (to) => [memoryFile(next), to, 'end', beacon, '10']);
    await expectBoth('zKey', 'verifyFromR1cs', () => [memoryFile(r1cs), memoryFile(ptau), memoryFile(last)]);
    await expectBoth('zKey', 'verifyFromInit', () => [memoryFile(zkey), memoryFile(ptau), memoryFile(last)]);
    await expectBoth('zKey', 'exportVerificationKey', () => [memoryFile(last)]);
    expect(warnings).toEqual([]);
  });

  it('reads and writes paths', async () => {
    const place = (name: string): string => join(folder, name);
    writeFileSync(place('circuit.r1cs'), files.r1cs);
    writeFileSync(place('powers.ptau'), files.ptau);
    const hash = await ours.zKey.newZKey(place('circuit.r1cs'), place('powers.ptau'), place('circuit.zkey'));
    expectSame(readFileSync(place('circuit.zkey')), files.zkey);
    expectSame(hash as Uint8Array, files.zkey.subarray(-68, -4));
    expect(warnings).toEqual([]);
  });

  it('leaves wrong input to snarkjs, with its results and errors', async () => {
    const { zkey, ptau, r1cs } = files;
    await expectBoth('zKey', 'beacon', (to) => [memoryFile(zkey), to, 'end', beacon, 5]);
    expect(warnings).toEqual([expect.stringContaining('snarkjs computes this setup itself')]);
    const broken = memoryFile(zkey.slice(0, 100));
    await expect(ours.zKey.exportVerificationKey(broken as never)).rejects.not.toThrow(/webgpu-msm/);
    const wrong = zkey.slice();
    wrong[zkey.length - 10] = 1 ^ (wrong[zkey.length - 10] as number);
    await expectBoth('zKey', 'verifyFromR1cs', () => [memoryFile(r1cs), memoryFile(ptau), memoryFile(wrong)]);
  });

  // warned once for each kind of setup that snarkjs computes itself
  it('exchanges files with bellman as snarkjs does', async () => {
    const { zkey, ptau } = files;
    const curve = await ffCurveOf('bn254');
    const challenge = await expectBoth('zKey', 'exportBellman', (to) => [memoryFile(zkey), to]);
    const response = await expectBoth('zKey', 'bellmanContribute', (to) => [curve, memoryFile(challenge), to, 'dice']);
    const next = await expectBoth('zKey', 'importBellman', (to) => [memoryFile(zkey), memoryFile(response), to, 'Ada']);
    await expectBoth('zKey', 'verifyFromInit', () => [memoryFile(zkey), memoryFile(ptau), memoryFile(next)]);
    expect(warnings).toEqual([]);
    const wrong = response?.slice() as Uint8Array;
    // a byte of the circuit's hash, before one contribution of 384 bytes and the number of them
    wrong[wrong.length - 400] = 1 ^ (wrong[wrong.length - 400] as number);
    const result = ours.zKey.importBellman(
      memoryFile(zkey) as never,
      memoryFile(wrong) as never,
      memoryFile() as never,
    );
    expect(await result).toBe(false);
  });
});

describe('powersOfTau', () => {
  it('contributes, prepares and verifies as snarkjs does', async () => {
    const first = memoryFile() as { data?: Uint8Array };
    await theirs.powersOfTau.newAccumulator?.(await ffCurveOf('bn254'), 3, first);
    const next = await expectBoth('powersOfTau', 'contribute', (to) => [memoryFile(first.data), to, 'Ada', 'dice']);
    const last = await expectBoth('powersOfTau', 'beacon', (to) => [memoryFile(next), to, 'end', beacon, 10]);
    const prepared = await expectBoth('powersOfTau', 'preparePhase2', (to) => [memoryFile(last), to]);
    await expectBoth('powersOfTau', 'verify', () => [memoryFile(prepared)]);
    await expectBoth('powersOfTau', 'verify', () => [memoryFile(first.data)]);
    expect(warnings).toEqual([]);
  });
});

it('exchanges powers of tau with other programs as snarkjs does', async () => {
  const curve = await ffCurveOf('bn254');
  const first = memoryFile() as { data?: Uint8Array };
  await theirs.powersOfTau.newAccumulator?.(curve, 3, first);
  const { data } = first;
  const challenge = await expectBoth('powersOfTau', 'exportChallenge', (to) => [memoryFile(data), to]);
  const response = await expectBoth('powersOfTau', 'challengeContribute', (to) => [
    ...[curve, memoryFile(challenge), to, 'dice'],
  ]);
  const importing = (name: string, importPoints: boolean) => (to: unknown) => [
    ...[memoryFile(data), memoryFile(response), to, name, importPoints],
  ];
  const next = await expectBoth('powersOfTau', 'importResponse', importing('Ada', true));
  await expectBoth('powersOfTau', 'verify', () => [memoryFile(next)]);
  // a transcript alone
  await expectBoth('powersOfTau', 'importResponse', importing('', false));
  expect(warnings).toEqual([]);
  const other = ours.powersOfTau.importResponse(
    ...([memoryFile(next), memoryFile(response), memoryFile(), '', true] as [never, never, never, string, true]),
  );
  // in the words of snarkjs
  await expect(other).rejects.toThrow(/not based on the previous hash/);
});

it('is replaced in a copy of the module, and put back', async () => {
  ours();
  const copy = { ...snarkjs } as unknown as typeof theirs;
  const original = copy.zKey;
  const restore = await accelerate(copy as never, { backend: 'cpu', maxWorkers: 0 });
  expect(copy.zKey.contribute).toBe(restore.zKey.contribute);
  expect(copy.zKey.exportJson).toBe(original.exportJson);
  restore();
  expect(copy.zKey).toBe(original);
  // snarkjs's own from now on
  expect(await restore.zKey.exportVerificationKey(memoryFile(files.zkey) as never)).toEqual(
    await theirs.zKey.exportVerificationKey?.(memoryFile(files.zkey)),
  );
});

it('gives setups the limit of memory, below which snarkjs computes them', async () => {
  ours();
  const { r1cs, ptau, zkey } = files;
  const limited: string[] = [];
  const options = { backend: 'cpu', maxWorkers: 0, memoryLimit: 2 ** 20 } as const;
  const restore = await accelerate({ ...snarkjs }, { ...options, onWarning: (text) => limited.push(text) });
  const file = memoryFile() as { data?: Uint8Array };
  await restore.zKey.newZKey(memoryFile(r1cs) as never, memoryFile(ptau) as never, file as never);
  expectSame(file.data as Uint8Array, zkey);
  const verified = restore.zKey.verifyFromInit(
    ...([zkey, ptau, zkey].map((each) => memoryFile(each)) as [never, never, never]),
  );
  expect(await verified).toBe(
    await theirs.zKey.verifyFromInit?.(...[zkey, ptau, zkey].map((each) => memoryFile(each))),
  );
  restore();
  expect(limited.length).toBeGreaterThan(0);
  for (const text of limited) expect(text).toMatch(/options\.memoryLimit is 1048576 bytes/);
});
