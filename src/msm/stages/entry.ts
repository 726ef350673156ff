import { struct } from '../../shaders/struct.js';

/** One element of a stream, an instruction: add the point of `point_ref` to the sum of `key`. */
export const Entry = struct('Entry', {
  key: 'the bucket that the point goes to',
  point_ref: 'bits 0 to 30: index of the point; bit 31: take its negative; ABSENT: no point here, only the key',
});

/**
 * Point reference to no point. It is not 0, because fresh buffers are zero and 0 is a valid index.
 */
export const ABSENT = 0xffffffff;
/** Flag of a point reference: the negative of the point. */
export const NEGATE = 0x80000000;
export const INDEX_MASK = 0x7fffffff;
export const ENTRY_WORDS = Entry.fields.length;

/** WGSL of entries, which templates include as `{{entry}}`. */
export const entryWgsl = [
  Entry.wgsl,
  `const ABSENT = ${ABSENT}u;`,
  `const NEGATE = ${NEGATE}u;`,
  `const INDEX_MASK = ${INDEX_MASK}u;`,
].join('\n');
