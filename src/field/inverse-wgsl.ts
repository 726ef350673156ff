import type { TemplateView } from '../shaders/template.js';
import { carriesThroughFloats, carryWgsl, floorWgsl } from './carry.js';
import {
  applyBatch,
  BATCH,
  type BatchPart,
  divstepConstants,
  finish,
  fromWide,
  modulusLimbs,
  toShort,
  toShortFromWords,
  wordsFromWide,
} from './divsteps.js';
import type { Modulus } from './modulus.js';
import { body, floatLiteral, inUnits, list, literals, statements } from './statements.js';
import { range } from './straight-line.js';
import type { Word } from './word-line.js';

/**
 * Iterations of the loop in a batch, with BATCH / STEP_GROUPS unrolled divsteps each. 5 × 3 was
 * fastest on SwiftShader (docs/reference/performance.md).
 */
const STEP_GROUPS = 5;

const resultOf = (words: readonly Word[]): ReturnType<typeof body> => ({
  statements: [],
  result: words.map(({ wgsl }) => wgsl).join(', '),
});

/** Returns the view of wgsl/field/inverse.wgsl. */
export const inverseView = (m: Modulus): TemplateView => {
  const k = divstepConstants(m);
  const inLimbs = m.product === 'signed';
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
    // the dividend is a multiple of 2^16, so both kinds of carry are exact
    rowCarry: (carriesThroughFloats(m) ? carryWgsl : floorWgsl)('row - left', 16),
    wideLimbs: range(k.limbs).map((i) => ({ i })),
    shortLimbs: range(k.shortLimbs).map((i) => ({ i })),
    shortModulus: literals(modulusLimbs(m)),
    wideStart: literals(k.start),
    wideZero: list(k.limbs, () => '0u'),
    applyShort: applied('short'),
    applyWide: applied('wide'),
    toShort: inLimbs ? body(toShort(m)) : resultOf(toShortFromWords(m)),
    finish: body(finish(m)),
    fromWide: inLimbs ? body(fromWide(m)) : resultOf(wordsFromWide(m)),
    nearest: inLimbs ? '0.5' : '-0.5',
    wideTop: range(k.limbs - below)
      .map((i) => `f32(bitcast<i32>(d.l${below + i}))${i === 0 ? '' : ` * ${2 ** (BATCH * i)}.0`}`)
      .join(' + '),
    perWideModulus: floatLiteral(1 / inUnits(m, below * BATCH)),
  };
};
