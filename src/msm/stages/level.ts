import { absorb } from '../../shaders/hash-chain.js';
import { struct } from '../../shaders/struct.js';

/**
 * One walk over one stream: how many entries, cut into how many tasks, by how many threads. Written on the GPU by partition,
 * because the number of non-zero digits is known only there. The last three fields are the walk's indirect dispatch.
 */
export const Level = struct('Level', {
  entries: 'E, the length of the stream',
  tasks: 'N; task t owns the entries from t·quotient + min(t, remainder) up to where task t + 1 begins',
  quotient: '⌊E / N⌋',
  remainder: 'E mod N',
  threads: 'thread i takes the tasks i, i + threads, i + 2·threads, …, one for each of its slots',
  groups_x: 'workgroups to dispatch',
  groups_y: '',
  groups_z: '',
  digest: 'of all that is above',
});

/** Where the dispatch arguments start, in bytes. */
export const LEVEL_DISPATCH_OFFSET = 4 * Level.fields.indexOf('groups_x');

const digested = Level.fields.filter((field) => field !== 'digest');

/** A level that a walk believes. */
export const packLevel = (values: Omit<ReturnType<typeof Level.unpack>, 'digest'>): Uint32Array<ArrayBuffer> =>
  Level.pack({
    ...values,
    digest: absorb(
      0,
      digested.map((field) => values[field as keyof typeof values]),
    ),
  });

/** What a template that speaks of levels, and is in custody, includes as `{{level}}`. */
export const levelWgsl = [
  Level.wgsl,
  'fn level_digest(level: Level) -> u32 {',
  '  var digest = 0u;',
  ...digested.map((field) => `  digest = absorb(digest, level.${field});`),
  '  return digest;',
  '}',
].join('\n');
