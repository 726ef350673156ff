/**
 * Affine additions in lists that share one inversion (Montgomery 1987, section 10.3.1), in any form
 * of arithmetic. Additions that need no formula are done first, and doublings go to a list of their
 * own. Then, for each of the two lists, a pass forward multiplies the denominators up, one inversion,
 * and a pass back computes the sums.
 */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { Lanes } from './formula.js';

/** Additions of one call at most; they share an inversion. */
export const MAX_ADDITIONS = 512;

/** Bytes of an addition in a list: the addresses of the result, of P and of Q. */
export const LIST_ITEM = 12;

/**
 * Items behind a list that may be overwritten: one makes the number of items even, and two are
 * additions that a pass on floats computes before those of the list.
 */
export const LIST_PADDING = 3;

/** Kinds of additions: `done` has been computed. */
export const KIND = { sum: 0, double: 1, done: 2 } as const;

/** The passes over a list: functions (address of the first item, number of items). */
export interface Passes {
  readonly forward: number;
  /** Starts at the end of the list. */
  readonly backward: number;
}

/** The parts of the adder that depend on the form of arithmetic. */
export interface ListForm {
  readonly module: WasmModule;
  readonly lanes: Lanes;
  /** Reserves `bytes` and returns their address. */
  readonly take: (bytes: number) => number;
  /** Leaves whether two signed points may have equal x, or one may be infinity, by their lowest limbs. */
  readonly mayBeExceptional: (code: Code, P: Local, Q: Local) => void;
  /** Leaves whether y of a signed point is not 0, by its lowest limb: false where it may be 0. */
  readonly hasOrdinate: (code: Code, P: Local) => void;
  /**
   * Index of (to, P, Q) of signed points, which returns the kind of an addition, and computes it where
   * the sum is P, Q or infinity.
   */
  readonly classify: number;
  readonly sums: Passes;
  /** The same for items of which P and Q are equal. */
  readonly doublings: Passes;
  /** Sets the product of the denominators to 1 in every lane. */
  readonly begin: (code: Code) => void;
  /** Inverts the product of the denominators of `count` items, in every lane. */
  readonly invert: (code: Code, count: Local) => void;
  /** Operands of no curve whose x differ by 1 and whose y is not 0, and space for their sum. */
  readonly padding: { readonly to: number; readonly P: number; readonly Q: number };
  /** Writes the operands of the padding, where nothing is read before. */
  readonly writePadding: (code: Code) => void;
}

/** Addresses of as many items of a list as there are lanes. */
export class ListItems<Each extends readonly Local[]> {
  readonly #code: Code;
  readonly #list: Local;
  readonly #lanes: number;

  constructor(code: Code, list: Local, lanes: Each['length']) {
    this.#code = code;
    this.#list = list;
    this.#lanes = lanes;
  }

  /** Returns the addresses of the results, of P or of Q, with the signs of points in bit 0. */
  addresses(which: 0 | 1 | 2): Each {
    return range(this.#lanes).map((lane) => {
      const local = this.#code.local('i32');
      this.#code.get(this.#list).at('i32.load', LIST_ITEM * lane + 4 * which);
      this.#code.set(local);
      return local;
    }) as readonly Local[] as Each;
  }

  /** Returns addresses without their signs. */
  barePoints(which: 1 | 2): Each {
    const all = this.addresses(which);
    for (const local of all) this.#code.get(local).i32(-2).do('i32.and').set(local);
    return all;
  }
}

/** Lists with one value for each item, of `bytes` each. */
export interface PassMemory {
  readonly kept: number;
  readonly prefixes: number;
  readonly bytes: number;
}

/** Writes one step; the locals have the addresses of its values in the lists. */
type WriteStep<Each extends readonly Local[]> = (
  code: Code,
  at: { readonly kept: Local; readonly prefix: Local },
  items: ListItems<Each>,
) => void;

