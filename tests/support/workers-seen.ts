/** Expected records of the workers of a call, for `toEqual` and `toMatchObject`. */
import { expect } from 'vitest';
import { inWasm } from './arithmetic.js';
import type { Place } from './worker-place.js';

/** All that came out was right, and was computed on the CPU in WebAssembly. */
export const right = ({ expected }: Place) => ({ sums: [expected], on: 'cpu', arithmetic: inWasm });

export const someWorkers = expect.toSatisfy((workers: number) => workers === 1 || workers === 2, 'one worker or two');

/** No worker died, and nobody was warned. */
export const nothingLost = { lost: [], noWorkers: null, warnings: [] };

/** One failure or two: one that comes between two calls is not told of. */
export const notLoaded = expect.toSatisfy(
  (lost: readonly string[]) =>
    lost.length > 0 && lost.every((why) => /^worker [12] died: it could not be loaded$/.test(why)),
  'workers that could not be loaded',
);
