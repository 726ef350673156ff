import template from '../../../wgsl/msm/import.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { invert, mod, writeWords } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, type Struct, struct } from '../../shaders/kernel.js';

/** Returns the names of the config's words that hold a field element. */
const entryWords = ({ coordinates }: CurveContext): string[] =>
  Array.from({ length: coordinates.words }, (_, i) => `entry${i}`);

/** Returns the config of the import, which converts points to Montgomery form and checks them. */
export const importConfig = (curve: CurveContext): Struct<string> =>
  struct('ImportConfig', {
    points: 'points in this slice',
    first: 'index of the first point among all bases',
    rejects: 'the two accounts of rejected points',
    ...Object.fromEntries(
      entryWords(curve).map((name) => [name, 'word of the factor that brings a coordinate into Montgomery form']),
    ),
  });

/**
 * Packs the config with the factor that brings coordinates into Montgomery form: R², or R² / scale
 * for coordinates that are stored `scale` times as large. The factor is a number of the prime
 * field, also where coordinates are pairs.
 */
export const packImportConfig = (
  curve: CurveContext,
  values: { readonly points: number; readonly first: number; readonly rejects: number },
  scale: bigint,
): Uint32Array<ArrayBuffer> => {
  const { p, r2, words } = curve.field;
  const entry = new Uint32Array(curve.coordinates.words);
  writeWords(entry, 0, words, scale === 1n ? r2 : mod(r2 * invert(scale, p), p));
  const named = Object.fromEntries(entryWords(curve).map((name, i) => [name, entry[i] as number]));
  return importConfig(curve).pack({ ...values, ...named });
};

export const IMPORT_THREADS = 64;
/** Value of `rejectedIn` for an account without a rejected point. */
export const NONE_REJECTED = 0xffffffff;
/** Returns the index of the rejected point in an account. */
export const rejectedIn = (account: number): number => ~account >>> 0;

/** Groups words into vectors of four. */
const vectorsOf = (words: readonly string[]): { readonly vector: string }[] =>
  Array.from({ length: words.length / 4 }, (_, i) => ({ vector: words.slice(4 * i, 4 * i + 4).join(', ') }));

export const importKernel = (curve: CurveContext): Kernel =>
  stageKernel(
    'import_points',
    template,
    importConfig(curve),
    [{ name: 'points', access: 'write', type: 'array<Point>' }],
    {
      ...curve.coordinates.view(),
      threads: IMPORT_THREADS,
      entry: vectorsOf(entryWords(curve).map((name) => `config.${name}`)),
      aLimbs: curve.coordinates.literal(curve.a),
      bLimbs: curve.coordinates.literal(curve.b),
    },
    curve.coordinates.partials,
  );
