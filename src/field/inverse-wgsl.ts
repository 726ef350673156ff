import type { TemplateView } from '../shaders/template.js';
import {
  applyBatch,
  BATCH,
  type BatchPart,
  divstepConstants,
  finish,
  modulusLimbs,
  toShort,
  wordsFromWide,
} from './divsteps.js';
import type { Modulus } from './modulus.js';
import { floatLiteral, floorWgsl, list, literals, statements } from './statements.js';
import { range } from './straight-line.js';
import type { Word } from './word-line.js';

/**
 * Iterations of the loop in a batch, with BATCH / STEP_GROUPS unrolled divsteps each. 5 × 3 was
 * fastest on SwiftShader (docs/reference/performance.md).
 */
const STEP_GROUPS = 5;

/** Returns the expressions of words, separated by commas. */
const listed = (words: readonly Word[]): string => words.map(({ wgsl }) => wgsl).join(', ');

/** Returns p / 2^bits, to the precision of a double. */
const inUnits = ({ p }: Modulus, bits: number): number =>
  Number(p >> BigInt(Math.max(0, bits - 64))) / 2 ** Math.min(bits, 64);

/** Returns the view of wgsl/field/inverse.wgsl. */
export const inverseView = (m: Modulus): TemplateView => {
  const k = divstepConstants(m);
  const applied = (part: BatchPart): TemplateView => {
    const { program, result } = applyBatch(m, part);
    const [first, second] = result.map((limbs) => limbs.join(', ')) as [string, string];
    return { statements: statements(program), first, second };
  };
  // the limb below the limb with the highest bit of p
  const below = Math.floor((m.bits - 1) / BATCH) - 1;
  return {
    batchBits: BATCH,
    batches: k.batches,
    stepGroups: STEP_GROUPS,
    steps: range(BATCH / STEP_GROUPS).map((i) => ({ i })),
    rowCarry: floorWgsl('row - left', 16),
    wideLimbs: range(k.limbs).map((i) => ({ i })),
    shortLimbs: range(k.shortLimbs).map((i) => ({ i })),
    shortModulus: literals(modulusLimbs(m)),
    wideStart: literals(k.start),
    wideZero: list(k.limbs, () => '0u'),
    applyShort: applied('short'),
    applyWide: applied('wide'),
    toShort: listed(toShort(m)),
    finish: statements(finish(m).program),
    fromWide: listed(wordsFromWide(m)),
    wideTop: range(k.limbs - below)
      .map((i) => `f32(bitcast<i32>(d.l${below + i}))${i === 0 ? '' : ` * ${2 ** (BATCH * i)}.0`}`)
      .join(' + '),
    perWideModulus: floatLiteral(1 / inUnits(m, below * BATCH)),
  };
};
