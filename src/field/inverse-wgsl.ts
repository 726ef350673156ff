import type { TemplateView } from '../shaders/template.js';
import { type CarryMode, carryWgsl } from './carry.js';
import { applyBatch, BATCH, divstepConstants, finish, fromWide, modulusLimbs, toShort } from './divsteps.js';
import type { Modulus } from './modulus.js';
import { body, floatLiteral, inUnits, list, literals, statements } from './statements.js';
import { range } from './straight-line.js';

/** A batch is a loop over groups of unrolled divsteps. 5 × 3 was fastest on SwiftShader, and no bigger to compile (docs/performance.md). */
const STEP_GROUPS = 5;

/** What wgsl/inverse.wgsl is rendered with. */
export const inverseView = (m: Modulus, mode: CarryMode): TemplateView => {
  const k = divstepConstants(m);
  const batch = applyBatch(m, mode);
  // the limb below the one with p's highest bit
  const below = Math.floor((m.bits - 1) / BATCH) - 1;
  return {
    batchBits: BATCH,
    batches: k.batches,
    stepGroups: STEP_GROUPS,
    steps: range(BATCH / STEP_GROUPS).map((i) => ({ i })),
    rowCarry: carryWgsl(mode, 'row - left', 16),
    wideLimbs: range(k.limbs).map((i) => ({ i })),
    shortLimbs: range(k.shortLimbs).map((i) => ({ i })),
    shortModulus: literals(modulusLimbs(m, mode)),
    wideStart: literals(k.start),
    wideZero: list(k.limbs, () => '0u'),
    applyBatch: statements(batch.program, mode),
    ...Object.fromEntries((['f', 'g', 'd', 'e'] as const).map((x) => [`${x}Limbs`, batch[x].join(', ')])),
    toShort: body(toShort(m, mode), mode),
    finish: body(finish(m, mode), mode),
    fromWide: body(fromWide(m, mode), mode),
    wideTop: range(k.limbs - below)
      .map((i) => `f32(bitcast<i32>(d.l${below + i}))${i === 0 ? '' : ` * ${2 ** (BATCH * i)}.0`}`)
      .join(' + '),
    perWideModulus: floatLiteral(1 / inUnits(m, below * BATCH)),
  };
};
