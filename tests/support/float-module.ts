/**
 * Module of functions on arrays of numbers in limbs of floats, two side by side. A random sum of
 * the results is compared, so that one comparison of BigInts covers an array.
 */
import type { Random } from '../../dev/oracle/known-bases.js';
import { mod } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { WasmModule } from '../../src/wasm/encoder/module.js';
import { type FloatField, FloatMemory } from '../../src/wasm/floats/float-field.js';
import { FloatFunctions, step } from '../../src/wasm/floats/float-functions.js';
import { wideAt } from '../../src/wasm/floats/float-line.js';
import { limbBounds } from '../../src/wasm/floats/float-products.js';
import type { Coordinate, CoordinateLine, PointPrograms, StoredAs } from '../../src/wasm/floats/point-programs.js';
import { FloatOperands, type OperandKind, operandKinds, valueOfLimbs } from './float-operands.js';

/** Elements of an array. Weighted sums of as many limbs are below 2^53. */
export const ARRAY_ELEMENTS = 2 ** 11;

/** A function of some numbers. */
export interface FloatFunction {
  readonly inputs: readonly StoredAs[];
  readonly output: StoredAs;
  write(c: CoordinateLine, inputs: readonly Coordinate[]): Coordinate;
}

type Coefficients = readonly bigint[];

/** Elements in memory, two side by side. */
export interface ElementArray {
  readonly at: number;
  readonly values: bigint[][];
}

export class FloatModule {
  readonly #field: FloatField;
  readonly #functions: Readonly<Record<string, FloatFunction>>;
  readonly #exports: Record<string, (...addresses: number[]) => void>;
  readonly #floats: Float64Array;
  readonly #coordinate: number;
  readonly #out: number;
  #next: number;

  /** @param arrays arrays that will be made */
  constructor(programs: PointPrograms, functions: Readonly<Record<string, FloatFunction>>, arrays: number) {
    const { field } = programs;
    const module = new WasmModule();
    const memory = new FloatMemory(field);
    const writers = new FloatFunctions(module, memory, programs);
    for (const [name, { inputs, output, write }] of Object.entries(functions))
      module.add(name, { parameters: range(inputs.length + 2).map(() => 'i32') }, (code) => {
        const [to, count, ...from] = range(inputs.length + 2).map((i) => code.parameter(i));
        code.loop((again) => {
          const c = programs.begin();
          const result = write(
            c,
            inputs.map((as, i) => c.load(wideAt(from[i]!), as)),
          );
          c.store(wideAt(to!), result, output);
          writers.writer(code).write(c.line.statements);
          for (const address of [to!, ...from]) step(code, address, 2 * memory.coordinate);
          code.get(count!).i32(1).do('i32.sub').tee(count!);
          again();
        });
      });
    this.#field = field;
    this.#functions = functions;
    this.#coordinate = memory.coordinate;
    this.#out = memory.end;
    this.#next = memory.end + this.#bytes;
    const pages = Math.ceil((memory.end + (arrays + 1) * this.#bytes) / 2 ** 16);
    const host = { memory: new WebAssembly.Memory({ initial: pages }) };
    for (const [at, words] of memory.constants) new Int32Array(host.memory.buffer).set(words, at / 4);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), { host });
    this.#exports = instance.exports as Record<string, (...addresses: number[]) => void>;
    this.#floats = new Float64Array(host.memory.buffer);
  }

