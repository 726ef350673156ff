import { badArgument, type MsmError } from '../../errors.js';

/** `Symbol.dispose`; in JavaScript engines without it, a symbol of the library's own. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

/**
 * Returns the error of a handle's methods on another object. Only the handle itself has the private
 * fields that its methods read.
 */
export const notTheHandle = (): MsmError =>
  badArgument('this is a proxy or a copy of a handle; call it on the handle itself');