/** Adds passes whose steps are calls of functions. */
export const calledPasses = <Each extends readonly Local[]>(
  module: WasmModule,
  lanes: Each['length'],
  { kept, prefixes, bytes }: PassMemory,
  steps: { readonly [K in keyof Passes]: WriteStep<Each> },
): Passes => {
  const pass = (name: keyof Passes): number =>
    module.add(null, { parameters: ['i32', 'i32'] }, (code, list, count) => {
      const at = code.named('i32', 'kept', 'prefix');
      for (const [local, base] of [
        [at.kept, kept],
        [at.prefix, prefixes],
      ] as const) {
        code.i32(base);
        if (name === 'backward') code.get(count).i32(bytes).do('i32.mul', 'i32.add');
        code.set(local);
      }
      const advance = (by: number): void => {
        code.increase(list, by * LIST_ITEM);
        for (const local of [at.kept, at.prefix]) code.increase(local, by * bytes);
      };
      const write = (): void => {
        if (name === 'backward') advance(-lanes);
        steps[name](code, at, new ListItems<Each>(code, list, lanes));
        if (name === 'forward') advance(lanes);
      };
      code.countDown(count, write, lanes);
    });
  return { forward: pass('forward'), backward: pass('backward') };
};

/** Adds a function (list, count) that runs both passes, with the inversion between them. */
const addRun = ({ module, lanes, begin, invert, padding }: ListForm, passes: Passes): number =>
  module.add(null, { parameters: ['i32', 'i32'] }, (code, list, count) => {
    const end = code.local('i32');
    const setEnd = () => code.get(list).get(count).i32(LIST_ITEM).do('i32.mul', 'i32.add').set(end);
    code.get(count).do('i32.eqz');
    code.if(() => code.do('return'));
    setEnd();
    if (lanes === 2) {
      for (const item of range(LIST_PADDING))
        for (const [i, value] of [padding.to, padding.P, padding.Q].entries()) {
          code.get(end).i32(value);
          code.at('i32.store', LIST_ITEM * item + 4 * i);
        }
      // an even number of items
      code.get(count).i32(1).do('i32.add').i32(-2).do('i32.and').set(count);
      setEnd();
    }
    begin(code);
    code.call(passes.forward, list, count);
    invert(code, count);
    code.call(passes.backward, end, count);
  });

/** Adds a function (list, count) that returns the number of sums that stay in the list. */
const addPartition = (form: ListForm, doubles: { readonly list: number; readonly count: number }): number =>
  form.module.add(null, { parameters: ['i32', 'i32'], result: 'i32' }, (code, list, count) => {
    const { to, P, Q, next, nextDouble } = code.named('i32', 'to', 'P', 'Q', 'next', 'nextDouble');
    const { kept, kind } = code.named('i32', 'kept', 'kind');
    code.get(list).set(next).i32(doubles.list).set(nextDouble);
    const put = (at: Local): void => {
      for (const [i, value] of [to, P, Q].entries()) {
        code.get(at).get(value);
        code.at('i32.store', 4 * i);
      }
      code.increase(at, LIST_ITEM);
    };
    code.countDown(count, () => {
      for (const [i, value] of [to, P, Q].entries()) {
        code.get(list).at('i32.load', 4 * i);
        code.set(value);
      }
      // a point and itself: lists of doublings need no comparison
      code.get(P).get(Q).do('i32.eq');
      form.hasOrdinate(code, P);
      code.do('i32.and').if(
        () => code.i32(KIND.double).set(kind),
        () => {
          form.mayBeExceptional(code, P, Q);
          code.if(
            () => code.call(form.classify, to, P, Q).set(kind),
            () => code.i32(KIND.sum).set(kind),
          );
        },
      );
      code.get(kind).i32(KIND.double).do('i32.eq');
      code.if(() => put(nextDouble));
      code.get(kind).do('i32.eqz');
      code.if(() => {
        put(next);
        code.increase(kept, 1);
      });
      code.increase(list, LIST_ITEM);
    });
    code.i32(doubles.count).get(nextDouble).i32(doubles.list).do('i32.sub').i32(LIST_ITEM).do('i32.div_u');
    code.at('i32.store', 0);
    code.get(kept);
  });

/** Adds the function `add` of `KernelExports`. @returns its index */
export const addListAdder = (form: ListForm): number => {
  const { module, take, writePadding } = form;
  const doubles = { list: take(LIST_ITEM * (MAX_ADDITIONS + LIST_PADDING)), count: take(4) };
  const partition = addPartition(form, doubles);
  const [sums, doublings] = [addRun(form, form.sums), addRun(form, form.doublings)];
  return module.add('add', { parameters: ['i32', 'i32'] }, (code, list, count) => {
    code.get(count).do('i32.eqz');
    code.if(() => code.do('return'));
    writePadding(code);
    code.get(list).call(partition, list, count).call(sums);
    code.i32(doubles.list).i32(doubles.count).at('i32.load', 0).call(doublings);
  });
};
