/** Table of the faults that a trial can inject into a call. */
import type { Random } from '../oracle/known-bases.js';
import type { Arm } from './arm.js';
import { delay, drop, repeat, replace } from './changes.js';
import { pick } from './commands.js';
import {
  changePipeline,
  flipBit,
  flipUpload,
  mappedBefore,
  misplace,
  misread,
  slowDown,
  spoilBuffer,
} from './data-faults.js';
import { pointChangeNames, pointChanges } from './points.js';
import { promiseFaults } from './promises.js';
import { MOST_WORDS } from './xor.js';

const each = <Word extends string>(kind: string, words: readonly Word[], arm: (target: Word) => Arm): [string, Arm][] =>
  words.map((word) => [`${kind}: ${word}`, arm(word)]);

const anyMask = (random: Random): number => random.u32() || 1;

/** Faults by name, `kind: target`. */
export const faults: ReadonlyMap<string, Arm> = new Map([
  ...each('did not happen', ['submit', 'pass', 'dispatch', 'copy', 'clear', 'write'], drop),
  ['did not happen: map', mappedBefore(({ before }) => before)],
  ...each('of another call', ['submit', 'dispatch', 'copy', 'write'], replace),
  ['of another call: map', mappedBefore(({ random, earlier }) => pick(random, earlier))],
  ...each('done twice', ['submit', 'dispatch', 'copy', 'clear', 'write'], repeat),
  ...each('late', ['submit', 'dispatch', 'copy', 'clear', 'write'], delay),
  ['a bit flipped: in an upload', flipUpload],
  ['a bit flipped: in a buffer', spoilBuffer((random) => [(1 << random.below(32)) >>> 0])],
  [
    'a bit flipped: in mapped data',
    misread(
      ({ random }) =>
        (data) =>
          flipBit(random, data),
    ),
  ],
  ...each('points read back', pointChangeNames, (name) => misplace(pointChanges[name])),
  ['garbage: in a buffer', spoilBuffer((random) => Array.from({ length: MOST_WORDS }, () => anyMask(random)))],
  ['one constant changed: pipeline', changePipeline],
  ['slow by 100 ×: device', slowDown],
  ...promiseFaults,
]);

export const faultNames: readonly string[] = [...faults.keys()];

/** Slow faults, of which only one in so many is drawn. */
export const rare: ReadonlyMap<string, number> = new Map([
  ['one constant changed: pipeline', 2],
  ['slow by 100 ×: device', 8],
]);
