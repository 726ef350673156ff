/** The field of a caller, and the options of field engines. */

import type { MsmEngine } from '../../api/engine.js';
import type { Coordinate } from '../../api/values.js';
import type { NamedCurve } from '../../curves/more-curves.js';
import { resolveCurve } from '../../curves/open-curve.js';
import { scalarFieldOf } from '../../curves/scalar-field.js';
import { badArgument, show } from '../../errors.js';
import { wordBytesOf } from '../../field/modulus.js';
import { isPrime, power } from '../../field/powers.js';
import { type OptionTable, readOptions } from '../../option-table.js';

/** A prime field, and its roots of unity. */
export interface OpenField {
  readonly name: string;
  readonly p: bigint;
  /** The largest k for which 2^k divides p − 1. */
  readonly twoAdicity: number;
  /** An element of multiplicative order 2^twoAdicity. */
  readonly rootOfUnity: bigint;
}

/** Returns the bytes of a number: those of p, in whole words of 32 bits. */
export const numberBytesOf = ({ p }: OpenField): number => wordBytesOf(p);

const SUFFIX = '-fr';

/** Lengths of primes that every form of arithmetic has, in bits. */
const [LEAST_BITS, MOST_BITS] = [46, 414];

/** A field by its constants. */
const customFieldOptions = {
  of: 'field',
  rows: { p: { kind: 'bigint', isRequired: true }, generator: { kind: 'any' } },
} as const satisfies OptionTable<CustomField>;

/** @throws MsmError `bad-argument` naming the constant that is wrong */
const customField = (given: CustomField): OpenField => {
  const { p, generator } = readOptions(customFieldOptions, given, { argument: 'field', path: 'field.' });
  const bits = p < 0n ? 0 : p.toString(2).length;
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw badArgument(`field.p must have ${LEAST_BITS} to ${MOST_BITS} bits, got ${bits}`);
  }
  if (p % 2n === 0n || !isPrime(p)) throw badArgument(`field.p must be a prime, but ${p} is not`);
  const { twoAdicity, rootOfUnity } = scalarFieldOf({ order: p });
  const name = `a field of ${bits} bits`;
  if (generator === undefined) return { name, p, twoAdicity, rootOfUnity: rootOfUnity as bigint };
  if (typeof generator !== 'bigint' || generator <= 0n || generator >= p) {
    throw badArgument(`field.generator must be a bigint from 1 to p − 1, got ${show(generator)}`);
  }
  if (power(generator, (p - 1n) / 2n, p) === 1n) {
    throw badArgument(`field.generator: ${generator} is a square modulo p; give a number that is none`);
  }
  return { name, p, twoAdicity, rootOfUnity: power(generator, (p - 1n) >> BigInt(twoAdicity), p) };
};

/** Fields by the constants of their curves. */
const known = new WeakMap<object, OpenField>();

/** @throws MsmError `bad-argument` if there is no such field, or its constants are wrong */
export const openField = async (given: FieldName | CustomField): Promise<OpenField> => {
  if (typeof given === 'object' && given !== null) return customField(given);
  if (typeof given !== 'string' || !given.endsWith(SUFFIX)) {
    throw badArgument(`field must be the name of a curve with '-fr', such as 'bn254-fr', or { p }, got ${show(given)}`);
  }
  const curve = await resolveCurve(given.slice(0, -SUFFIX.length), 'g1');
  const found = known.get(curve);
  if (found !== undefined) return found;
  const { order, twoAdicity, rootOfUnity } = scalarFieldOf(curve);
  const field = { name: given, p: order, twoAdicity, rootOfUnity: rootOfUnity as bigint };
  known.set(curve, field);
  return field;
};

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
  /**
   * Engine of `createMsmEngine` whose GPU device this engine uses; on the CPU, whose workers compute
   * vectors as well.
   */
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
