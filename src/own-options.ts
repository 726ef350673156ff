import { badArgument, kindOf } from './errors.js';

/**
 * The options that a caller's object has, or its class, each read once. Those of `Object.prototype` are none: whoever
 * put one there would set it for everybody.
 *
 * @param name what an error calls the object
 * @returns a copy without a prototype
 * @throws MsmError `bad-argument` for what is no object
 */
export const ownOptions = <Options extends object>(given: Options, name = 'options'): Partial<Options> => {
  if (typeof given !== 'object' || given === null) throw badArgument(`${name} must be an object, got ${kindOf(given)}`);
  const own = Object.create(null) as Record<PropertyKey, unknown>;
  let holder: object | null = given;
  do {
    for (const key of Reflect.ownKeys(holder)) {
      if (!(key in own) && key !== 'constructor') own[key] = given[key as keyof Options];
    }
    holder = Object.getPrototypeOf(holder);
    // by what it has: it may be another realm's
  } while (holder !== null && !Object.hasOwn(holder, 'hasOwnProperty'));
  return own as Partial<Options>;
};
