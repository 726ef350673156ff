/** Operations that run along a vector: prefix products, inverses, values of polynomials. */
import { invert as inverseOf } from '../../field/modulus.js';
import { squares, withNumbers, wordsOfNumbers, writePowers } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import type { Arena } from './arena.js';
import { inParts, type OfOne } from './combine.js';

/** Segments of a vector that are computed side by side. */
const SEGMENTS = 64;

/** Reserves memory while `work` runs. */
function* withMemory(arena: Arena, length: number, work: (at: VectorAt) => Generator<void>): Generator<void> {
  const at = arena.take(length);
  try {
    yield* work(at);
  } finally {
    arena.release(at, length);
  }
}

/**
 * Writes the products of all elements before each one. All segments run side by side, and are
 * multiplied by the product of those before.
 *
 * @param to another vector
 */
export function* prefixProduct(arena: Arena, { to, a, length }: OfOne): Generator<void> {
  const { memory, bytes } = arena;
  const { multiply } = memory.exports;
  const segment = Math.ceil(length / SEGMENTS);
  const step = segment * bytes;
  const whole = Math.floor(length / segment);
  yield* withNumbers(memory, [1n], function* (one) {
    yield* withMemory(arena, whole + 1, function* (totals) {
      const rest = length - whole * segment;
      // the products of each segment, and of the rest, alone
      memory.repeat(to, one, whole, segment);
      if (rest > 0) memory.copy(to + whole * step, one, 1);
      for (let i = 1; i < segment; i++) {
        const count = i < rest ? whole + 1 : whole;
        const before = (i - 1) * bytes;
        multiply(to + i * bytes, to + before, a + before, count, step, step, step);
        yield;
      }
      // the products of all segments before each one
      memory.copy(totals, one, 1);
      for (let k = 0; k < whole; k++) {
        const last = k * step + (segment - 1) * bytes;
        multiply(totals + (k + 1) * bytes, to + last, a + last, 1, 0, 0, 0);
        multiply(totals + (k + 1) * bytes, totals + (k + 1) * bytes, totals + k * bytes, 1, 0, 0, 0);
      }
      for (let k = 1; k * segment < length; k++) {
        const own = to + k * step;
        multiply(own, own, totals + k * bytes, Math.min(segment, length - k * segment), bytes, bytes, 0);
        yield;
      }
    });
  });
}

/**
 * Writes the inverses of all elements, and 0 for 0 (Montgomery 1987, section 10.3.1). Columns of a
 * matrix run side by side, and their products are inverted in the same way.
 *
 * @param to another vector
 */
export function* invertAll(arena: Arena, { to, a, length }: OfOne): Generator<void> {
  const { memory, bytes } = arena;
  yield* withNumbers(memory, [0n, 1n], function* (zero) {
    yield* withMemory(arena, length, function* (finite) {
      yield* inParts(length, (i, count) =>
        memory.exports.replaceZeros(finite + i * bytes, a + i * bytes, zero + bytes, count),
      );
      yield* invertFinite(arena, { to, a: finite, length });
      yield* inParts(length, (i, count) => memory.exports.restoreZeros(to + i * bytes, a + i * bytes, zero, count));
    });
  });
}

