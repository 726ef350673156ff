/**
 * Operations that run along a vector: prefix products, inverses, values of polynomials. Segments or
 * columns of a vector run side by side, in both lanes of the arithmetic and on all threads.
 */
import { invert as inverseOf } from '../../field/modulus.js';
import { finish } from '../../scheduling/time-slice.js';
import { squares, withNumbers, wordsOfNumbers, writePowers } from '../../wasm/vectors/transform-passes.js';
import type { VectorAt } from '../../wasm/vectors/vector-kernel.js';
import { call, cut, inOrder, type KernelCall, type Phases, repeated } from '../../wasm/vectors/vector-program.js';
import type { Arena } from './arena.js';
import { copyVector, inParts, type OfOne } from './combine.js';

/** Segments or columns of a vector that one thread computes side by side. */
const SEGMENTS = 64;

/** Segments or columns of a chunk, where threads divide them: a call takes as long as several of JavaScript's. */
const SEGMENTS_OF_CHUNK = 32;

/** Reserves memory while `work` runs. */
function* withMemory(arena: Arena, length: number, work: (at: VectorAt) => Phases): Phases {
  const at = arena.take(length);
  try {
    yield* work(at);
  } finally {
    arena.release(at, length);
  }
}

/** Returns in how many segments or columns a vector is cut: two chunks for each thread, unless they become short. */
const segmentsOf = ({ threads }: Arena, length: number): number => {
  const most = 2 ** Math.floor(Math.log2(Math.max(1, length / SEGMENTS)));
  return Math.max(SEGMENTS, Math.min(most, 2 ** Math.ceil(Math.log2(SEGMENTS * threads))));
};

/** Returns how many of `count` segments or columns a thread takes at a time. */
const sideBySide = ({ threads }: Arena, count: number): number => (threads === 1 ? count : SEGMENTS_OF_CHUNK);

/**
 * Writes the products of all elements before each one. All segments run side by side, and are
 * multiplied by the product of those before.
 *
 * @param to another vector
 */
export function* prefixProduct(arena: Arena, { to, a, length }: OfOne): Phases {
  const { memory, bytes } = arena;
  const segment = Math.ceil(length / segmentsOf(arena, length));
  const step = segment * bytes;
  const whole = Math.floor(length / segment);
  const rest = length - whole * segment;
  const segments = whole + (rest > 0 ? 1 : 0);
  yield* withNumbers(memory, [1n], (one) =>
    withMemory(arena, whole + 1, function* (totals) {
      // the products of each segment, and of the rest, alone
      yield cut(segments, sideBySide(arena, segments), (first, count) => {
        const at = first * step;
        const calls = [repeated(count, 'copy', [to + at, one, bytes], [step, 0, 0])];
        /** Multiplies the elements `from` to `end` of so many segments. */
        const multiply = (from: number, end: number, lanes: number): void => {
          if (end <= from || lanes === 0) return;
          const before = at + (from - 1) * bytes;
          const parameters = [to + before + bytes, to + before, a + before, lanes, step, step, step];
          calls.push(repeated(end - from, 'multiply', parameters, [bytes, bytes, bytes, 0, 0, 0, 0]));
        };
        const isCut = rest > 0 && first + count === segments;
        multiply(1, isCut ? rest : segment, count);
        if (isCut) multiply(Math.max(1, rest), segment, count - 1);
        return calls;
      });
      // the products of all segments before each one
      const calls: KernelCall[] = [call('copy', totals, one, bytes)];
      for (let k = 0; k < whole; k++) {
        const last = k * step + (segment - 1) * bytes;
        const next = totals + (k + 1) * bytes;
        calls.push(call('multiply', next, to + last, a + last, 1, 0, 0, 0));
        calls.push(call('multiply', next, next, totals + k * bytes, 1, 0, 0, 0));
      }
      yield inOrder(...calls);
      yield cut(segments - 1, sideBySide(arena, segments), (first, count) =>
        Array.from({ length: count }, (_, i) => {
          const k = 1 + first + i;
          const at = to + k * step;
          const elements = Math.min(segment, length - k * segment);
          return call('multiply', at, at, totals + k * bytes, elements, bytes, bytes, 0);
        }),
      );
    }),
  );
}

