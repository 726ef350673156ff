/** The common part of all handles of callers: engines, keys, bases, scalars, vectors. */
import { badArgument, type MsmError } from './errors.js';

/** `Symbol.dispose`; in JavaScript engines without it, a symbol of the library's own. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol('Symbol.dispose');

/**
 * Returns the error of a handle's methods on another object. Only the handle itself has the private
 * fields that its methods read.
 */
export const notTheHandle = (): MsmError =>
  badArgument('this is a proxy or a copy of a handle; call it on the handle itself');

/** The method by which Node, Deno and Bun print an object. */
export const inspect: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;

/**
 * Returns what a console prints in place of a handle: names of classes are minified, and fields of a
 * handle may be large or secret. A handle has `Symbol.toStringTag` too, for consoles of pages.
 *
 * @param facts what is printed
 */
export const printed = (name: string, facts: object): object => {
  // consoles print the name of the class
  const { [name]: Named } = { [name]: class {} };
  return Object.assign(new (Named as new () => object)(), facts);
};

/**
 * Name of the method by which an engine lends its CPU threads to engines of vectors. A name, since
 * the two kinds of engines are in different files of the package.
 */
export const cpuThreads: unique symbol = Symbol.for('webgpu-msm.cpuThreads') as never;

/** Mark of a file whose every read returns an array that nobody else has. */
export const freshReads = Symbol('fresh reads');

/** Mark of a file whose reads compute its bytes from another file: their own errors are about what that one contains. */
export const computedReads = Symbol('computed reads');
