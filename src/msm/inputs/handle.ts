import { badArgument, type MsmError } from '../../errors.js';

/** `Symbol.dispose`, or in JavaScript engines without `using` a symbol that nobody calls. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

/** Returns the error of a handle's methods on another object: only the handle has its private fields. */
export const notTheHandle = (): MsmError =>
  badArgument('this is a proxy or a copy of a handle; call it on the handle itself');
