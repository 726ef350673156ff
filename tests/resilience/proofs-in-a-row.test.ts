/**
 * Up to 1,000 proofs in a row from inputs, on one circuit, with and without a limit of memory, and of keys that are
 * opened from a cache for each: neither objects nor bytes stay behind.
 *
 * @module-tag long
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openCircuit } from '../../src/circom.js';
import { folderCache } from '../../src/node.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { expectFlat } from '../support/flat-memory.js';
import { floorOf } from '../support/limited-keys.js';
import { endCurves } from '../support/proving.js';

afterAll(endCurves);

const compileProduct = () =>
  compileCircuit(`pragma circom 2.0.0;
    template Product() { signal input a; signal input b; signal output c; c <== a * b; assert(a != 0); }
    component main = Product();`);

const options = { worker: false, backend: 'cpu', maxWorkers: 0, onWarning: () => undefined } as const;

test('memory is flat, and a refused input between the proofs leaves nothing', { timeout: 900_000 }, async () => {
  const { wasm, r1cs } = await compileProduct();
  const circuit = await openCircuit({ wasm, zkey: await makeZkey('groth16', 'bn254', r1cs) }, options);
  await expectFlat(1000, async (i) => {
    const { proof, publicSignals } = await circuit.prove({ a: i, b: 3 });
    expect(publicSignals).toEqual([String(3 * i)]);
    if (i % 100 !== 0) return;
    expect(await circuit.verify(proof, publicSignals)).toBe(true);
    await expect(circuit.prove({ a: 0, b: 3 })).rejects.toMatchObject({ code: 'unsatisfied' });
  });
  circuit.destroy();
});

test.each([
  ['groth16', 1000],
  // each takes a quarter of a second
  ['plonk', 200],
  ['fflonk', 200],
] as const)(
  'memory is flat under a limit that leaves all points of %s in the file',
  { timeout: 900_000 },
  async (system, proofs) => {
    const { wasm, r1cs } = await compileProduct();
    const zkey = await makeZkey(system, 'bn254', r1cs);
    const open = (memoryLimit: number) => openCircuit({ wasm, zkey: new Blob([zkey]) }, { ...options, memoryLimit });
    const circuit = await open(await floorOf(open));
    const reads = vi.spyOn(Blob.prototype, 'slice');
    await expectFlat(proofs, async (i) => {
      reads.mockClear();
      const { proof, publicSignals } = await circuit.prove({ a: i, b: 3 });
      // each proof reads its points
      expect(reads.mock.calls.length).toBeGreaterThan(2);
      if (i % 100 === 0) expect(await circuit.verify(proof, publicSignals)).toBe(true);
    });
    reads.mockRestore();
    circuit.destroy();
  },
);

test.each([
  ['a Blob', 1000],
  ['a stream', 400],
] as const)(
  'memory and folder are flat over rounds that open a key of %s from a cache, prove and destroy it',
  {
    timeout: 1_800_000,
  },
  async (source, rounds) => {
    const { wasm, r1cs } = await compileProduct();
    const zkey = await makeZkey('groth16', 'bn254', r1cs);
    const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-rounds-'));
    const cache = folderCache(folder);
    await expectFlat(rounds, async (i) => {
      const file = new Blob([zkey]);
      const circuit = await openCircuit(
        { wasm, zkey: source === 'a Blob' ? file : file.stream() },
        { ...options, cache },
      );
      const { publicSignals } = await circuit.prove({ a: i, b: 3 });
      expect(publicSignals).toEqual([String(3 * i)]);
      circuit.destroy();
    });
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.key$/), 'times.json']);
    rmSync(folder, { recursive: true });
  },
);
