/** Functions on coordinates in memory, in two lanes: programs on floats as WebAssembly. */
import { range } from '../../field/straight-line.js';
import type { Address, Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { FloatField, FloatMemory } from './float-field.js';
import {
  type Constant,
  type FloatOperation,
  type FloatStatement,
  type LaneSource,
  lanesAt,
  type Operand,
  roundingConstants,
  wideAt,
} from './float-line.js';
import type { Coordinate, CoordinateLine, PointPrograms, SignedPoint, StoredAs } from './point-programs.js';

export interface FloatParts {
  readonly module: WasmModule;
  readonly memory: FloatMemory;
  readonly programs: PointPrograms;
  readonly functions: FloatFunctions;
  /** Addresses of coordinates: 0 and 1. */
  readonly zero: number;
  readonly one: number;
}

/** Leaves whether `numbers` consecutive floats are all 0. */
export const areZero = (code: Code, at: Address, numbers: number): void => {
  for (const i of range(numbers)) {
    code.push(at);
    code.at('f64.load', 8 * i).f64(0);
    code.do('f64.ne');
    if (i > 0) code.do('i32.or');
  }
  code.do('i32.eqz');
};

/** Copies floats, `stride` apart. */
export const copyFloats = (
  code: Code,
  to: readonly [Address, offset: number, stride: number],
  from: readonly [Address, offset: number, stride: number],
  count: number,
): void => {
  for (const i of range(count)) {
    code.push(to[0]);
    code.push(from[0]);
    code.at('f64.load', from[1] + i * from[2]).at('f64.store', to[1] + i * to[2]);
  }
};

/**
 * A parameter: one address for each lane, one address of two elements side by side, one address, or
 * the address of a point for each lane with its sign in bit 0.
 */
type ParameterKind = 'lanes' | 'wide' | 'address' | 'signed';

/** Parameter of each kind, as a program takes it. */
interface ParameterOf {
  readonly lanes: LaneSource;
  readonly wide: LaneSource;
  readonly address: Local;
  readonly signed: SignedPoint;
}

type ParametersOf<Kinds extends readonly ParameterKind[]> = { readonly [K in keyof Kinds]: ParameterOf[Kinds[K]] };

/** Leaves an address without its sign in a new local. */
const bareAddress = (code: Code, address: Local): Local => {
  const bare = code.local('i32');
  code.get(address).i32(-2).do('i32.and').set(bare);
  return bare;
};

/** Returns the point at signed addresses. */
export const signedPoint = (code: Code, addresses: readonly [Local, Local]): SignedPoint => ({
  at: lanesAt(bareAddress(code, addresses[0]), bareAddress(code, addresses[1])),
  sign: lanesAt(...addresses),
});

/** Defines functions. */
export class FloatFunctions {
  readonly #module: WasmModule;
  readonly #memory: FloatMemory;
  readonly #programs: PointPrograms;

  constructor(module: WasmModule, memory: FloatMemory, programs: PointPrograms) {
    this.#module = module;
    this.#memory = memory;
    this.#programs = programs;
  }

  /** Returns a writer of statements into a function. */
  writer(code: Code): FloatWriter {
    return new FloatWriter(code, this.#programs.field.width, (bits) => this.#memory.vector(bits));
  }

  /**
   * Adds a function.
   *
   * @returns its index; it takes the addresses of all parameters in order
   */
  define<const Kinds extends readonly ParameterKind[]>(
    kinds: Kinds,
    write: (c: CoordinateLine, ...parameters: ParametersOf<Kinds>) => void,
  ): number {
    const count = kinds.reduce((sum, kind) => sum + (kind === 'wide' || kind === 'address' ? 1 : 2), 0);
    return this.#module.add(null, { parameters: range(count).map(() => 'i32' as const) }, (code) => {
      let next = 0;
      const take = (): Local => code.parameter(next++);
      const parameters = kinds.map((kind) => {
        if (kind === 'wide') return wideAt(take());
        if (kind === 'address') return take();
        const addresses = [take(), take()] as const;
        return kind === 'lanes' ? lanesAt(...addresses) : signedPoint(code, addresses);
      });
      const c = this.#programs.begin();
      write(c, ...(parameters as unknown as ParametersOf<Kinds>));
      this.writer(code).write(c.line.statements);
    });
  }
}