  get #bytes(): number {
    return ARRAY_ELEMENTS * this.#coordinate;
  }

  /** Reserves an array. */
  array(): ElementArray {
    const at = this.#next;
    this.#next += this.#bytes;
    return { at, values: [] };
  }

  /** Returns the index of the lowest limb of a coefficient. Limbs are two floats apart. */
  #index(at: number, element: number, c: number): number {
    const { degree, limbs } = this.#field;
    return at / 8 + 2 * limbs * degree * Math.floor(element / 2) + (element % 2) + 2 * limbs * c;
  }

  /** Fills an array with operands of all kinds. */
  fill({ at, values }: ElementArray, as: StoredAs, random: Random): void {
    const { degree, limbs } = this.#field;
    const operands = new FloatOperands(this.#field, as, random);
    const own = new Float64Array(limbs);
    for (let element = 0; element < ARRAY_ELEMENTS; element++) {
      // half of them are random, as are the partners of the others
      const kind = random.below(2) === 0 ? 'random' : (operandKinds[random.below(operandKinds.length)] as OperandKind);
      values[element] = range(degree).map((c) => {
        operands.write(own, 0, 1, kind);
        const index = this.#index(at, element, c);
        for (let i = 0; i < limbs; i++) this.#floats[index + 2 * i] = own[i] as number;
        return valueOfLimbs(this.#field, own);
      });
    }
  }

  /**
   * Calls a function on arrays, from the first element of the first one and from element `shift` of
   * the others, which follow on each other.
   *
   * @param means returns R times each coefficient of a result, from the first, second and last
   * input
   * @throws Error if a result is out of its bounds, or the random sum is wrong
   */
  check(
    name: string,
    inputs: readonly ElementArray[],
    shift: number,
    random: Random,
    means: (...values: readonly [Coefficients, Coefficients, Coefficients]) => Coefficients,
  ): void {
    const count = ARRAY_ELEMENTS - shift;
    const pair = 2 * this.#coordinate;
    const from = inputs.map(({ at }, i) => at + (i === 0 ? 0 : (shift / 2) * pair));
    this.#exports[name]!(this.#out, count / 2, ...from);
    const weights = Float64Array.from({ length: count }, () => 1 + (random.u32() % 65_535));
    const { p, degree, width, limbs } = this.#field;
    const R = 1n << BigInt(width * limbs);
    const expected = range(degree).map(() => 0n);
    for (let i = 0; i < count; i++) {
      const values = means(inputs[0]!.values[i]!, inputs[1]!.values[i + shift]!, inputs.at(-1)!.values[i + shift]!);
      for (let c = 0; c < degree; c++) expected[c]! += BigInt(weights[i]!) * values[c]!;
    }
    for (let c = 0; c < degree; c++) {
      const sum = this.#weightedSum(name, c, weights);
      if (mod(sum * R - expected[c]!, p) !== 0n) throw new Error(`some '${name}' is wrong, p = 0x${p.toString(16)}`);
    }
  }

  /** Returns the weighted sum of a coefficient of the results, whose bounds it checks. */
  #weightedSum(name: string, c: number, weights: Float64Array): bigint {
    const { p, width, limbs } = this.#field;
    const { most, terms } = this.#functions[name]!.output;
    const bounds = Float64Array.from(limbBounds(this.#field, most, terms));
    const [high, low] = [new Float64Array(limbs), new Float64Array(limbs)];
    const top = (most * Number(p)) / 2 ** (width * (limbs - 1)) + 0.5;
    const floats = this.#floats;
    const fraction = 2 ** -width;
    let isWithin = true;
    for (let element = 0; element < weights.length; element++) {
      const index = this.#index(this.#out, element, c);
      const weight = weights[element]!;
      let value = 0;
      for (let i = 0; i < limbs; i++) {
        const limb = floats[index + 2 * i]!;
        const upper = Math.floor(limb * 2 ** -26);
        high[i]! += weight * upper;
        low[i]! += weight * (limb - upper * 2 ** 26);
        value = value * fraction + limb;
        isWithin &&= Math.abs(limb) <= bounds[i]!;
      }
      isWithin &&= Math.abs(value) <= top;
    }
    if (!isWithin) throw new RangeError(`a result of '${name}' is out of its bounds, p = 0x${p.toString(16)}`);
    return (valueOfLimbs(this.#field, high) << 26n) + valueOfLimbs(this.#field, low);
  }
}
