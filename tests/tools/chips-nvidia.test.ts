/** NVIDIA's own compiler in tools/isa: translation to CUDA, and the reading of machine code. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext, withProduct } from '../../src/curves/curve.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { createKernels } from '../../src/msm/stages/kernels.js';
import { chips, figuresOf } from '../../tools/isa/chips.js';
import { forNaga, threadsOf, toCuda } from '../../tools/isa/nvidia-cuda.js';
import { cyclesOf, innerLoops, nvidiaStatistics, readCode, warpsOf } from '../../tools/isa/nvidia-sass.js';

/** Instructions as `nvdisasm -c -hex` prints them; each waits for so many cycles. */
const listing = (lines: readonly (readonly [text: string, stall: number] | string)[]): string => {
  let at = 0;
  return lines
    .map((line) => {
      if (typeof line === 'string') return `${line}:`;
      const [text, stall] = line;
      const address = at.toString(16).padStart(4, '0');
      at += 16;
      const half = (BigInt(stall) << 41n).toString(16).padStart(16, '0');
      return `        /*${address}*/                   ${text} ;   /* 0x0000000000000000 */\n    /* 0x${half} */`;
    })
    .join('\n');
};

const code = listing([
  ['IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]', 4],
  '.L_x_0',
  ['IADD3 R2, R2, 0x1, RZ', 2],
  '.L_x_1',
  ['IDP.4A.U8.U8 R4, R5, R6, R4', 3],
  ['IMAD.WIDE.U32 R8, R4, R4, RZ', 5],
  ['@!P0 FFMA R3, R3, R3, R3', 1],
  ['LDL R7, [R1]', 1],
  ['@P0 BRA `(.L_x_1)', 6],
  ['MUFU.RCP R3, R3', 8],
  ['@P1 BRA `(.L_x_0)', 7],
  ['EXIT', 5],
  '.L_x_2',
  ['BRA `(.L_x_2)', 0],
  ['NOP', 0],
]);

describe('machine code', () => {
  test('is read with its waits, without the endless loop and the padding behind it', () => {
    const { instructions, labels } = readCode(code);
    expect(instructions.map(({ opcode, stall }) => [opcode, stall])).toEqual([
      ...[
        ['IMAD.MOV.U32', 4],
        ['IADD3', 2],
        ['IDP.4A.U8.U8', 3],
        ['IMAD.WIDE.U32', 5],
        ['FFMA', 1],
      ],
      ...[
        ['LDL', 1],
        ['BRA', 6],
        ['MUFU.RCP', 8],
        ['BRA', 7],
        ['EXIT', 5],
      ],
    ]);
    expect(labels.get('.L_x_1')).toBe(32);
  });

  test('occupies the pipes of each generation as counted by hand', () => {
    const { instructions } = readCode(code);
    // multiplications: 2 + 2 + 4 cycles, and 2 of floats, which share the pipe up to sm_80; 10
    // instructions are issued in 10 cycles
    expect(cyclesOf(instructions, 75)).toEqual({ bound: 10, alone: 42 });
    expect(cyclesOf(instructions.slice(2, 5), 75)).toEqual({ bound: 8, alone: 9 });
    expect(cyclesOf(instructions.slice(2, 5), 86)).toEqual({ bound: 6, alone: 9 });
    const sums = Array.from({ length: 6 }, () => instructions[1] as (typeof instructions)[0]);
    expect(cyclesOf(sums, 90)).toEqual({ bound: 12, alone: 12 });
    expect(cyclesOf(sums, 120)).toEqual({ bound: 6, alone: 12 });
  });

  test('has one inner loop, from its label to its branch', () => {
    expect(innerLoops(readCode(code), 86)).toEqual([{ bound: 6, alone: 16, instructions: 5 }]);
  });
});

test.each([
  // registers are given out in units of 8 to warps, and warps come in workgroups
  [86, 80, 0, 64, 24],
  [90, 117, 0, 64, 16],
  [90, 155, 0, 64, 12],
  [75, 16, 0, 64, 32],
  [86, 16, 0, 32, 16],
  // six workgroups of 16 KB, each with 1 KB more, in 100 KB
  [86, 32, 16_384, 64, 10],
  [75, 32, 16_384, 64, 8],
])(
  'an SM of sm_%i has room for warps of %i registers and %i bytes: %i threads',
  (sm, registers, shared, threads, warps) => {
    expect(warpsOf(sm, registers, shared, threads)).toBe(warps);
  },
);

test('statistics come from the log of ptxas and from the machine code', () => {
  const log = `ptxas info    : Compiling entry function 'walk_kernel' for 'sm_86'
    1248 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 80 registers, used 0 barriers, 1248 bytes cumulative stack size, 476 bytes cmem[0]
ptxas info    : Compile time = 250.0 ms`;
  const found = nvidiaStatistics(86, log, code, 64, 1.5);
  expect(found).toMatchObject({ registers: 80, 'stack bytes': 1248, 'spill bytes': 28, warps: 24, instructions: 10 });
  expect(JSON.parse(found.loops)).toHaveLength(1);
  expect(figuresOf('sm_86', found)).toEqual({
    ...{ instructions: 10, registers: 80, spills: 28, memory: 1248, waves: 24, cycles: 10, alone: 42 },
    ...{ codeBytes: 160, compileSeconds: 1.75 },
  });
  expect(() => nvidiaStatistics(86, 'ptxas fatal', code, 64, 0)).toThrow('ptxas reports no registers');
});

