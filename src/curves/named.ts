import { badArgument, show } from '../errors.js';
import { bn254 } from './bn254.js';
import type { Curve } from './curve.js';

const named = { bn254 } satisfies Readonly<Record<string, Curve>>;

/** Curves that `createMsmEngine` knows by name. */
export type NamedCurve = keyof typeof named;

/** @throws MsmError `bad-argument` for a name that no file of src/curves/ has */
export const resolveCurve = (curve: string | Curve): Curve => {
  if (typeof curve === 'object' && curve !== null) return curve;
  if (!Object.hasOwn(named, curve)) {
    throw badArgument(
      `curve: ${show(curve)} is unknown; give one of ${Object.keys(named).join(', ')} or a Curve object`,
    );
  }
  return named[curve as NamedCurve];
};
