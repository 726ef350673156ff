/** Converts numbers from words to elements. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { type Address, pushAddress } from './addresses.js';
import type { Elements } from './elements.js';
import type { StepMemory } from './kernel-memory.js';
import type { KernelParts } from './kernel-parts.js';

/** Values of a kernel that the function is written with. */
interface EnterParts extends Pick<KernelParts, 'module' | 'curve' | 'lanes' | 'memory'> {
  readonly elements: Pick<Elements, 'multiplyPrime'>;
  /** Space for a number in each lane. */
  readonly step: Pick<StepMemory, 'junk'>;
}

/** Adds the function `enter` of `KernelExports`. */
export const addEnter = (parts: EnterParts): void => {
  const { module, curve, lanes, elements, memory } = parts;
  const { bytes } = curve.field;
  const raw = parts.step.junk;
  module.add('enter', { parameters: ['i32', 'i32', 'i32'] }, (code) => {
    const parameters = range(3).map((i) => code.parameter(i)) as [Local, Local, Local];
    const [to, from, count] = parameters;
    const targets = range(lanes).map(() => code.local('i32'));
    code.loop((again) => {
      for (const [i, target] of targets.entries()) {
        splitNumber(code, curve.field, curve.wordBytes, [from, i * curve.wordBytes], raw[i] as number);
        code
          .get(to)
          .i32(i * bytes)
          .do('i32.add')
          .set(target);
      }
      for (const target of targets) code.get(target);
      for (const at of raw) code.i32(at);
      for (const _ of raw) code.i32(memory.unit);
      code.call(elements.multiplyPrime);
      for (const [address, step] of [
        [to, bytes],
        [from, curve.wordBytes],
      ] as const) {
        code
          .get(address)
          .i32(lanes * step)
          .do('i32.add')
          .set(address);
      }
      code.get(count).i32(lanes).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
      again();
    });
  });
};

/** Splits a number below 2^(8·wordBytes) into limbs. */
export const splitNumber = (
  code: Code,
  { width, limbs }: { readonly width: number; readonly limbs: number },
  wordBytes: number,
  [from, offset]: readonly [Local, number],
  to: Address,
): void => {
  for (const j of range(limbs)) {
    const bit = j * width;
    const bits = Math.min(width, 8 * wordBytes - bit);
    pushAddress(code, to);
    if (bits <= 0) code.i64(0);
    else {
      code
        .get(from)
        .at('i64.load', offset + Math.floor(bit / 8))
        .i64(bit % 8)
        .do('i64.shr_u');
      code.i64(2 ** bits - 1).do('i64.and');
    }
    code.at('i64.store32', 4 * j);
  }
};
