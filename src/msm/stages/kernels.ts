import type { CurveContext } from '../../curves/curve.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, kernel } from '../../shaders/kernel.js';
import type { CheckKernel, CheckKernels, KernelChecks } from './checks.js';
import { decomposeKernel, Vector } from './decompose.js';
import { digestKernel } from './digest.js';
import { entryWgsl } from './entry.js';
import { importKernel } from './import.js';
import { levelWgsl } from './level.js';
import { partitionKernel } from './partition.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, sortKernels } from './sort.js';
import { type WalkShape, walkKernel } from './walk.js';

/** The kernels of one curve, each rendered once. */
export interface Kernels {
  importPoints(): Kernel;
  digest(): Kernel;
  decompose(): Kernel;
  sort(threads: number, perThread: number): SortKernels;
  partition(): Kernel;
  walk(shape: WalkShape): Kernel;
  reduce(): Kernel;
  /** Of an engine that was handed what checks its stages. */
  checks(): CheckKernels;
}

const once = <Argument extends unknown[], Result>(make: (...argument: Argument) => Result) => {
  const made = new Map<string, Result>();
  return (...argument: Argument): Result => {
    const name = JSON.stringify(argument);
    const result = made.get(name) ?? make(...argument);
    made.set(name, result);
    return result;
  };
};

/** A kernel of the checks, with what they look at. */
const checkKernel = (
  curve: CurveContext,
  { name, template, config, bindings, view, partials }: CheckKernel,
): Kernel => {
  const common = {
    ...curve.coordinates.view(),
    aLimbs: curve.coordinates.literal(curve.a),
    bLimbs: curve.coordinates.literal(curve.b),
    structs: Vector.wgsl,
    entry: entryWgsl,
    level: levelWgsl,
    ...view,
  };
  const all = { ...curve.coordinates.partials, ...partials };
  return config === undefined
    ? kernel(name, template, bindings, common, all)
    : stageKernel(name, template, config, bindings, common, all);
};

/** @param checks what `webgpu-msm/checks` brings */
export const createKernels = (curve: CurveContext, checks?: KernelChecks): Kernels => ({
  importPoints: once(() => importKernel(curve)),
  digest: once(digestKernel),
  decompose: once(() => decomposeKernel(curve)),
  sort: once(sortKernels),
  partition: once(partitionKernel),
  walk: once((shape: WalkShape) => walkKernel(curve, shape, shape.checks ? checks?.watch : undefined)),
  reduce: once(reduceKernel),
  checks: once(() => {
    const made = Object.entries(checks?.kernels ?? {}).map(([name, each]) => [name, checkKernel(curve, each)]);
    return Object.fromEntries(made) as CheckKernels;
  }),
});