/**
 * Writes the inverses of all elements, and 0 for 0 (Montgomery 1987, section 10.3.1). Columns of a
 * matrix run side by side, and their products are inverted in the same way.
 *
 * @param to another vector
 */
export function* invertAll(arena: Arena, { to, a, length }: OfOne): Phases {
  const { memory, bytes } = arena;
  yield* withNumbers(memory, [0n, 1n], (zero) =>
    withMemory(arena, length, function* (finite) {
      yield inParts(arena, length, (i, count) => [
        call('replaceZeros', finite + i * bytes, a + i * bytes, zero + bytes, count),
      ]);
      yield* invertFinite(arena, { to, a: finite, length });
      yield inParts(arena, length, (i, count) => [call('restoreZeros', to + i * bytes, a + i * bytes, zero, count)]);
    }),
  );
}

function* invertFinite(arena: Arena, { to, a, length }: OfOne): Phases {
  const { memory, bytes } = arena;
  if (length === 1) {
    yield {
      alone: () => {
        const inverse = inverseOf(memory.number(a), arena.field.p);
        finish(memory.enter(to, wordsOfNumbers([inverse], memory.kernel.wordBytes), 1n));
      },
    };
    return;
  }
  const width = length <= SEGMENTS ? 1 : segmentsOf(arena, length);
  const rows = Math.ceil(length / width);
  const step = width * bytes;
  /** Elements of the last row, which may be short. */
  const last = length - (rows - 1) * width;
  /** Returns the calls of the rows from 1 on that `first` to `first + count` columns have. */
  const byRows = (
    first: number,
    count: number,
    callsOf: (rowCount: number, count: number, fromRow: number) => KernelCall[],
  ): KernelCall[] => {
    const inLast = Math.max(0, Math.min(count, last - first));
    return [...callsOf(rows - 2, count, 1), ...(inLast > 0 ? callsOf(1, inLast, rows - 1) : [])];
  };
  // row r of `to`: products of the rows up to r; a short last row leaves the others as they are
  yield cut(width, sideBySide(arena, width), (first, count) => {
    const at = first * bytes;
    return [
      call('copy', to + at, a + at, count * bytes),
      ...byRows(first, count, (times, columns, row) => {
        if (times <= 0) return [];
        const from = at + row * step;
        const parameters = [to + from, to + from - step, a + from, columns, bytes, bytes, bytes];
        return [repeated(times, 'multiply', parameters, [step, step, step, 0, 0, 0, 0])];
      }),
    ];
  });
  yield* withMemory(arena, 2 * width, function* (inverse) {
    const products = inverse + step;
    const lastRow = to + (rows - 1) * step;
    yield inOrder(
      call('copy', products, lastRow, last * bytes),
      ...(last < width
        ? [call('copy', products + last * bytes, lastRow - step + last * bytes, (width - last) * bytes)]
        : []),
    );
    yield* invertFinite(arena, { to: inverse, a: products, length: width });
    yield cut(width, sideBySide(arena, width), (first, count) => {
      const at = first * bytes;
      const calls: KernelCall[] = [];
      for (let row = rows - 1; row > 0; row--) {
        const columns = row === rows - 1 ? Math.max(0, Math.min(count, last - first)) : count;
        if (columns === 0) continue;
        const from = at + row * step;
        calls.push(
          call('multiply', to + from, to + from - step, inverse + at, columns, bytes, bytes, bytes),
          call('multiply', inverse + at, inverse + at, a + from, columns, bytes, bytes, bytes),
        );
      }
      return [...calls, call('copy', to + at, inverse + at, count * bytes)];
    });
  });
}

/** Elements of the last sums of `evaluate`, which one thread adds. */
const LAST_SUMS = 2 ** 9;

