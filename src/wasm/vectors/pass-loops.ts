/** Loops over the butterflies of one pass. */
import { range } from '../../field/straight-line.js';
import { callWith } from '../arithmetic/addresses.js';
import type { Local } from '../encoder/code.js';
import { advance, i32, type LoopParts, laneLoop, walkers } from './lane-loops.js';

/** Adds a pass of butterflies with twiddles. */
export const addPass = ({ module, functions: { lanes, field } }: LoopParts, name: string, index: number): void => {
  module.add(name, { parameters: i32(6) }, (code) => {
    const [x, distance, count, blocks, blockStep, twiddles] = range(6).map((i) => code.parameter(i)) as [
      ...[Local, Local, Local, Local, Local, Local],
    ];
    const { own, other, w, left } = code.named('i32', 'own', 'other', 'w', 'left');
    code.loop((nextBlock) => {
      code.get(x).tee(own).get(distance).do('i32.add').set(other);
      code.get(twiddles).set(w).get(count).set(left);
      const all = walkers(
        code,
        lanes,
        left,
        [own, other, w].map((each) => [each, field.bytes]),
      );
      laneLoop(code, lanes, left, () => {
        callWith(code, index, all.take().flat());
        all.advance();
      });
      advance(code, x, blockStep);
      code.get(blocks).i32(1).do('i32.sub').tee(blocks);
      nextBlock();
    });
  });
};

/** Adds butterflies without twiddles, of neighbours. */
export const addSums = ({ module, functions: { lanes, field } }: LoopParts, name: string, index: number): void => {
  module.add(name, { parameters: i32(2) }, (code) => {
    const [x, count] = [code.parameter(0), code.parameter(1)];
    const y = code.local('i32');
    code.get(x).i32(field.bytes).do('i32.add').set(y);
    const all = walkers(code, lanes, count, [
      [x, 2 * field.bytes],
      [y, 2 * field.bytes],
    ]);
    laneLoop(code, lanes, count, () => {
      callWith(code, index, all.take().flat());
      all.advance();
    });
  });
};
