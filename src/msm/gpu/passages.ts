/** Programs that points go through when they are loaded: for those who load compressed points, or want them checked. */
import type { CurveContext } from '../../curves/curve.js';
import { isInfinity, multiply } from '../../curves/jacobian.js';
import { type PointSource, readerOf } from '../../curves/point-source.js';
import { badArgument } from '../../errors.js';
import type { Upload } from '../../gpu/submission.js';
import type { DeviceView } from '../../session/operation.js';
import type { Command, Slice } from '../../shaders/commands.js';
import type { Kernel } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { additionsPerSubmitOf } from '../plan/device-defaults.js';
import { decompression } from '../programs/decompress.js';
import { edwardsImage } from '../programs/edwards.js';
import { membershipTest } from '../programs/subgroup.js';
import { PROGRAM_THREADS, type Program, ProgramConfig, programKernel } from '../stages/program.js';
import { limitsOf, type MsmSetup } from './setup.js';

/** A program that points go through where they are. */
export interface Passage {
  readonly scratch: Readonly<Record<string, number>>;
  readonly uploads: readonly Upload[];
  /** Additions of the walk that take as long, for each point. */
  readonly additions: number;
  /** @param rejects the account of what it refuses */
  commands(count: number, first: number, points: Slice, rejects: number): Command[];
}

/** Made once for an engine. */
interface Made {
  readonly kernel: Kernel;
  readonly programs: Map<string, Program>;
}
const madeFor = new WeakMap<CurveContext, Made>();

/** Steps of a program that take as long as an addition of the walk. */
const STEPS_PER_ADDITION = 8;

/** Points of a dispatch at least, however long the program: fewer leave most of a GPU idle. */
const LEAST_POINTS = 4096;

const passage = (
  device: DeviceView<MsmSetup>,
  phase: string,
  name: string,
  make: () => Program,
  writes: boolean,
): Passage => {
  const { curve, tuning } = device.setup;
  const made = madeFor.get(curve) ?? { kernel: programKernel(curve), programs: new Map<string, Program>() };
  madeFor.set(curve, made);
  const { steps, constants } = made.programs.get(name) ?? make();
  made.programs.set(name, { steps, constants });
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
    commands: (count, first, points, refused) =>
      Array.from({ length: Math.ceil(count / most) }, (_, i): Command[] => {
        const [begin, end] = [i * most, Math.min(count, (i + 1) * most)];
        return [
          ...(i === 0 ? [] : [{ kind: 'submit' } as const]),
          {
            kind: 'dispatch',
            phase,
            kernel: made.kernel,
            config: ProgramConfig.pack({ begin, end, first, steps: steps.length, writes: Number(writes), refused }),
            bindings: { program, constants: values, points },
            groups: groupsFor(end - begin, PROGRAM_THREADS),
          },
        ];
      }).flat(),
  };
};

/** What points go through before they are imported; null: nothing. */
export const preparation = (device: DeviceView<MsmSetup>, { sign, edwards }: PointSource): Passage | null => {
  const { curve } = device.setup;
  if (sign !== undefined) return passage(device, 'decompress', sign, () => decompression(curve, sign), true);
  if (edwards === undefined) return null;
  return passage(device, 'image', `image ${edwards.scale}`, () => edwardsImage(curve, edwards.scale), true);
};

/** Whether 2^(n − 1) is 1 modulo an odd n: composite numbers that nobody chose for it fail (Fermat). */
const mayBePrime = (n: bigint): boolean => {
  let power = 1n;
  for (const bit of (n - 1n).toString(2)) power = (power * power * (bit === '1' ? 2n : 1n)) % n;
  return n === 2n || power === 1n;
};

/**
 * What tells points of the group from others of the curve; null: there are no others.
 *
 * @throws MsmError `bad-argument` where the test would not hold
 */
export const membership = (device: DeviceView<MsmSetup>): Passage | null => {
  const { curve } = device.setup;
  if (curve.negatesScalars) return null;
  if (curve.membership === undefined && !mayBePrime(curve.order)) {
    throw badArgument(`options.checkSubgroup: the order of ${curve.name} must be prime`);
  }
  return passage(device, 'subgroup', 'membership', () => membershipTest(curve), false);
};

/** Whether the first point is in the group, by the CPU. */
export const isInGroup = (curve: CurveContext, source: PointSource): boolean =>
  isInfinity(curve, multiply(curve, curve.order, readerOf(curve, source)(0)));