/** Instruction of each operation; a shift has its count as a second operand. */
const instructions = {
  madd: 'f64x2.relaxed_madd',
  add: 'f64x2.add',
  sub: 'f64x2.sub',
  integerAdd: 'i64x2.add',
  and: 'v128.and',
  or: 'v128.or',
  xor: 'v128.xor',
  shift: 'i64x2.shr_u',
} as const satisfies Record<FloatOperation, string>;

/** Returns the address and the offset of a limb in each lane. @param offset of the limb in an element */
const lanesOf = (
  source: Exclude<LaneSource, { kind: 'wide' }>,
  offset: number,
): readonly [readonly [Address, number], readonly [Address, number]] => {
  if (source.kind === 'lanes') {
    const [first, second] = source.lanes;
    return [
      [first, offset],
      [second, offset],
    ];
  }
  const [first, second] = source.lanes;
  const from = source.stride * offset;
  return [
    [source.at, first + from],
    [source.at, second + from],
  ];
};

/** Returns the address of a constant, in both lanes. */
type ConstantAddress = (bits: bigint) => number;

/** Names that a statement uses. */
const usedBy = (statement: FloatStatement): readonly Operand[] => {
  if (statement.kind === 'compute') return statement.from;
  return statement.kind === 'store' ? [statement.value] : [];
};

/** Returns the statements of independent programs in turns, each at its own pace. */
export const interleaved = (...programs: readonly (readonly FloatStatement[])[]): FloatStatement[] => {
  const longest = Math.max(...programs.map((program) => program.length));
  const out: FloatStatement[] = [];
  const next = programs.map(() => 0);
  for (let i = 1; i <= longest; i++) {
    for (const [k, program] of programs.entries()) {
      const to = Math.round((i * program.length) / longest);
      out.push(...program.slice(next[k], to));
      next[k] = to;
    }
  }
  return out;
};

export class FloatWriter {
  readonly #code: Code;
  readonly #width: number;
  readonly #constantAt: ConstantAddress;
  readonly #hoisted = new Map<bigint, Local>();
  /** Locals that hold no value that is still used. */
  readonly #free: Local[] = [];

  /** @param width bits of a limb */
  constructor(code: Code, width: number, constantAt: ConstantAddress) {
    this.#code = code;
    this.#width = width;
    this.#constantAt = constantAt;
  }

  /** Loads constants into locals, before a loop that uses them. */
  hoist(...constants: readonly Constant[]): void {
    for (const { bits } of constants) {
      const local = this.#code.local('v128');
      this.#constant(bits);
      this.#code.set(local);
      this.#hoisted.set(bits, local);
    }
  }

