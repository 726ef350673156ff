/** The passes over additions of points with different x. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { calledPasses, ItemPair, type Passes, type PassMemory } from './called-passes.js';
import { type Coordinate, type CoordinateLine, type StoredAs, uncarried } from './coordinates.js';
import type { FloatField } from './float-field.js';
import { signedPoint } from './float-functions.js';
import { roundingConstants } from './float-line.js';
import { call, type FloatParts, LIST_ITEM, step } from './float-parts.js';
import { type FloatWriter, interleaved } from './float-writer.js';
import { lanesAt, wideAt } from './lane-source.js';
import type { SignedPoint } from './point-programs.js';

/**
 * Adds the passes. On numbers they are loops without calls: the slope of a pair is computed beside
 * the coordinates of the pair before, since the latency of a product bounds its speed. On pairs
 * c0 + c1·u the products of one addition are enough side by side, and the code is long: functions.
 *
 * @param finish index of the function that computes sums from their slopes
 */
export const addSumPasses = (parts: FloatParts, finish: number, at: PassMemory): Passes =>
  parts.programs.field.degree === 1 ? inlinePasses(parts, finish, at) : functionPasses(parts, finish, at);

const functionPasses = (parts: FloatParts, finish: number, at: PassMemory): Passes => {
  const { module, memory, programs, functions } = parts;
  const { running, slopes } = programs;
  const forward = functions.define(['wide', 'wide', 'wide', 'lanes', 'lanes'], (c, now, kept, prefix, P, Q) => {
    const denominator = programs.denominator(c, P, Q);
    const product = c.load(now, running);
    c.store(kept, denominator, uncarried);
    c.store(prefix, product, running);
    c.store(now, programs.advance(c, product, denominator), running);
  });
  const slopeAt = memory.takeWide();
  const start = functions.define(
    ['wide', 'wide', 'wide', 'wide', 'signed', 'signed'],
    (c, to, now, kept, prefix, P, Q) => {
      const [slope, next] = programs.slopeAndNext(c, c.load(now, running), c.load(prefix, running), {
        kept: () => c.load(kept, uncarried),
        numerator: () => programs.numerator(c, P, Q),
      });
      c.store(to, slope, slopes);
      c.store(now, next, running);
    },
  );
  return calledPasses(module, memory.coordinate, at, {
    forward: (code, places, item) =>
      call(code, forward, ...places, ...item.barePoints(code, 1), ...item.barePoints(code, 2)),
    backward: (code, places, item) => {
      call(code, start, slopeAt, ...places, ...item.addresses(code, 1), ...item.addresses(code, 2));
      call(code, finish, slopeAt, ...item.addresses(code, 0), ...item.addresses(code, 1), ...item.barePoints(code, 2));
    },
  });
};

/** A coordinate in locals, which a loop changes. */
class HeldCoordinate {
  readonly as: StoredAs;
  readonly #prefix: string;
  readonly #locals: readonly Local[];

  constructor(code: Code, prefix: string, limbs: number, as: StoredAs) {
    this.#prefix = prefix;
    this.#locals = range(limbs).map(() => code.local('v128'));
    this.as = as;
  }

  get values(): [string, Local][] {
    return this.#locals.map((local, i) => [`${this.#prefix}${i}`, local]);
  }

