import { absorb } from '../../shaders/hash-chain.js';
import { struct } from '../../shaders/struct.js';

/**
 * Shape of one walk over one stream: entries, tasks and threads. Partition writes it on the GPU,
 * because the number of nonzero digits is known only there. A walk is dispatched for the most
 * threads that it may have: Dawn takes 0.13 ms of the host to check an indirect dispatch.
 */
export const Level = struct('Level', {
  entries: 'E, the length of the stream',
  tasks: 'N; task t owns the entries from t·quotient + min(t, remainder) up to where task t + 1 begins',
  quotient: '⌊E / N⌋',
  remainder: 'E mod N',
  threads: 'thread i takes the tasks i, i + threads, i + 2·threads, …, one for each of its slots',
  digest: 'digest of the fields above',
});

const digested = Level.fields.filter((field) => field !== 'digest');

/** Packs a level with its digest, without which a walk does nothing. */
export const packLevel = (values: Omit<ReturnType<typeof Level.unpack>, 'digest'>): Uint32Array<ArrayBuffer> =>
  Level.pack({
    ...values,
    digest: absorb(
      0,
      digested.map((field) => values[field as keyof typeof values]),
    ),
  });

/** WGSL of levels, which templates in the dispatch chain include as `{{level}}`. */
export const levelWgsl = [
  Level.wgsl,
  'fn level_digest(level: Level) -> u32 {',
  '  var digest = 0u;',
  ...digested.map((field) => `  digest = absorb(digest, level.${field});`),
  '  return digest;',
  '}',
].join('\n');
