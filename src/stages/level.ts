import { struct } from '../shaders/struct.js';

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
});

/** Where the dispatch arguments start, in bytes. */
export const LEVEL_DISPATCH_OFFSET = 4 * Level.fields.indexOf('groups_x');