  /** Loads it from memory, before a loop. */
  load(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries())
      code
        .i32(at)
        .at('v128.load', 16 * i)
        .set(local);
  }

  store(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries())
      code
        .i32(at)
        .get(local)
        .at('v128.store', 16 * i);
  }

  value(c: CoordinateLine): Coordinate {
    return c.given(this.#prefix, this.as);
  }

  set(code: Code, locals: readonly Local[]): void {
    for (const [i, local] of locals.entries()) code.get(local).set(this.#locals[i] as Local);
  }
}

const namesOf = (coordinate: Coordinate): string[] => coordinate.flatMap(({ limbs }) => limbs.map(({ name }) => name));

/** Loads the constants of every product into locals. */
const hoist = (writer: FloatWriter, field: FloatField): void => {
  const { high, both } = roundingConstants(field);
  writer.hoist(high, both);
};

const inlinePasses = (parts: FloatParts, finish: number, at: PassMemory): Passes => ({
  forward: addForward(parts, at),
  backward: addBackward(parts, finish, at),
});

const addForward = ({ module, memory, programs, functions }: FloatParts, at: PassMemory): number => {
  const { field, running } = programs;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const { kept, prefix } = code.named('i32', 'kept', 'prefix');
    code.i32(at.kept).set(kept).i32(at.prefixes).set(prefix);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field.limbs, running);
    held.load(code, at.running);
    code.loop((again) => {
      const item = new ItemPair(list);
      const c = programs.begin();
      const [P, Q] = [lanesAt(...item.barePoints(code, 1)), lanesAt(...item.barePoints(code, 2))];
      const denominator = programs.denominator(c, P, Q);
      c.store(wideAt(kept), denominator, uncarried);
      c.store(wideAt(prefix), held.value(c), running);
      const next = programs.advance(c, held.value(c), denominator);
      c.assertWithin(next, running);
      const locals = writer.write(c.line.statements, new Map(held.values), namesOf(next));
      held.set(code, locals);
      step(code, list, 2 * LIST_ITEM);
      for (const pointer of [kept, prefix]) step(code, pointer, 2 * memory.coordinate);
      code.get(count).i32(2).do('i32.sub').tee(count);
      again();
    });
    held.store(code, at.running);
  });
};

const addBackward = (parts: FloatParts, finish: number, at: PassMemory): number => {
  const { module, memory, programs, functions } = parts;
  const { field, running } = programs;
  const lastSlope = memory.takeWide();
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const { kept, prefix, before } = code.named('i32', 'kept', 'prefix', 'before');
    for (const [pointer, base] of [
      [kept, at.kept],
      [prefix, at.prefixes],
    ] as const)
      code.get(count).i32(memory.coordinate).do('i32.mul').i32(base).do('i32.add').set(pointer);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field.limbs, running);
    const slope = new HeldCoordinate(code, 'slope', field.limbs, programs.slopes);
    held.load(code, at.running);
    const given = new Map([...held.values, ...slope.values]);
    /** Writes the coordinates of the sums of two items. */
    const finishedBeside = (item: ItemPair): CoordinateLine => {
      const c = programs.begin('f');
      const P: SignedPoint = signedPoint(code, item.addresses(code, 1));
      programs.finish(c, slope.value(c), lanesAt(...item.addresses(code, 0)), P, lanesAt(...item.barePoints(code, 2)));
      return c;
    };
    code.loop((again) => {
      code.get(list).set(before);
      step(code, list, -2 * LIST_ITEM);
      for (const pointer of [kept, prefix]) step(code, pointer, -2 * memory.coordinate);
      const item = new ItemPair(list);
      const c = programs.begin();
      const [P, Q] = [signedPoint(code, item.addresses(code, 1)), signedPoint(code, item.addresses(code, 2))];
      const [nextSlope, next] = programs.slopeAndNext(c, held.value(c), c.load(wideAt(prefix), running), {
        kept: () => c.load(wideAt(kept), uncarried),
        numerator: () => programs.numerator(c, P, Q),
      });
      c.assertWithin(next, running);
      c.assertWithin(nextSlope, programs.slopes);
      const both = interleaved(c.line.statements, finishedBeside(new ItemPair(before)).line.statements);
      const locals = writer.write(both, given, [...namesOf(next), ...namesOf(nextSlope)]);
      held.set(code, locals.slice(0, field.limbs));
      slope.set(code, locals.slice(field.limbs));
      code.get(count).i32(2).do('i32.sub').tee(count);
      again();
    });
    slope.store(code, lastSlope);
    const item = new ItemPair(list);
    const signed = item.addresses(code, 1);
    call(code, finish, lastSlope, ...item.addresses(code, 0), ...signed, ...item.barePoints(code, 2));
  });
};
