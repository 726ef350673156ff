import { badArgument } from '../errors.js';
import { bn254 } from './bn254.js';
import type { Curve } from './curve.js';

const named: Readonly<Record<string, Curve>> = { bn254 };

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has */
export const resolveCurve = (curve: string | Curve): Curve => {
  if (typeof curve === 'object' && curve !== null) return curve;
  const found = Object.hasOwn(named, curve) ? named[curve] : undefined;
  if (found === undefined) {
    throw badArgument(`curve: '${curve}' is unknown; give one of ${Object.keys(named).join(', ')} or a Curve object`);
  }
  return found;
};
