/** The table of powers for transforms. */
import { power } from '../../field/square-root.js';
import type { OpenField } from '../program/open-field.js';
import type { FieldStep } from '../program/steps.js';
import type { Emitter, Part } from './emitter.js';
import type { FieldJob } from './field-job.js';
import type { Place } from './parts.js';
import { powerTables } from './powers.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Powers for transforms of up to 2^logLength elements. */
export interface PlacedPowers extends Place {
  readonly logLength: number;
  /** Null in a plan, for a table that the run will make. */
  readonly buffer: VectorBuffer | null;
}

/** Returns log2 of the longest transform of steps. */
export const longestTransform = (steps: readonly FieldStep[]): number =>
  steps.reduce(
    (most, { computation: { kind }, result: { length } }) =>
      kind === 'ntt' || kind === 'intt' ? Math.max(most, Math.log2(length)) : most,
    0,
  );

/** Returns the place of a table in a buffer of its own. */
export const placeOfPowers = (logLength: number, elementBytes: number): Place => ({
  offset: 0,
  size: 2 ** (logLength - 1) * elementBytes,
});

/** Returns the job that makes the table for transforms of up to 2^logLength elements. */
export const powersJob = ({ p, rootOfUnity, twoAdicity }: OpenField, logLength: number, place: Place): FieldJob => {
  const length = 2 ** (logLength - 1);
  const root = power(rootOfUnity, 1n << BigInt(twoAdicity - logLength), p);
  return {
    ...{ outputBytes: place.size, residents: [], kinds: new Set() },
    emit: (emit, output) => {
      // the product of another device may have another Montgomery form
      const { words, low } = powerTables(emit.setup.field, root, 1n, length);
      emit.combine({ ...(output as Part), ...place }, { b: emit.upload(words) }, { length, products: 2, low });
      return [];
    },
  };
};

/** Names the table in commands. */
export const powersPart = (emit: Emitter, { buffer, offset, size }: PlacedPowers): Part =>
  buffer === null ? { buffer: 'powers', offset, size } : emit.bind(buffer.buffer, offset, size);
