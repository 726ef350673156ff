/** What threads have of windows, put together. */

import type { PointAdder, PointAt } from '../../wasm/arithmetic/point-adder.js';
import { INFINITY, plus, type Steps } from './bucket-sums.js';
import type { WindowSums } from './share.js';

/** Windows of a piece: how many, and their width in bits. */
export interface Shape {
  readonly windowBits: number;
  readonly windows: number;
}

/**
 * Σ_j 2^(c·j)·W_j of each piece, all pieces side by side.
 *
 * @param parts of the windows, counted over all pieces; what several have of one is added up
 */
export function* gather(
  adder: PointAdder,
  shapes: readonly Shape[],
  parts: readonly WindowSums[],
): Steps<readonly PointAt[]> {
  adder.release();
  const windows = shapes.reduce((sum, shape) => sum + shape.windows, 0);
  const sums = new Uint32Array(windows).fill(INFINITY);
  for (const part of parts) {
    const start = adder.copyIn(part.points);
    for (const [i, window] of part.windows.entries()) {
      sums[window] = plus(adder, sums[window] as number, start + i * adder.pointBytes);
    }
    adder.flush();
    yield;
  }
  let next = 0;
  const pieces = shapes.map((shape) => {
    const first = next;
    next += shape.windows;
    return { ...shape, first, at: adder.take(1), total: INFINITY };
  });
  const [most, widest] = pieces.reduce(
    ([j, c], piece) => [Math.max(j, piece.windows), Math.max(c, piece.windowBits)],
    [0, 0],
  );
  type Total = (typeof pieces)[number];
  const add = (piece: Total, more: PointAt): void => {
    if (more === INFINITY) return;
    adder.add(piece.at, piece.total, more);
    piece.total = piece.at;
  };
  for (let j = most - 1; j >= 0; j--) {
    const open = pieces.filter((piece) => j < piece.windows);
    for (let bit = 0; bit < widest; bit++) {
      for (const piece of open) if (bit < piece.windowBits) add(piece, piece.total);
      adder.flush();
    }
    for (const piece of open) add(piece, sums[piece.first + j] as number);
    adder.flush();
    yield;
  }
  return pieces.map(({ total }) => total);
}
