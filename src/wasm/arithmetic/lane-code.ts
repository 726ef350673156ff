/**
 * Straight-line programs as WebAssembly: of one input each on i64, or of two at a time on i64x2. A machine without wide vectors multiplies two pairs of
 * 32 bits in about the time of one of 64 (docs/performance.md).
 */
import type { Limbs, Operand, Statement, Term } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';

/** How many additions are done side by side. */
export type Lanes = 1 | 2;

/** The address of a value in each lane. */
export type Place = readonly Local[];

/** The low halves of both lanes, next to each other as they are loaded. */
const HALVES = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11];

/** Writes limbs from memory and to it, and programs between. */
export class LaneCode {
  readonly code: Code;
  readonly lanes: Lanes;

  constructor(code: Code, lanes: Lanes) {
    this.code = code;
    this.lanes = lanes;
  }

  get type(): 'i64' | 'v128' {
    return this.lanes === 1 ? 'i64' : 'v128';
  }

  /** Leaves 32 bits from memory: sign-extended, or those of both lanes as the two lowest of four. */
  load(from: Place, offset: number): void {
    const { code } = this;
    const [first, second] = from as [Local, Local];
    if (this.lanes === 1) {
      code.get(first).at('i64.load32_s', offset);
      return;
    }
    code.get(second).get(first).at('v128.load32_zero', offset).laneAt('v128.load32_lane', offset, 1);
  }

  /** Stores 32 bits of what a local has: of an i64, or of each lane of an i64x2. */
  store(to: Place, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, place] of to.entries()) {
      code.get(place).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, 2 * lane);
    }
  }

  /** The same of what `load` left, or differences of such. */
  storeNarrow(to: Place, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, place] of to.entries()) {
      code.get(place).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, lane);
    }
  }

  subtract(): void {
    this.code.do(this.lanes === 1 ? 'i64.sub' : 'i32x4.sub');
  }

  /** Leaves ±`limb`: what is on the stack, negated where the mask is −1. */
  negateBy(mask: Local): void {
    const { code } = this;
    code
      .get(mask)
      .do(this.lanes === 1 ? 'i64.xor' : 'v128.xor')
      .get(mask);
    this.subtract();
  }
}

/** Names of a program, and the locals that they are in. */
interface Held {
  readonly local: Local;
  /** Of two lanes: four of 32 bits, of which the two lowest count; else two of 64. */
  readonly isNarrow: boolean;
}

/**
 * Writes a program.
 *
 * @param inputs where the limbs are that it is given, as `WideCode.load` leaves them
 * @returns the limbs of the result
 */
export const writeProgram = (
  { code, lanes, type }: LaneCode,
  { program, result }: Limbs,
  inputs: ReadonlyMap<string, Local>,
): Local[] => {
  const mask = 2 ** program.width - 1;
  const held = new Map<string, Held>([...inputs].map(([name, local]) => [name, { local, isNarrow: true }]));
  const narrowed = new Map<string, Local>();
  const of = (name: string): Held => held.get(name) as Held;
  const constant = (value: number): void => {
    if (lanes === 1) code.i64(value);
    else code.i64x2(BigInt.asUintN(32, BigInt(value)) | (BigInt.asUintN(32, BigInt(value)) << 32n));
  };
  /** A factor: of two lanes, in the two lowest of four. */
  const factor = (operand: Operand): void => {
    if (typeof operand === 'number') {
      constant(operand);
      return;
    }
    const { local, isNarrow } = of(operand);
    if (lanes === 1 || isNarrow) {
      code.get(local);
      return;
    }
    const known = narrowed.get(operand);
    if (known !== undefined) {
      code.get(known);
      return;
    }
    const low = code.local(type);
    narrowed.set(operand, low);
    code.get(local).get(local).shuffle(HALVES).tee(low);
  };
  const isWhole = ([x, y]: Term): boolean =>
    typeof x === 'string' && (y === 1 || y === -1) && (lanes === 1 || !of(x).isNarrow);
  const add = (term: Term): 'i64.add' | 'i64.sub' => {
    const [x, y] = term;
    if (isWhole(term)) {
      code.get(of(x as string).local);
      return y === 1 ? 'i64.add' : 'i64.sub';
    }
    factor(x);
    factor(y);
    code.do(lanes === 1 ? 'i64.mul' : 'i64x2.extmul_low_i32x4_s');
    return 'i64.add';
  };
  const shift = (): void => {
    if (lanes === 1) code.i64(program.width).do('i64.shr_s');
    else code.i32(program.width).do('i64x2.shr_s');
  };
  const write = (statement: Statement): void => {
    switch (statement.kind) {
      case 'sum': {
        // what is subtracted comes after what it is subtracted from
        const terms = [...statement.terms].sort((a, b) => Number(a[1] === -1) - Number(b[1] === -1));
        if (terms.length === 0 || (isWhole(terms[0] as Term) && (terms[0] as Term)[1] === -1)) {
          if (lanes === 1) code.i64(0);
          else code.i64x2(0);
        }
        for (const [i, term] of terms.entries()) {
          const how = add(term);
          if (i > 0 || how === 'i64.sub') code.do(lanes === 1 ? how : how === 'i64.add' ? 'i64x2.add' : 'i64x2.sub');
        }
        return;
      }
      case 'mask':
        code.get(of(statement.of).local);
        if (lanes === 1) code.i64(mask).do('i64.and');
        else code.i64x2(mask).do('v128.and');
        return;
      case 'floor':
        code.get(of(statement.of).local);
        shift();
        return;
      default:
        throw new Error(`'${statement.kind}' is not for 64 bits`);
    }
  };
  for (const statement of program.statements) {
    write(statement);
    const local = code.local(type);
    code.set(local);
    held.set(statement.name, { local, isNarrow: false });
  }
  return result.map((name) => of(name).local);
};