/** Writes Σ a[i]·x^i: halves of the coefficients are added until one is left. */
export function* evaluate(arena: Arena, x: bigint, { to, a, length }: OfOne): Phases {
  const { memory, bytes, field } = arena;
  if (length === 1) {
    yield inOrder(call('copy', to, a, bytes));
    return;
  }
  const powers = squares(x, Math.ceil(Math.log2(length)), field.p);
  yield* withNumbers(memory, powers, (numbers) =>
    withMemory(arena, 2 ** (powers.length - 1), function* (sums) {
      const few: KernelCall[] = [];
      let [from, count] = [a, length];
      for (let k = powers.length - 1; k >= 0; k--) {
        const half = 2 ** k;
        const upper = count - half;
        const [low, factor] = [from, numbers + k * bytes];
        const phase = inParts(arena, upper, (i, some) => {
          const at = i * bytes;
          const parameters = [sums + at, low + half * bytes + at, factor, low + at, some, bytes, bytes, 0, bytes];
          return [call('multiplyAdd', ...parameters)];
        });
        const others = half - upper;
        const copy =
          from !== sums && others > 0 ? [call('copy', sums + upper * bytes, from + upper * bytes, others * bytes)] : [];
        if ('chunks' in phase && half <= LAST_SUMS) few.push(...phase.chunks.flat(), ...copy);
        else {
          yield phase;
          if (copy.length > 0) yield inOrder(...copy);
        }
        [from, count] = [sums, half];
      }
      yield inOrder(...few, call('copy', to, sums, bytes));
    }),
  );
}

/**
 * Writes the coefficients of (a(X) − a(x)) / (X − x): the values of Horner's rule before its last
 * step. All segments run side by side, and then take over the value of those above.
 *
 * @param to one element less than `a`, in other memory
 */
export function* divideByLinear(arena: Arena, x: bigint, { to, a, length }: OfOne): Phases {
  const { memory, bytes } = arena;
  const segment = Math.ceil(length / segmentsOf(arena, length));
  const step = segment * bytes;
  const whole = Math.floor(length / segment);
  const rest = length - whole * segment;
  const segments = whole + (rest > 0 ? 1 : 0);
  yield* withNumbers(memory, [x], (factor) =>
    withMemory(arena, length + segment, function* (values) {
      const powers = values + length * bytes;
      yield* copyVector(arena, values, a, length);
      yield cut(segments, sideBySide(arena, segments), (first, count) => {
        const calls: KernelCall[] = [];
        /** Adds the elements above to those from `from` down to `end`, in so many segments. */
        const addAbove = (from: number, end: number, lanes: number): void => {
          if (from < end || lanes === 0) return;
          const at = values + first * step + from * bytes;
          const parameters = [at, at + bytes, factor, at, lanes, step, step, 0, step];
          calls.push(repeated(from - end + 1, 'multiplyAdd', parameters, [-bytes, -bytes, 0, -bytes, 0, 0, 0, 0, 0]));
        };
        const isCut = rest > 0 && first + count === segments;
        if (isCut) {
          addAbove(segment - 2, Math.max(0, rest - 1), count - 1);
          addAbove(Math.min(segment - 2, rest - 2), 0, count);
        } else addAbove(segment - 2, 0, count);
        return calls;
      });
      // x^segment, …, x: the distances to the segment above
      yield* writePowers(memory, powers, segment, { base: x, factor: x });
      yield inOrder(
        repeated(segment, 'copy', [to, powers + (segment - 1) * bytes, bytes], [bytes, -bytes, 0]),
        call('copy', powers, to, segment * bytes),
      );
      // first elements one after the other, since each needs that of the segment above; then all others
      const join = (k: number, first: number, count: number): KernelCall => {
        const at = values + k * step + first * bytes;
        const above = values + (k + 1) * step;
        return call('multiplyAdd', at, powers + first * bytes, above, at, count, bytes, bytes, 0, bytes);
      };
      yield inOrder(...Array.from({ length: segments - 1 }, (_, i) => join(segments - 2 - i, 0, 1)));
      if (segment > 1) {
        yield cut(segments - 1, sideBySide(arena, segments), (first, count) =>
          Array.from({ length: count }, (_, i) => join(first + i, 1, segment - 1)),
        );
      }
      yield* copyVector(arena, to, values + bytes, length - 1);
    }),
  );
}
