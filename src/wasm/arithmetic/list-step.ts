/** One step through a list of additions: as many additions as there are lanes. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { type Address, callWith } from './addresses.js';
import type { ListMemory } from './kernel-memory.js';
import { copyElement, type KernelParts } from './kernel-parts.js';

/** Bytes of an addition in the list: the addresses of the result, of P and of Q. */
export const LIST_ITEM = 12;

/** Locals of a step, and code that all passes over the list share. */
export class ListStep {
  readonly code: Code;
  readonly parts: KernelParts;
  readonly lists: ListMemory;
  readonly lanes: readonly number[];
  readonly list: Local;
  readonly count: Local;
  /** Index of the addition in lane 0. */
  readonly k: Local;
  /** Address of that addition in the list. */
  readonly item: Local;
  /** Bits of the kinds of all lanes; 0 if all are sums. */
  readonly any: Local;
  readonly low: Local;
  readonly to: readonly Local[];
  readonly P: readonly Local[];
  readonly Q: readonly Local[];
  /** Addresses of the masks of the signs of P and Q. */
  readonly signP: readonly Local[];
  readonly signQ: readonly Local[];
  /** Addresses that a computed sum is written to. */
  readonly target: readonly Local[];
  readonly kind: readonly Local[];
  readonly denominator: readonly Local[];
  /** Address of the product of all denominators before. */
  readonly prefix: readonly Local[];
  /** Address of the product of all denominators up to this one. */
  readonly next: readonly Local[];

  constructor(code: Code, parts: KernelParts, lists: ListMemory) {
    this.code = code;
    this.parts = parts;
    this.lists = lists;
    this.lanes = range(parts.lanes);
    [this.list, this.count] = [code.parameter(0), code.parameter(1)];
    const local = (): Local => code.local('i32');
    const perLane = (): Local[] => this.lanes.map(local);
    [this.k, this.item, this.any, this.low] = [local(), local(), local(), local()];
    [this.to, this.P, this.Q] = [perLane(), perLane(), perLane()];
    [this.signP, this.signQ, this.target] = [perLane(), perLane(), perLane()];
    [this.kind, this.denominator] = [perLane(), perLane()];
    [this.prefix, this.next] = [perLane(), perLane()];
  }

  /** Calls a function with arguments in every lane. */
  each(index: number, ...args: readonly (readonly Address[])[]): void {
    callWith(this.code, index, args.flat());
  }

  /** Returns the addresses of the y of points. */
  yOf(points: readonly Local[]): Address[] {
    return points.map((point) => [point, this.parts.memory.element]);
  }

  copy(to: Address, from: Address): void {
    copyElement(this.code, to, from, this.parts.memory.element);
  }

  /** Sets the locals of step k: addresses, and masks of signs. */
  open(): void {
    const { code, lists } = this;
    const { element } = this.parts.memory;
    code.get(this.list).get(this.k).i32(LIST_ITEM).do('i32.mul', 'i32.add').set(this.item);
    for (const i of this.lanes) {
      code
        .get(this.item)
        .at('i32.load', LIST_ITEM * i)
        .set(this.to[i] as Local);
      this.#openOperand(this.P[i] as Local, this.signP[i] as Local, LIST_ITEM * i + 4);
      this.#openOperand(this.Q[i] as Local, this.signQ[i] as Local, LIST_ITEM * i + 8);
      const at = (base: number, local: readonly Local[]): void => {
        code.get(this.k).i32(i).do('i32.add').i32(element).do('i32.mul').i32(base).do('i32.add');
        code.set(local[i] as Local);
      };
      at(lists.denominators, this.denominator);
      at(lists.prefixes, this.prefix);
      at(lists.prefixes + this.lanes.length * element, this.next);
    }
  }

  /** Splits an operand into the address of its point and that of the mask of its sign. */
  #openOperand(point: Local, sign: Local, offset: number): void {
    const { code } = this;
    code.get(this.item).at('i32.load', offset).tee(point);
    // the masks are neighbours
    code.i32(1).do('i32.and').i32(2).do('i32.shl').i32(this.parts.memory.plus).do('i32.add').set(sign);
    code.get(point).i32(-2).do('i32.and').set(point);
  }

  /** Leaves the address of the kind in lane `i`. */
  kindAt(i: number): void {
    this.code
      .get(this.k)
      .i32(2)
      .do('i32.shl')
      .i32(this.lists.kinds + 4 * i)
      .do('i32.add');
  }

  ifKind(i: number, kind: number, then: () => void): void {
    this.code
      .get(this.kind[i] as Local)
      .i32(kind)
      .do('i32.eq')
      .if(then);
  }

  /** Adds the bits of the kind in lane `i`, which is on the stack, to `any`. */
  collectKind(): void {
    this.code.get(this.any).do('i32.or').set(this.any);
  }
}
