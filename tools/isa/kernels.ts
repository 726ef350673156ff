/**
 * Collects kernels for a chip: those that the library compiles for sums, for vectors and for setups,
 * and operations of field-bench.
 */

import type { Library } from '../../dev/bench/rows.js';
import { fieldChain, fieldOperations } from '../../dev/field-bench/kernels.js';
import { bls12381, p256Curve, secp192r1 } from '../../dev/oracle/curves.js';
import type { Tuning } from '../../src/api/device.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type AnyCurve, type Curve, curveContext } from '../../src/curves/curve.js';
import { bls12377G2, bls12381G2, bn254G2 } from '../../src/curves/pairing-friendly.js';
import { encodePoints } from '../../src/engine/arguments.js';
import { modulus } from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { fieldConfigure } from '../../src/fields/gpu/open-vectors.js';
import { openField } from '../../src/fields/program/open-field.js';
import { describeAdapter, type OpenDevice, pipelineFor } from '../../src/gpu/device.js';
import { scaleConfigure } from '../../src/msm/gpu/scale-operation.js';
import { type Chip, type ChipName, chips } from './chips.js';

/** A kernel that a device was asked to compile. */
interface Asked {
  /** Name of the kernel and its entry point. */
  readonly name: string;
  readonly source: string;
  /** Binding types by binding number. */
  readonly bindings: readonly GPUBufferBindingType[];
}

/** Limits: those that WebGPU guarantees, and buffers as large as any device has. */
const limits = {
  maxBufferSize: 2 ** 32,
  maxStorageBufferBindingSize: 2 ** 32 - 4,
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
};

const buffer = ({ size, usage }: GPUBufferDescriptor) => ({
  size,
  usage,
  mapAsync: async () => undefined,
  getMappedRange: () => new ArrayBuffer(size),
  unmap: () => undefined,
  destroy: () => undefined,
});

/**
 * A fake device that poses as a chip, records what it is asked to compile, and builds no pipeline.
 * The caller gets an error after everything it asked for is known. It needs no WebGPU.
 */
class UnbuiltDevice {
  readonly asked: Asked[] = [];
  readonly device: GPUDevice;
  /** WebGPU entry point with the language features of the chip. */
  readonly gpu = { wgslLanguageFeatures: new Set(['packed_4x8_integer_dot_product']) } as unknown as GPU;

  constructor({ maker, architecture }: Chip) {
    this.device = {
      adapterInfo: { vendor: maker, architecture, device: '', description: '', isFallbackAdapter: false },
      limits,
      features: new Set(),
      lost: new Promise(() => undefined),
      queue: {
        submit: () => undefined,
        writeBuffer: () => undefined,
        onSubmittedWorkDone: async () => undefined,
      },
      pushErrorScope: () => undefined,
      popErrorScope: async () => null,
      createBuffer: buffer,
      createShaderModule: ({ code }: GPUShaderModuleDescriptor) => ({
        code,
        getCompilationInfo: async () => ({ messages: [] }),
      }),
      createBindGroupLayout: ({ entries }: GPUBindGroupLayoutDescriptor) =>
        [...entries].map(({ buffer }) => buffer?.type ?? 'uniform'),
      createPipelineLayout: ({ bindGroupLayouts: [group] }: GPUPipelineLayoutDescriptor) => group,
      createComputePipelineAsync: async ({ layout, compute }: GPUComputePipelineDescriptor) => {
        const { code } = compute.module as unknown as { code: string };
        const bindings = layout as unknown as readonly GPUBufferBindingType[];
        this.asked.push({ name: compute.entryPoint as string, source: code, bindings });
        throw new Error('this device builds no pipelines');
      },
    } as unknown as GPUDevice;
  }
}

/** A kernel with its name in the tables. */
export interface ChipKernel extends Asked {
  readonly title: string;
}

export const curves = {
  bn254,
  'bls12-381': bls12381,
  p256: p256Curve,
  secp192r1,
  'bn254-g2': bn254G2,
  'bls12-381-g2': bls12381G2,
  'bls12-377-g2': bls12377G2,
} as const;

