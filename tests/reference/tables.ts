import type { CurveContext } from '../../src/curves/curve.js';
import { double, infinityOf, type Jacobian, toAffine } from '../../src/curves/jacobian.js';
import type { DoubleConfig, SpreadConfig } from '../../src/msm/stages/tables.js';
import { readPoint, writePoint } from './points.js';

/** CPU reference of `tables_spread`: moves points to their places as table 0. */
export const spreadPoints = (
  { pointWords }: CurveContext,
  { points: count, tables: each }: ReturnType<typeof SpreadConfig.unpack>,
  points: Uint32Array,
  tables: Uint32Array,
): void => {
  for (let i = 0; i < count; i++) {
    tables.set(points.subarray(i * pointWords, (i + 1) * pointWords), i * each * pointWords);
  }
};

/** CPU reference of `tables_double`: doubles one table into another, in textbook formulas. */
export const doubleTable = (
  curve: CurveContext,
  config: ReturnType<typeof DoubleConfig.unpack>,
  tables: Uint32Array,
): void => {
  for (let i = 0; i < config.points; i++) {
    const first = i * config.tables;
    const point = readPoint(curve, tables, first + config.from_table);
    let multiple: Jacobian = point === null ? infinityOf(curve) : { ...point, z: curve.coordinates.one };
    for (let step = 0; step < config.doublings; step++) multiple = double(curve, multiple);
    writePoint(curve, tables, first + config.to_table, toAffine(curve, multiple));
  }
};
