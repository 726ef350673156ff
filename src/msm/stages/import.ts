import template from '../../../wgsl/msm/import.wgsl?template';
import type { CurveContext } from '../../curves/curve.js';
import { invert, mod, writeWords } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { type Struct, struct } from '../../shaders/struct.js';

/** Words of the field element in a config. */
const entryWords = ({ coordinates }: CurveContext): string[] =>
  Array.from({ length: coordinates.words }, (_, i) => `entry${i}`);

export const importConfig = (curve: CurveContext): Struct<string> =>
  struct('ImportConfig', {
    points: 'points in this slice',
    first: 'index of the first of them among all bases',
    rejects: 'the two accounts of what is refused',
    ...Object.fromEntries(
      entryWords(curve).map((name) => [name, 'of what a product brings into Montgomery form with']),
    ),
  });

/**
 * What the products that bring coordinates into Montgomery form take: R², or for coordinates that stand there `scale` times as large, R² / scale.
 * It is a number, whatever coordinates are.
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
/** Where nothing is refused. */
export const NONE_REJECTED = 0xffffffff;
/** The index in an account of what is refused. */
export const rejectedIn = (account: number): number => ~account >>> 0;

/** Four by four. */
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