/** Number of scalars, large enough to use every kernel. */
const SIZE = 2 ** 16;

/** Names the kernels; of several with one name, all but the first get a number. */
const titled = (asked: readonly Asked[]): ChipKernel[] => {
  const distinct = [...new Map(asked.map((kernel) => [kernel.source, kernel])).values()];
  return distinct.map((kernel, i) => {
    const before = distinct.slice(0, i).filter(({ name }) => name === kernel.name).length;
    return { ...kernel, title: before === 0 ? kernel.name : `${kernel.name} ${before + 1}` };
  });
};

/** An encoding without y, which any curve can support; loading such points needs programs. */
const COMPRESSED = 'ark-compressed';

/**
 * Returns the kernels that the library compiles on a chip for an MSM and for loading bases, with
 * and without tables, compressed ones included.
 */
export const stageKernels = async (
  library: Library,
  chip: ChipName,
  constants: AnyCurve,
  tuning: Partial<Tuning>,
): Promise<ChipKernel[]> => {
  const { device, gpu, asked } = new UnbuiltDevice(chips[chip]);
  // the cast is safe: the generator has coordinates of the same field
  const curve = { ...constants, encodings: [COMPRESSED] } as Curve;
  const engine = await library.createMsmEngine({ curve, device, gpu, tuning });
  const points = [{ ...curve.generator, infinity: false }];
  const context = curveContext(curve, quadraticField);
  // a dynamic import, as in the engine
  const { writerOf } = await import('../../src/encodings/encodings.js');
  const compressed = writerOf(context, COMPRESSED)(encodePoints(context, points));
  const calls = [
    () => engine.loadBases(points, { precompute: 2 }),
    () => engine.loadBases(compressed, { encoding: COMPRESSED }),
    () => engine.warmup(SIZE),
  ];
  for (const call of calls) {
    const before = asked.length;
    // every call fails, because no pipeline is ever built
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (asked.length === before) throw error ?? new Error('the library compiled nothing');
  }
  engine.destroy();
  return titled(asked);
};

/** Returns the kernels that the library compiles on a chip for vectors of BN254's scalar field. */
export const vectorKernels = async (chip: ChipName): Promise<ChipKernel[]> => {
  const { device, asked } = new UnbuiltDevice(chips[chip]);
  const adapter = describeAdapter(device.adapterInfo);
  const own = await openField('bn254-fr');
  const { kernels } = fieldConfigure(own).make({ device, adapter, hasDot4: true, owned: true } satisfies OpenDevice);
  // the kernel of digests is that of sums
  const { digest: _, ...others } = kernels;
  for (const kernel of Object.values(others)) await pipelineFor(device, kernel()).catch(() => undefined);
  return titled(asked).map((each) => ({ ...each, title: `vectors: ${each.title}` }));
};

/** Returns the kernel that only setups compile on a chip. @param constants have a = 0 */
export const setupKernels = async (chip: ChipName, constants: AnyCurve): Promise<ChipKernel[]> => {
  const { device, asked } = new UnbuiltDevice(chips[chip]);
  const adapter = describeAdapter(device.adapterInfo);
  const curve = curveContext(constants, quadraticField);
  const setup = scaleConfigure(curve).make({ device, adapter, hasDot4: true, owned: true } satisfies OpenDevice);
  await pipelineFor(device, setup.scale()).catch(() => undefined);
  return titled(asked).map((each) => ({ ...each, title: `setups: ${each.title}` }));
};

/**
 * Returns kernels that repeat a field operation, one chain a thread: `product words, unsigned`
 * and so on.
 */
export const fieldKernels = async (chip: ChipName, curve: AnyCurve): Promise<ChipKernel[]> => {
  const { device, asked } = new UnbuiltDevice(chips[chip]);
  const m = modulus(curve.p);
  const kernels: ChipKernel[] = [];
  for (const operation of fieldOperations) {
    await pipelineFor(device, fieldChain(m, operation, 1)).catch(() => undefined);
    kernels.push({ ...(asked.at(-1) as Asked), title: `${operation.name} ${operation.variant}` });
  }
  return kernels;
};
