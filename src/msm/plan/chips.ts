import type { AdapterDescription } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import type { FieldProduct } from '../../field/modulus.js';

/**
 * Chips on which a product of bytes is the fastest, as WebGPU calls them: NVIDIA since Pascal, RDNA since 2, Adreno since 7xx. Those of Intel have the
 * instruction, too, and too few registers. The language feature is announced also by chips that have not, and a product of bytes takes several
 * times as long as any other there.
 */
const DOT4_CHIPS = /^(nvidia (?!fermi|kepler|maxwell)\w|amd rdna-[2-9]|qualcomm adreno-[7-9])/;

/**
 * Why a device is not to compile products of bytes; null where it may. SwiftShader writes them out, and its compiler ended
 * the process with tables on BLS12-381 and with checks on ed25519's image, whose a is not 0.
 */
export const dot4Refusal = (
  { coordinates, field, a }: Pick<CurveContext, 'coordinates' | 'field' | 'a'>,
  software: boolean,
  checks: boolean,
): string | null => {
  const isTried = coordinates.degree === 1 && field.bits <= 256 && !(checks && !coordinates.isZero(a));
  return !software || isTried
    ? null
    : "tuning.fieldProduct: 'dot4' is for GPUs here. Compilers of software adapters may end the process where p has more than 256 bits, in G2, and in instrumented walks where a is not 0; leave it out, or take 'signed' or 'unsigned'";
};

/** SwiftShader, whose compiler does a shift of a vector lane by lane; only signed products do without (docs/performance.md). */
const SLOW_SHIFTS = /swiftshader/i;

/**
 * How a chip multiplies best, by the table of docs/chips.md; or what plays one.
 *
 * @param hasDot4 whether shaders may say dot4U8Packed
 */
export const productFor = (
  { vendor, architecture, description }: Pick<AdapterDescription, 'vendor' | 'architecture' | 'description'>,
  hasDot4: boolean,
): FieldProduct => {
  if (SLOW_SHIFTS.test(`${architecture} ${description}`)) return 'signed';
  return hasDot4 && DOT4_CHIPS.test(`${vendor} ${architecture}`) ? 'dot4' : 'unsigned';
};
