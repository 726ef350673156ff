/** Options of field engines. */
import type { MsmEngine } from '../../api/engine.js';
import type { Coordinate } from '../../api/values.js';
import type { NamedCurve } from '../../curves/names.js';

/** The scalar field of a curve, by the curve's name: `bn254-fr`. */
export type FieldName = `${NamedCurve}-fr`;

/** A prime field of 46 to 414 bits. */
export interface CustomField {
  /** The prime. */
  readonly p: bigint;
  /**
   * A number that is no square modulo p. Its powers are the roots of unity of transforms. Default:
   * the least one.
   */
  readonly generator?: bigint | undefined;
}

/** Options of `createFieldEngine`. */
export interface FieldEngineOptions {
  /** The field. Default `bn254-fr`. */
  readonly field?: FieldName | CustomField | undefined;
  /**
   * Backend that has the vectors and computes. Default: `gpu` if `deviceOf`, `device` or `gpu` is
   * given, and the other engine has a GPU; else `cpu`.
   */
  readonly backend?: 'cpu' | 'gpu' | undefined;
  /** Engine of `createMsmEngine` whose GPU device this engine uses. */
  readonly deviceOf?: MsmEngine<Coordinate> | undefined;
  /** Device of the caller; it is used as it is and never destroyed. */
  readonly device?: GPUDevice | undefined;
  /** WebGPU for platforms without `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
  /** Arithmetic of WebAssembly, for comparisons. Default `auto`: the fastest of the runtime. */
  readonly arithmetic?: 'auto' | 'wasm-fma' | 'wasm-wide' | 'wasm-simd' | 'wasm' | undefined;
  /** As `verify` of `FieldEngine.run`, for runs that have none. Default 0. */
  readonly verify?: boolean | number | undefined;
  /**
   * Most bytes of all vectors and tables at a time on the CPU; of the scratch of a run on the GPU.
   * Default 2^30.
   */
  readonly memoryBudget?: number | undefined;
  /**
   * Keeps a copy of the numbers of `load` in main memory while their vector is on a GPU, so that
   * vectors survive the loss of a device that the engine requested itself: loaded ones are loaded
   * again, and kept results of runs are computed again from the vectors that they were computed
   * from, unless those were destroyed. With false they must be loaded again after a loss, as the
   * error says. Default true.
   */
  readonly retainVectors?: boolean | undefined;
}
