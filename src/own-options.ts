import { badArgument, kindOf } from './errors.js';

/**
 * Copies the options of a caller's object and of its class. Reads each once. Ignores properties of
 * `Object.prototype`, where a polluted prototype would set an option for every call.
 *
 * @param name the name of the object in errors
 * @returns a copy without a prototype
 * @throws MsmError `bad-argument` if the value is not an object
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
    // recognises Object.prototype of another realm too
  } while (holder !== null && !Object.hasOwn(holder, 'hasOwnProperty'));
  return own as Partial<Options>;
};
