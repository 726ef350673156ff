/**
 * 1,000 contributions in a row, and verifications of each fifth, from files to files: neither objects, bytes,
 * workers nor open files stay behind.
 *
 * @module-tag long
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { MsmError } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { contribute, contributeToPowers, newKey, newPowers, verifyKey } from '../../src/setup.js';
import { expectFlat } from '../support/flat-memory.js';
import { ffCurveOf, powersOf } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { until } from '../support/time.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-setups-'));
const alone = { backend: 'cpu', maxWorkers: 0 } as const;

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await (await ffCurveOf('bn254')).terminate();
});

/** Returns the number of open files of this process, where the platform tells it. */
const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

test('memory, workers and open files are flat', { timeout: 1_800_000 }, async () => {
  const r = BigInt((await ffCurveOf('bn254')).r);
  const { r1cs } = randomCircuit(r, { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
  const ptau = await powersOf('bn254', 3, 15, true);
  const files = {
    first: await newKey({ system: 'groth16', r1cs, ptau }, alone),
    powers: await newPowers({ curve: 'bn254', power: 10 }, alone),
    ptau,
  };
  const at = (name: keyof typeof files | 'next' | 'cut'): string => join(folder, name);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(at(name as keyof typeof files), bytes);
  writeFileSync(at('cut'), files.first.subarray(0, -1));
  const names = [...readdirSync(folder), 'next'].sort();
  const start = workerStarter() as () => Worker;
  const workers = { started: 0, live: 0 };
  const createWorker = (): Worker => {
    const worker = start();
    workers.started++;
    workers.live++;
    worker.once('exit', () => workers.live--);
    return worker;
  };
  const warnings: string[] = [];
  // of files that nobody closed
  const onWarning = ({ message }: Error): void => {
    if (message.includes('garbage collection')) warnings.push(message);
  };
  process.on('warning', onWarning);
  const opened = openFiles();

  /** A contribution with a worker, which is aborted in the middle where `isAborted`. */
  const withWorker = async (isAborted: boolean): Promise<void> => {
    const ending = new AbortController();
    const call = contributeToPowers(
      at('powers'),
      {},
      {
        ...{ backend: 'cpu', maxWorkers: 1, createWorker, signal: ending.signal },
        sink: new WritableStream(),
        onProgress: () => isAborted && ending.abort(),
      },
    );
    // the runner keeps what `rejects` gets until the test ends
    const code = await call.then(
      () => null,
      (error: MsmError) => error.code,
    );
    expect(code).toBe(isAborted ? 'aborted' : null);
    await until(() => workers.live === 0);
  };

  await expectFlat(1000, async (i) => {
    await contribute(at('first'), { entropy: String(i) }, { ...alone, sink: at('next') });
    // ten times as long as a contribution
    if (i % 5 !== 0) return;
    const sources = { initial: at('first'), ptau: at('ptau') };
    const verdict = await verifyKey({ ...sources, zkey: at('next') }, { maxWorkers: 0 });
    expect(verdict).toMatchObject({ isValid: true });
    if (i % 50 !== 0) return;
    expect(await verifyKey({ ...sources, zkey: at('cut') }, { maxWorkers: 0 })).toMatchObject({ isValid: false });
    await withWorker(i % 100 === 0);
    // a read that was under way at the abort ends later
    await until(() => openFiles() === opened);
    expect(readdirSync(folder).sort()).toEqual(names);
  });
  process.off('warning', onWarning);
  expect(workers).toEqual({ started: 20, live: 0 });
  expect(warnings).toEqual([]);
});
