/** Programs that run on points while they are loaded: decompression, mapping, subgroup checks. */
import type { CurveContext } from '../../curves/curve.js';
import { isInfinity, multiply } from '../../curves/jacobian.js';
import { type PointSource, readerOf } from '../../curves/point-source.js';
import type { Upload } from '../../gpu/submission.js';
import type { DeviceView } from '../../session/operation.js';
import type { Command, Slice } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import { additionsPerSubmitOf } from '../plan/tuning.js';
import { decompression } from '../programs/decompress.js';
import { edwardsImage } from '../programs/edwards.js';
import { membershipTest } from '../programs/subgroup.js';
import { PROGRAM_THREADS, type Program, ProgramConfig } from '../stages/program.js';
import { limitsOf, type MsmSetup } from './setup.js';

/** A program that changes or checks points in place. */
export interface PointProgram {
  readonly scratch: Readonly<Record<string, number>>;
  readonly uploads: readonly Upload[];
  /** Cost for each point, in additions of the walk. */
  readonly additions: number;
  /** @param rejects account of the rejected points */
  commands(count: number, first: number, points: Slice, rejects: number): Command[];
}

/** Programs of a curve by name; each is made once. */
const madeFor = new WeakMap<CurveContext, Map<string, Program>>();

/** Number of program steps that take as long as an addition of the walk. */
const STEPS_PER_ADDITION = 8;

/** Least points of a dispatch, however long the program: fewer leave most of a GPU idle. */
const LEAST_POINTS = 4096;

/** @param writes true if the program changes the points, false if it only checks them */
const pointProgram = (
  device: DeviceView<MsmSetup>,
  phase: string,
  name: string,
  make: () => Program,
  writes: boolean,
): PointProgram => {
  const { curve, kernels, tuning } = device.setup;
  const programs = madeFor.get(curve) ?? new Map<string, Program>();
  madeFor.set(curve, programs);
  const { steps, constants } = programs.get(name) ?? make();
  programs.set(name, { steps, constants });
  const [program, values] = [{ buffer: `${phase}-program` }, { buffer: `${phase}-constants` }];
  const bound = additionsPerSubmitOf(limitsOf(device), tuning) * STEPS_PER_ADDITION;
  const most = Math.max(LEAST_POINTS, Math.floor(bound / steps.length));
  return {
    scratch: { [program.buffer]: steps.byteLength, [values.buffer]: constants.byteLength },
    uploads: [
      { to: program, data: steps },
      { to: values, data: constants },
    ],
    additions: steps.length / STEPS_PER_ADDITION,
    commands: (count, first, points, rejects) =>
      Array.from({ length: Math.ceil(count / most) }, (_, i): Command[] => {
        const [begin, end] = [i * most, Math.min(count, (i + 1) * most)];
        return [
          ...(i === 0 ? [] : [{ kind: 'submit' } as const]),
          {
            kind: 'dispatch',
            phase,
            kernel: kernels.program(),
            config: ProgramConfig.pack({
              begin,
              end,
              first,
              steps: steps.length,
              writes: Number(writes),
              refused: rejects,
            }),
            bindings: { program, constants: values, points },
            groups: groupsFor(end - begin, PROGRAM_THREADS),
          },
        ];
      }).flat(),
  };
};

/** Returns the program that runs on points before their import; null: none. */
export const preparation = (device: DeviceView<MsmSetup>, { sign, edwards }: PointSource): PointProgram | null => {
  const { curve } = device.setup;
  if (sign !== undefined) return pointProgram(device, 'decompress', sign, () => decompression(curve, sign), true);
  if (edwards === undefined) return null;
  return pointProgram(device, 'image', `image ${edwards.scale}`, () => edwardsImage(curve, edwards.scale), true);
};

/**
 * Returns the program that rejects points outside the group of order r. Returns null where every
 * point of the curve is in the group. The order must be prime, else the test proves nothing.
 */
export const membership = (device: DeviceView<MsmSetup>): PointProgram | null => {
  const { curve } = device.setup;
  if (curve.negatesScalars) return null;
  return pointProgram(device, 'subgroup', 'membership', () => membershipTest(curve), false);
};

/** Returns whether the first point is in the group of order r, computed on the CPU. */
export const isInGroup = (curve: CurveContext, source: PointSource): boolean =>
  isInfinity(curve, multiply(curve, curve.order, readerOf(curve, source)(0)));
