/** Parameters that modules are generated from. */
import type { Coordinate } from '../../api/values.js';
import type { Field } from '../../field/field.js';
import { wasmField } from './field-programs.js';
import type { WasmCurve } from './kernel-memory.js';

/** Fields of a curve's context that a module depends on. */
export interface CurveParameters {
  /** The field of coordinates. */
  readonly coordinates: Field;
  readonly a: Coordinate;
  readonly b: Coordinate;
}

/** Returns the parameters of a curve that a WebAssembly module is generated from. */
export const wasmCurve = ({ coordinates: f, a, b }: CurveParameters): WasmCurve => ({
  field: wasmField(f.prime.p, f.degree),
  nonResidue: f.nonResidue,
  a: f.coefficients(a),
  b: f.coefficients(b),
  wordBytes: f.prime.bytes,
});
