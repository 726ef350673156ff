/**
 * Counts the field products of loading a point, from the steps of its programs. They are the same
 * on every device.
 */
import { openCurve } from '../../src/curves/open-curve.js';
import type { RootSign } from '../../src/curves/point-source.js';
import { decompression, edwardsImage, membershipTest } from '../../src/msm/stages/point-programs.js';
import { Kind, type Program } from '../../src/msm/stages/program.js';
import { tableLines } from '../bench/format.js';
import type { CurveGroup } from '../oracle/curves.js';

/**
 * Products of the import: x and y to Montgomery form, x², x·(x² + a), y² (wgsl/msm/import.wgsl).
 */
const IMPORT = 5;

const productsOf = ({ steps }: Program): number =>
  steps.reduce((sum, step) => {
    const kind = step & 15;
    const squares = kind === Kind.PRODUCT || kind === Kind.SQUARES ? step >>> 22 : 0;
    return sum + squares + Number(kind === Kind.PRODUCT);
  }, 0);

/** Products of one point, in the field of its coordinates. */
export interface LoadProducts {
  /** Products of every point, including the image of an Edwards point. */
  readonly import: number;
  /**
   * Products of the root of a compressed point, by the sign that selects it; null without
   * compressed encodings.
   */
  readonly decompress: Readonly<Record<RootSign, number>> | null;
  /** Products of `checkSubgroup`; null if all points of the curve are in the group. */
  readonly subgroup: number | null;
}

export const loadProducts = async (of: CurveGroup): Promise<LoadProducts> => {
  const curve = await openCurve(of.curve, of.group);
  const isEdwards = curve.edwards !== undefined;
  return {
    import: IMPORT + (isEdwards ? productsOf(edwardsImage(curve, 1n)) : 0),
    decompress: isEdwards
      ? null
      : {
          larger: productsOf(decompression(curve, 'larger')),
          odd: productsOf(decompression(curve, 'odd')),
        },
    subgroup: curve.negatesScalars ? null : productsOf(membershipTest(curve)),
  };
};

export const loadTable = async (where: CurveGroup): Promise<string> => {
  const { import: every, decompress, subgroup } = await loadProducts(where);
  const number = (value: number): string => value.toLocaleString('en');
  return tableLines([
    ['loading a point', where.group === 'g1' ? 'products' : 'products of pairs'],
    ['import', number(every)],
    ...(decompress === null
      ? []
      : [
          ['y, selected as the larger root', number(decompress.larger)],
          ['y, selected as the odd root', number(decompress.odd)],
        ]),
    ['checkSubgroup', subgroup === null ? 'none: all points are in the group' : number(subgroup)],
  ]).join('\n');
};
