/**
 * Horner's rule on the CPU, in Jacobian coordinates: a doubling takes a tenth of an affine one,
 * whose inversion only the additions of a list share.
 */
import type { CurveContext } from '../../curves/curve.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import { WasmHorner } from '../../wasm/horner/horner.js';
import { bigIntHorner, type Horner } from '../stages/horner.js';
import { agree } from '../stages/horner-test.js';

/** Sums on a curve after which its module is generated, which takes 10 to 20 ms. */
export const SUMS_BEFORE = 4;

/** The module of a curve, once it is there, and the number of sums so far. */
interface Arithmetic {
  horner: Horner | null;
  sums: number;
}

/** By the constants of the curve. */
const known = new WeakMap<object, Arithmetic>();

const load = async (curve: CurveContext, arithmetic: Arithmetic): Promise<void> => {
  // the caller gets its sum first
  await nextTurn();
  try {
    const horner = await WasmHorner.open(curve);
    if (agree(curve, horner, bigIntHorner(curve))) arithmetic.horner = horner;
  } catch {
    // lists of affine additions stay
  }
};

/**
 * Counts a sum that Horner's rule makes faster. Returns the arithmetic; null as long as there is
 * none.
 */
export const hornerFor = (curve: CurveContext): Horner | null => {
  const own = known.get(curve.constants) ?? { horner: null, sums: 0 };
  known.set(curve.constants, own);
  if (++own.sums === SUMS_BEFORE) void load(curve, own);
  return own.horner;
};
