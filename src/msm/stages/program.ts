import template from '../../../wgsl/msm/program.wgsl?template';
import type { Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { Y_ODD } from '../../curves/point-source.js';
import { elementToMontgomery, type Field, writeElement } from '../../field/field.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { localLength } from '../../shaders/limits.js';

/** Config of the stage that runs a program of field operations on points. */
export const ProgramConfig = struct('ProgramConfig', {
  begin: 'first point of the slice to process',
  end: 'end of the points to process, exclusive',
  first: 'index of the first point of the slice among all bases',
  steps: 'words of the program',
  writes: '1: registers 0 and 1 become the point; 0: the point stays',
  refused: 'account of rejected points',
});

export const PROGRAM_THREADS = 64;

/**
 * Elements that a program can hold, as the longest programs need them. They are private memory on
 * most chips.
 */
export const REGISTERS = 12;

/** Operations of a step; see wgsl/msm/program.wgsl. */
export const Kind = {
  PRODUCT: 0,
  SUM: 1,
  DIFFERENCE: 2,
  CONSTANT: 3,
  MOVE: 4,
  MOVE_UNLESS_ZERO: 5,
  CONJUGATE: 6,
  CHOOSE: 7,
  REQUIRE_ZERO: 8,
  REQUIRE_OTHER: 9,
  SQUARES: 10,
} as const;

/** A program of field operations for `run_program`. */
export interface Program {
  readonly steps: Uint32Array<ArrayBuffer>;
  /** Elements in the memory format. */
  readonly constants: Uint32Array<ArrayBuffer>;
}

/** Bit of the number of squares, counted from the second operand. */
const SQUARES_AT = 6;

/** Index of a register. */
export type Register = number;

/**
 * Writes a program. Every method but `program` appends a step; `to` is the register that the step
 * writes.
 */
export class ProgramWriter {
  readonly #field: Field;
  readonly #steps: number[] = [];
  readonly #constants: Uint32Array[] = [];

  /** @param field the field of the coordinates */
  constructor(field: Field) {
    this.#field = field;
  }

  /**
   * a^(2^squares)·b. The result is in Montgomery form if both operands are, and a plain number if
   * one of them is.
   */
  product(to: Register, a: Register, b: Register, squares = 0): void {
    this.#step(Kind.PRODUCT, to, a, b | (squares << SQUARES_AT));
  }

  /** a^(2^count), in Montgomery form. */
  squares(to: Register, a: Register, count: number): void {
    if (count === 0 && to !== a) this.move(to, a);
    else if (count > 0) this.#step(Kind.SQUARES, to, a, count << SQUARES_AT);
  }

  sum(to: Register, a: Register, b: Register): void {
    this.#step(Kind.SUM, to, a, b);
  }

  difference(to: Register, a: Register, b: Register): void {
    this.#step(Kind.DIFFERENCE, to, a, b);
  }

  /** In Montgomery form. */
  constant(to: Register, value: Coordinate): void {
    this.#constant(to, elementToMontgomery(this.#field, this.#field.reduced(value)));
  }

  /** The number itself. */
  number(to: Register, value: bigint): void {
    this.#constant(to, this.#field.multiple(this.#field.one, value));
  }

  move(to: Register, a: Register): void {
    this.#step(Kind.MOVE, to, a, 0);
  }

  moveUnlessZero(to: Register, a: Register, b: Register): void {
    this.#step(Kind.MOVE_UNLESS_ZERO, to, a, b);
  }

  /** The conjugate c0 − c1·u of a pair; a number stays. */
  conjugate(to: Register, a: Register): void {
    this.#step(this.#field.degree === 1 ? Kind.MOVE : Kind.CONJUGATE, to, a, 0);
  }

  /**
   * a, or −a if the parity of `parity` is not the one that the point's y asks for. The parity of a
   * pair is that of c1 unless c1 is 0.
   */
  choose(to: Register, a: Register, parity: Register): void {
    this.#step(Kind.CHOOSE, to, a, parity);
  }

  /** Rejects the point if the register is not 0. */
  requireZero(a: Register): void {
    this.#step(Kind.REQUIRE_ZERO, 0, 0, a);
  }

  /** Rejects the point if the register is 0. */
  requireOther(a: Register): void {
    this.#step(Kind.REQUIRE_OTHER, 0, 0, a);
  }

  program(): Program {
    const { words } = this.#field;
    const constants = new Uint32Array(words * Math.max(1, this.#constants.length));
    for (const [i, constant] of this.#constants.entries()) constants.set(constant, i * words);
    return { steps: Uint32Array.from(this.#steps), constants };
  }

  #constant(to: Register, stored: Coordinate): void {
    const words = new Uint32Array(this.#field.words);
    writeElement(this.#field, words, 0, stored);
    const known = this.#constants.findIndex((each) => each.every((word, i) => word === words[i]));
    if (known < 0) this.#constants.push(words);
    this.#step(Kind.CONSTANT, to, 0, known < 0 ? this.#constants.length - 1 : known);
  }

  #step(kind: number, to: Register, a: Register, b: number): void {
    this.#steps.push(kind | (to << 4) | (a << 10) | (b << 16));
  }
}

/** @param pads whether its private array is padded (`localLength`) */
export const programKernel = ({ coordinates }: CurveContext, pads = false): Kernel =>
  stageKernel(
    'run_program',
    template,
    ProgramConfig,
    [
      { name: 'program', access: 'read', type: 'array<u32>' },
      { name: 'constants', access: 'read', type: 'array<Packed>' },
      { name: 'points', access: 'write', type: 'array<Point>' },
    ],
    {
      ...coordinates.view(),
      threads: PROGRAM_THREADS,
      arrayLength: localLength(REGISTERS, coordinates.bytes, pads),
      lastRegister: REGISTERS - 1,
      pairs: coordinates.degree === 2,
      odd: Y_ODD,
      kinds: Object.entries(Kind).map(([name, kind]) => ({ name, kind })),
    },
    coordinates.partials,
  );
