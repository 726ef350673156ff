/** Points between the words of the public format and the elements of a kernel on integers. */
import { range } from '../../field/straight-line.js';
import type { Address, Local } from '../encoder/code.js';
import type { Elements } from './elements.js';
import type { KernelParts, StepMemory } from './kernel-memory.js';
import { splitNumber } from './numbers.js';

/** Values of a kernel that the functions are written with. */
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
    code.countPast(
      count,
      () => {
        for (const [i, target] of targets.entries()) {
          splitNumber(
            code,
            { ...curve.field, wordBytes: curve.wordBytes },
            [from, i * curve.wordBytes],
            raw[i] as number,
          );
          code.push([to, i * bytes]).set(target);
        }
        for (const target of targets) code.get(target);
        for (const at of raw) code.i32(at);
        for (const _ of raw) code.i32(memory.unit);
        code.call(elements.multiplyPrime);
        for (const [address, step] of [
          [to, bytes],
          [from, curve.wordBytes],
        ] as const) {
          code.increase(address, lanes * step);
        }
      },
      lanes,
    );
  });
};

/** Adds the function `leave` of `KernelExports`. @param join index of `FieldFunctions.join` */
export const addLeave = ({ module, curve, lanes, elements, memory, step }: EnterParts, join: number): void => {
  const { bytes } = curve.field;
  const products = step.junk;
  module.add('leave', { parameters: ['i32', 'i32', 'i32'] }, (code, to, from, count) => {
    const lane = (i: number): Address => [from, i * bytes];
    code.countPast(
      count,
      () => {
        code.call(elements.multiplyPrime, ...products, ...range(lanes).map(lane), ...products.map(() => memory.unit));
        for (const [i, product] of products.entries()) code.call(join, [to, i * curve.wordBytes], product);
        code.increase(to, lanes * curve.wordBytes);
        code.increase(from, lanes * bytes);
      },
      lanes,
    );
  });
};