  #constant(bits: bigint): void {
    const hoisted = this.#hoisted.get(bits);
    if (hoisted !== undefined) this.#code.get(hoisted);
    else this.#code.i32(0).at('v128.load', this.#constantAt(bits));
  }

  #load(from: LaneSource, offset: number): void {
    const code = this.#code;
    if (from.kind === 'wide') {
      code.push(from.at);
      code.at('v128.load', 2 * offset);
      return;
    }
    const [first, second] = lanesOf(from, offset);
    code.push(second[0]);
    code.push(first[0]);
    code.at('v128.load64_zero', first[1]).laneAt('v128.load64_lane', second[1], 1);
  }

  #store(to: LaneSource, offset: number, value: Local): void {
    const code = this.#code;
    if (to.kind === 'wide') {
      code.push(to.at);
      code.get(value).at('v128.store', 2 * offset);
      return;
    }
    for (const [lane, [address, from]] of lanesOf(to, offset).entries()) {
      code.push(address);
      code.get(value).laneAt('v128.store64_lane', from, lane);
    }
  }

  /** Leaves −0 in the lanes whose address has bit 0 set. */
  #sign(of: LaneSource): void {
    if (of.kind !== 'lanes') throw new Error('a sign needs an address for each lane');
    const code = this.#code;
    const [first, second] = of.lanes;
    code.push(first);
    code.do('i64.extend_i32_u', 'i64x2.splat');
    code.push(second);
    code.do('i64.extend_i32_u').replaceLane(1);
    code.i32(63).do('i64x2.shl');
  }

  /**
   * Writes statements.
   *
   * @param values locals of values from outside, which are not overwritten
   * @param wanted names of values that are used afterwards
   * @returns locals of these values
   */
  write(
    statements: readonly FloatStatement[],
    values: ReadonlyMap<string, Local> = new Map(),
    wanted: readonly string[] = [],
  ): Local[] {
    const code = this.#code;
    const locals = new Map(values);
    const last = new Map<string, number>();
    statements.forEach((statement, i) => {
      for (const operand of usedBy(statement)) if (typeof operand === 'string') last.set(operand, i);
    });
    for (const name of [...wanted, ...values.keys()]) last.set(name, Number.POSITIVE_INFINITY);
    const localOf = (name: string): Local => {
      const local = locals.get(name);
      if (local === undefined) throw new Error(`'${name}' is used before it is computed`);
      return local;
    };
    statements.forEach((statement, i) => {
      if (statement.kind === 'store') this.#store(statement.to, statement.offset, localOf(statement.value));
      else {
        if (statement.kind === 'load') this.#load(statement.from, statement.offset);
        else if (statement.kind === 'sign') this.#sign(statement.of);
        else {
          for (const operand of statement.from)
            if (typeof operand === 'string') code.get(localOf(operand));
            else this.#constant(operand.bits);
          if (statement.by === 'shift') code.i32(this.#width);
          code.do(instructions[statement.by]);
        }
      }
      for (const operand of usedBy(statement)) {
        if (typeof operand !== 'string' || last.get(operand) !== i) continue;
        // an operand may be there twice
        last.set(operand, Number.POSITIVE_INFINITY);
        this.#free.push(localOf(operand));
      }
      if (statement.kind === 'store') return;
      const local = this.#free.pop() ?? code.local('v128');
      code.set(local);
      locals.set(statement.name, local);
      if (!last.has(statement.name)) this.#free.push(local);
    });
    return wanted.map(localOf);
  }

  /** Returns locals to those that may be used again. */
  release(locals: readonly Local[]): void {
    this.#free.push(...locals);
  }
}

/* Coordinates that a loop keeps in locals. */

/** A coordinate in locals, which a loop changes. */
export class HeldCoordinate {
  readonly as: StoredAs;
  readonly #prefix: string;
  readonly #locals: readonly Local[];

  constructor(code: Code, prefix: string, { limbs }: FloatField, as: StoredAs) {
    this.#prefix = prefix;
    this.#locals = range(limbs).map(() => code.local('v128'));
    this.as = as;
  }

  get values(): [string, Local][] {
    return this.#locals.map((local, i) => [`${this.#prefix}${i}`, local]);
  }

  /** Loads it from memory, before a loop. */
  load(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries()) {
      code.i32(at).at('v128.load', 16 * i);
      code.set(local);
    }
  }

  store(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries()) {
      code.i32(at).get(local);
      code.at('v128.store', 16 * i);
    }
  }

  value(c: CoordinateLine): Coordinate {
    return c.given(this.#prefix, this.as);
  }

  set(code: Code, locals: readonly Local[]): void {
    for (const [i, local] of locals.entries()) code.get(local).set(this.#locals[i] as Local);
  }
}

/** Returns the names of the limbs of a coordinate. */
export const namesOf = (coordinate: Coordinate): string[] =>
  coordinate.flatMap(({ limbs }) => limbs.map(({ name }) => name));

/** Loads the constants of every product into locals. */
export const hoist = (writer: FloatWriter, field: FloatField): void => {
  const { high, both } = roundingConstants(field);
  writer.hoist(high, both);
};