function* invertFinite(arena: Arena, { to, a, length }: OfOne): Generator<void> {
  const { memory, bytes } = arena;
  const { multiply } = memory.exports;
  if (length === 1) {
    const { p } = arena.field;
    yield* memory.enter(to, wordsOfNumbers([inverseOf(memory.number(a), p)], memory.kernel.wordBytes), 1n);
    return;
  }
  const width = length <= SEGMENTS ? 1 : SEGMENTS;
  const rows = Math.ceil(length / width);
  const step = width * bytes;
  const countOf = (row: number): number => Math.min(width, length - row * width);
  // row r of `to`: products of the rows up to r; a short last row leaves the others as they are
  memory.copy(to, a, width);
  for (let row = 1; row < rows; row++) {
    multiply(to + row * step, to + (row - 1) * step, a + row * step, countOf(row), bytes, bytes, bytes);
    if (row % SEGMENTS === 0) yield;
  }
  yield* withMemory(arena, 2 * width, function* (inverse) {
    const products = inverse + step;
    const last = countOf(rows - 1);
    memory.copy(products, to + (rows - 1) * step, last);
    memory.copy(products + last * bytes, to + (rows - 2) * step + last * bytes, width - last);
    yield* invertFinite(arena, { to: inverse, a: products, length: width });
    for (let row = rows - 1; row > 0; row--) {
      const count = countOf(row);
      multiply(to + row * step, to + (row - 1) * step, inverse, count, bytes, bytes, bytes);
      multiply(inverse, inverse, a + row * step, count, bytes, bytes, bytes);
      if (row % SEGMENTS === 0) yield;
    }
    memory.copy(to, inverse, width);
  });
}

/** Writes Σ a[i]·x^i: halves of the coefficients are added until one is left. */
export function* evaluate(arena: Arena, x: bigint, { to, a, length }: OfOne): Generator<void> {
  const { memory, bytes, field } = arena;
  if (length === 1) {
    memory.copy(to, a, 1);
    return;
  }
  const powers = squares(x, Math.ceil(Math.log2(length)), field.p);
  yield* withNumbers(memory, powers, function* (numbers) {
    yield* withMemory(arena, 2 ** (powers.length - 1), function* (sums) {
      let [from, count] = [a, length];
      for (let k = powers.length - 1; k >= 0; k--) {
        const half = 2 ** k;
        const upper = count - half;
        const factor = numbers + k * bytes;
        const low = from;
        yield* inParts(upper, (i, some) => {
          const at = i * bytes;
          memory.exports.multiplyAdd(
            sums + at,
            low + half * bytes + at,
            factor,
            low + at,
            some,
            bytes,
            bytes,
            0,
            bytes,
          );
        });
        if (from !== sums) memory.copy(sums + upper * bytes, from + upper * bytes, half - upper);
        [from, count] = [sums, half];
      }
      memory.copy(to, sums, 1);
    });
  });
}

/**
 * Writes the coefficients of (a(X) − a(x)) / (X − x): the values of Horner's rule before its last
 * step. All segments run side by side, and then take over the value of those above.
 *
 * @param to one element less than `a`, in other memory
 */
export function* divideByLinear(arena: Arena, x: bigint, { to, a, length }: OfOne): Generator<void> {
  const { memory, bytes } = arena;
  const { multiplyAdd } = memory.exports;
  const segment = Math.ceil(length / SEGMENTS);
  const step = segment * bytes;
  const whole = Math.floor(length / segment);
  const rest = length - whole * segment;
  yield* withNumbers(memory, [x], (factor) =>
    withMemory(arena, length + segment, function* (values) {
      const powers = values + length * bytes;
      memory.copy(values, a, length);
      for (let i = segment - 2; i >= 0; i--) {
        const count = i < rest - 1 ? whole + 1 : whole;
        const at = values + i * bytes;
        multiplyAdd(at, at + bytes, factor, at, count, step, step, 0, step);
        yield;
      }
      // x^segment, …, x: the distances to the segment above
      yield* writePowers(memory, powers, segment, { base: x, factor: x });
      memory.pick(
        to,
        powers,
        Uint32Array.from({ length: segment }, (_, i) => segment - 1 - i),
      );
      memory.copy(powers, to, segment);
      const segments = whole + (rest > 0 ? 1 : 0);
      for (let k = segments - 2; k >= 0; k--) {
        const own = values + k * step;
        multiplyAdd(own, powers, own + step, own, segment, bytes, bytes, 0, bytes);
        yield;
      }
      memory.copy(to, values + bytes, length - 1);
    }),
  );
}
