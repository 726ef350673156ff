/** The field products that loading a point takes, by the steps of the programs that it goes through: the same on every device. */
import type { RootSign } from '../../src/curves/point-source.js';
import { decompression } from '../../src/msm/programs/decompress.js';
import { edwardsImage } from '../../src/msm/programs/edwards.js';
import { membershipTest } from '../../src/msm/programs/subgroup.js';
import { Kind, type Program } from '../../src/msm/stages/program.js';
import { tableLines } from '../bench/table.js';
import { libraryCurve } from '../cases/library-curve.js';
import type { CurveGroup } from '../oracle/curves.js';

/** x and y into Montgomery form, x², x·(x² + a), y² (wgsl/msm/import.wgsl). */
const IMPORT = 5;

const productsOf = ({ steps }: Program): number =>
  steps.reduce((sum, step) => {
    const kind = step & 15;
    const squares = kind === Kind.PRODUCT || kind === Kind.SQUARES ? step >>> 22 : 0;
    return sum + squares + Number(kind === Kind.PRODUCT);
  }, 0);

/** Of one point, in the field of its coordinates. */
export interface LoadProducts {
  /** What every point takes; of Edwards form its image, too. */
  readonly import: number;
  /** The y of a compressed one, by what it is told from −y; null where no encoding is compressed. */
  readonly decompress: Readonly<Record<RootSign, number>> | null;
  /** With `checkSubgroup`; null where there are no other points. */
  readonly subgroup: number | null;
}

export const loadProducts = async (of: CurveGroup): Promise<LoadProducts> => {
  const curve = await libraryCurve(of);
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

/** As text, a line for each. */
export const loadTable = async (where: CurveGroup): Promise<string> => {
  const { import: every, decompress, subgroup } = await loadProducts(where);
  const number = (value: number): string => value.toLocaleString('en');
  return tableLines([
    ['loading a point', where.group === 'g1' ? 'products' : 'products of pairs'],
    ['import', number(every)],
    ...(decompress === null
      ? []
      : [
          ['y, by which is larger', number(decompress.larger)],
          ['y, by which is odd', number(decompress.odd)],
        ]),
    ['checkSubgroup', subgroup === null ? 'nothing: all are in the group' : number(subgroup)],
  ]).join('\n');
};
