/**
 * The translation of kernels for NVIDIA's own compiler, executed: the same text compiles as C++ for
 * the CPU, by the other half of metal-shim.h, and computes chains of field operations.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FieldOperation, fieldChain, fieldOperations, libraryVariant } from '../../dev/field-bench/kernels.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type FieldProduct, mod, modulus } from '../../src/field/modulus.js';
import { forNaga, threadsOf, toCuda } from '../../tools/isa/nvidia-cuda.js';
import { inProject } from '../support/run-script.js';

const STEPS = 5;
const m = modulus(bn254.p);

/** Returns a main function that runs one workgroup on some words and prints them afterwards. */
const mainOf = (cuda: string, threads: number, words: readonly number[]): string => {
  const [, type] = /chain_kernel\(const ChainConfig config, (\w+)\*/.exec(cuda) ?? [];
  return `${cuda}
#include <cstdio>
int main() {
  static uint values[] = {${words.map((word) => `${word >>> 0}u`).join(', ')}};
  ChainConfig config = {${STEPS}u};
  _mslBufferSizes sizes = {sizeof values};
  gridDim = {1, 1, 1};
  for (threadIdx.x = 0; threadIdx.x < ${threads}; threadIdx.x++)
    chain_kernel(config, reinterpret_cast<${type}*>(values), sizes);
  for (uint value : values) printf("%u\\n", value);
}
`;
};

/** Translates, compiles and runs the chain of an operation. */
const runOnCpu = (operation: FieldOperation, words: readonly number[], threads: number): number[] => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-cuda-'));
  try {
    const [wgsl, metal, code, program] = ['k.wgsl', 'k.metal', 'k.cpp', 'k'].map((name) => join(folder, name)) as [
      ...[string, string, string, string],
    ];
    const { source } = fieldChain(m, operation, 1);
    expect(threadsOf(source)).toBe(threads);
    writeFileSync(wgsl, forNaga(source));
    const checks = ['--index-bounds-check-policy', 'Restrict', '--buffer-bounds-check-policy', 'ReadZeroSkipWrite'];
    execFileSync('naga', ['--metal-version', '2.4', ...checks, wgsl, metal]);
    writeFileSync(code, mainOf(toCuda(readFileSync(metal, 'utf8'), 'chain', threads), threads, words));
    const shim = inProject('tools/isa/compilers');
    execFileSync('g++', ['-std=c++17', '-O1', '-w', '-ffp-contract=off', '-I', shim, code, '-o', program]);
    return execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const hasAll = ['naga', 'g++'].every((program) => spawnSync(program, ['--version']).error === undefined);

describe.skipIf(!hasAll)('translated kernels compute what BigInts do', () => {
  const computes = (name: string, product: FieldProduct): void => {
    const operation = fieldOperations.find(
      (each) => each.name === name && each.variant === libraryVariant(product),
    ) as FieldOperation;
    const { encode, decode, limbs, r } = operation.representation(m);
    const threads = 64;
    const random = new Random(9);
    const corners = [0n, 1n, 2n, m.p - 1n, m.p - 2n, (m.p - 1n) / 2n, 2n ** 253n - 1n, 2n ** 32n - 1n];
    const given = Array.from({ length: threads }, (_, i) => corners[i] ?? random.belowBig(m.p));
    const left = runOnCpu(
      operation,
      given.flatMap((value) => [...encode(value)]),
      threads,
    );
    const found = given.map((_, i) => mod(decode(left.slice(i * limbs, (i + 1) * limbs)), m.p));
    const expected = given.map((y) => {
      let x = y;
      for (let step = 0; step < STEPS; step++) x = (operation.apply as NonNullable<typeof operation.apply>)(m, r, x, y);
      return x;
    });
    expect(found).toEqual(expected);
  };

  test('dot4 products', () => computes('product', 'dot4'));
  test('inverses', { timeout: 60_000 }, () => computes('inverse', 'dot4'));
  test.each(['unsigned', 'fma'] as const)('%s products', { tags: 'long' }, (product) => computes('product', product));
  test('squares', { tags: 'long' }, () => computes('square', 'unsigned'));
});