describe('translation', () => {
  const metal = `// language: metal2.4
#include <metal_stdlib>
using metal::uint;
struct _mslBufferSizes {
    uint size0;
};
constant uint N = 5u;
uint byte_dot_product(
    uint a,
    uint b
) {
    return a ^ b;
}
float half_of(
    float x
) {
    return x * 0.5;
}
[[max_total_threads_per_threadgroup(64)]] kernel void add_(
  metal::uint3 id [[thread_position_in_grid]]
, uint local [[thread_index_in_threadgroup]]
, device type_1 const& from [[user(fake0)]]
, device type_2& to [[user(fake0)]]
, threadgroup type_3& shared
, constant Config& config [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (local == 0u) {
        shared = {};
    }
    uint2 loop_bound = uint2(4294967295u);
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        to[id.x] = byte_dot_product(from[id.x], 3u);
    }
}
`;

  test('makes parameters, built-in values and workgroup memory those of CUDA', () => {
    const cuda = toCuda(metal, 'add', 64);
    expect(cuda).toContain(
      'KERNEL(64) void add_kernel(const type_1* __restrict__ from_ptr, type_2* __restrict__ to_ptr, const Config config, const _mslBufferSizes _buffer_sizes) {',
    );
    expect(cuda).toContain('metal::uint3 id = metal::uint3(blockIdx.x * 64u + threadIdx.x, blockIdx.y, blockIdx.z);');
    expect(cuda).toContain('const type_1& from = *from_ptr;');
    expect(cuda).toContain('__shared__ type_3 shared;');
    expect(cuda).toContain('i < sizeof(shared) / 4u; i += 64u');
    expect(cuda).toContain('static constexpr uint N = 5u;');
    expect(cuda).toContain('FN float half_of(');
    expect(cuda).toContain('x * 0.5f');
    // defined by metal-shim.h, as the instruction
    expect(cuda).not.toMatch(/uint byte_dot_product\(\n/);
    expect(cuda).not.toContain('loop_bound');
  });

  test('refuses what it does not know', () => {
    expect(() => toCuda(metal, 'subtract', 64)).toThrow('naga wrote no kernel subtract');
    const other = metal.replace('thread_index_in_threadgroup', 'thread_index_in_simdgroup');
    expect(() => toCuda(other, 'add', 64)).toThrow('no counterpart in CUDA: uint local');
    expect(() => threadsOf('fn f() {}')).toThrow('@workgroup_size');
  });
});

test('a chip names the script that installs its compiler', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-compilers-'));
  vi.stubEnv('GPU_COMPILERS_DIR', folder);
  vi.resetModules();
  try {
    const { assertCompilers, assertSomeCompilers } = await import('../../tools/isa/compilers.js');
    expect(assertSomeCompilers).toThrow('compilers/setup.sh');
    for (const tree of ['amd64', 'arm64', 'apple']) {
      mkdirSync(join(folder, tree));
      writeFileSync(join(folder, tree, '.complete'), '');
    }
    expect(assertSomeCompilers).not.toThrow();
    expect(() => assertCompilers([chips.navi31])).not.toThrow();
    expect(() => assertCompilers([chips.navi31, chips.sm_86])).toThrow('compilers/nvidia-setup.sh');
    mkdirSync(join(folder, 'nvidia'));
    writeFileSync(join(folder, 'nvidia', '.complete'), '');
    expect(() => assertCompilers([chips.navi31, chips.sm_86])).not.toThrow();
    rmSync(join(folder, 'apple'), { recursive: true });
    expect(() => assertCompilers([chips.sm_86])).not.toThrow();
    expect(() => assertCompilers([chips.navi31])).toThrow('compilers/setup.sh');
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Output of naga as Metal, or null where naga is not installed. */
const metalOf = (wgsl: string): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-naga-'));
  try {
    const [from, to] = [join(folder, 'kernel.wgsl'), join(folder, 'kernel.metal')];
    writeFileSync(from, wgsl);
    const { status, error, stderr } = spawnSync('naga', ['--metal-version', '2.4', from, to], { encoding: 'utf8' });
    if (error !== undefined) return null;
    expect(stderr).toBe('');
    expect(status).toBe(0);
    return readFileSync(to, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Returns the names that naga gives to operands of dot products, those declared twice only. */
const declaredTwice = (metal: string): string[] =>
  metal.split(/^}\n/m).flatMap((body) => {
    const names = [...body.matchAll(/packed_uchar4 (reinterpreted_\w+) = /g)].map(([, name]) => name as string);
    return names.filter((name, i) => names.indexOf(name) !== i);
  });

const hasNaga = spawnSync('naga', ['--version']).error === undefined;
describe.skipIf(!hasNaga)('naga', () => {
  test('declares an operand of two dot products twice, so that one function has them all', () => {
    const twice = `@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1) fn main() { let a = data[0]; data[1] = dot4U8Packed(a, data[1]) + dot4U8Packed(a, data[2]); }`;
    const names = declaredTwice(metalOf(twice) as string);
    // a version of naga without the fault would make the function unnecessary
    expect(names).not.toEqual([]);
  });

  test.each([bn254, bn254G2])('writes the walk of $name with dot products without such names', (constants) => {
    const curve = withProduct(curveContext(constants, quadraticField), 'dot4');
    const { source } = createKernels(curve).walk({ prefixMemory: 'private', threads: 64, slots: 8 });
    const metal = metalOf(source) as string;
    expect(metal).toContain('packed_uchar4');
    expect(declaredTwice(metal)).toEqual([]);
    expect(toCuda(metalOf(forNaga(source)) as string, 'walk', threadsOf(source))).not.toContain('packed_uchar4');
  });
});
