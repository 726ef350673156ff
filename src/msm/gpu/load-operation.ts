/** Loads bases to a device: uploads, checks, decodes, doubles them into tables, and digests what it holds. */

import type { CurveContext } from '../../curves/curve.js';
import { isInfinity, multiply } from '../../curves/jacobian.js';
import { formatOf, type PointFormat, type PointSource, readerOf } from '../../curves/point-source.js';
import { GpuFault } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import type { Submission, Upload } from '../../gpu/submission.js';
import type { Call } from '../../scheduling/call.js';
import { sumInSlices } from '../../scheduling/time-slice.js';
import type { DeviceView, Operation, Output, Step } from '../../session/operation.js';
import { runInside } from '../../session/run-steps.js';
import { LANES, sumOfLanes } from '../../shaders/hash-chain.js';
import type { Command, Slice } from '../../shaders/kernel.js';
import { groupsFor, itemsPerBindingStep } from '../../shaders/limits.js';
import type { LoadRequest } from '../backend.js';
import {
  type BasesLoader,
  type BasesOnDevice,
  type LoadedBases,
  type RangeDigest,
  refusal,
} from '../inputs/loaded-bases.js';
import { additionsPerSubmitOf } from '../plan/tuning.js';
import type { TableShape } from '../plan/workload.js';
import { DIGEST_THREADS, DigestConfig, digestOfItems } from '../stages/entry.js';
import { IMPORT_THREADS, NONE_REJECTED, packImportConfig, rejectedIn } from '../stages/import.js';
import { decompression, edwardsImage, membershipTest } from '../stages/point-programs.js';
import { PROGRAM_THREADS, type Program, ProgramConfig } from '../stages/program.js';
import { DoubleConfig, SpreadConfig, TABLES_THREADS } from '../stages/tables.js';
import { ADDITIONS, limitsOf, type MsmSetup, rateOf } from './gpu-setup.js';
import { type PointRange, pageLength, rangesOf } from './pages.js';

/* Loads bases, as an operation of a session: upload, import, checks, tables. */

/** Points to load. */
interface LoadInput extends Omit<LoadRequest, 'areChecked'> {
  /** Index of the first point among those of the caller, whom errors tell an index. */
  readonly firstPoint: number;
}

/** Result of a load: bases on the device, or points that the CPU checked instead. */
interface LoadResult {
  readonly onDevice: BasesOnDevice | null;
  readonly checked: PointSource | null;
}

type Bound = Slice & { readonly offset: number; readonly size: number };

/** Types of a load as an operation. */
interface LoadTypes {
  readonly input: LoadInput;
  readonly result: LoadResult;
  readonly step: LoadStep;
  /** Digest of the points as they are sent. */
  readonly expected: number;
  readonly part: RangeDigest;
}

/** A step that loads one range of the caller's points. */
interface LoadStep extends Step, PointRange {
  readonly source: PointSource;
  readonly commands: readonly Command[];
  readonly programs: readonly PointProgram[];
  /** Scratch for points whose tables are written to the resident buffer. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Slice that the points are uploaded to. */
  readonly to: Bound;
  /** Slice of the resident buffer that they end in. */
  readonly target: Bound;
  readonly additions: number;
}

/** Most points in a step that makes tables: enough work for every device, and little scratch. */
const TABLE_SLICE = 2 ** 16;

/**
 * Least doublings of a point in one dispatch. A dispatch ends with an inversion, which takes as
 * long as about four doublings.
 */
const LEAST_DOUBLINGS = 16;

/** Accounts of an import: rejected points, then digests of the points as uploaded and as kept. */
const REJECTS = 0;
const OUTSIDE = 2;
const ARRIVED = 3;
const RESIDENT = ARRIVED + LANES;
const ACCOUNTS_BYTES = 4 * (RESIDENT + LANES);

/** Returns the most points of a range. */
const rangeSize = (device: DeviceView<MsmSetup>, tables: TableShape): number => {
  const { curve, tuning } = device.setup;
  const { pointBytes } = curve;
  const baseBytes = tables.count * pointBytes;
  const step = itemsPerBindingStep(baseBytes);
  const bindable = pageLength(baseBytes, device.limits.maxStorageBufferBindingSize);
  if (tables.count === 1) return bindable;
  const bound = Math.floor(additionsPerSubmitOf(limitsOf(device), tuning) / LEAST_DOUBLINGS);
  const roomy = Math.floor(device.allowance.bytes / 2 / pointBytes);
  const few = Math.floor(Math.min(TABLE_SLICE, bound, roomy) / step) * step;
  return Math.min(bindable, Math.max(step, few));
};

/** Returns the command that adds the digest of a slice to an account. */
const digestCommand = ({ kernels, curve }: MsmSetup, slice: Bound, account: number): Command => {
  const items = slice.size / curve.pointBytes;
  return {
    kind: 'dispatch',
    phase: 'digest',
    kernel: kernels.digest(),
    config: DigestConfig.pack({ items, item_words: curve.pointWords, account }),
    bindings: { words: slice },
    groups: groupsFor(items, DIGEST_THREADS),
  };
};

/** Plans the load of one range. */
const stepOf = (
  { source, tables, checkSubgroup, firstPoint }: LoadInput,
  { first: at, count }: PointRange,
  device: DeviceView<MsmSetup>,
): LoadStep => {
  const first = firstPoint + at;
  const { setup } = device;
  const { curve, kernels } = setup;
  const { pointBytes } = curve;
  const points = source.bytes.subarray(at * pointBytes, (at + count) * pointBytes);
  const baseBytes = tables.count * pointBytes;
  const target = { buffer: 'bases', offset: at * baseBytes, size: count * baseBytes };
  const hasTables = tables.count > 1;
  const to = hasTables ? { buffer: 'points', offset: 0, size: points.length } : target;
  const before = preparation(device, source);
  const after = checkSubgroup ? membership(device) : null;
  const commands: readonly Command[] = [
    digestCommand(setup, to, ARRIVED),
    ...(before?.commands(count, first, to, REJECTS + 1) ?? []),
    {
      kind: 'dispatch',
      phase: 'import',
      kernel: kernels.importPoints(),
      config: packImportConfig(curve, { points: count, first, rejects: REJECTS }, source.scale),
      bindings: { points: to },
      groups: groupsFor(count, IMPORT_THREADS),
    },
    ...(after?.commands(count, first, to, OUTSIDE) ?? []),
    ...(hasTables ? tableCommands(device, tables, count, to, target) : []),
    digestCommand(setup, target, RESIDENT),
  ];
  const programs = [before, after].filter((each) => each !== null);
  const doublings = hasTables ? (tables.count - 1) * tables.bits : 0;
  const steps = programs.reduce((sum, { additions }) => sum + additions, 0);
  return {
    ...{ first, count, commands, programs, to, target },
    source: { ...source, bytes: points },
    scratch: hasTables ? { points: points.length } : {},
    submits: 1 + commands.filter(({ kind }) => kind === 'submit').length,
    additions: count * (1 + doublings + steps),
  };
};

/** The format that the import expects. */
const EXPECTED_FORMAT: PointFormat = 'little-endian bytes';

/**
 * Throws the error of the first point that the import rejected, if the CPU rejects it as well.
 *
 * @throws GpuFault where the CPU accepts the point
 */
const assertImported = (
  { curve }: MsmSetup,
  { source, first, count }: LoadStep,
  [notCanonical, offCurve, outside]: readonly [number, number, number],
): void => {
  const rejected = Math.min(notCanonical, offCurve, outside);
  if (rejected === NONE_REJECTED) return;
  const at = (rejected - first) * curve.pointBytes;
  const refused = { ...source, bytes: source.bytes.slice(at, at + curve.pointBytes) };
  const isInRange = rejected >= first && rejected < first + count;
  const format = isInRange ? formatOf(curve, refused) : EXPECTED_FORMAT;
  const isOutside = isInRange && rejected === outside && !isInGroup(curve, refused);
  if (format === EXPECTED_FORMAT && isOutside) throw refusal(curve, rejected, 'outside the group', null);
  if (format === EXPECTED_FORMAT) {
    throw new GpuFault('import', `points[${rejected}] was rejected, but the CPU finds it valid`);
  }
  throw refusal(curve, rejected, notCanonical < offCurve ? 'a coordinate' : 'off the curve', format);
};

/**
 * Uploads points to a device, converts them to Montgomery form, checks them and makes their tables.
 * Rejects with `bad-argument`, `not-on-curve` or `not-in-subgroup`, naming the first wrong point.
 */
export const loadOperation: Operation<LoadTypes, MsmSetup> = {
  name: 'load',
  unit: ADDITIONS,
  residents: () => [],
  output: ({ source, tables, label }, { setup }): Output => {
    const length = source.bytes.length / setup.curve.pointBytes;
    return { account: 'bases', label, bytes: length * tables.count * setup.curve.pointBytes };
  },
  plan(input, device) {
    const length = input.source.bytes.length / device.setup.curve.pointBytes;
    return rangesOf(length, rangeSize(device, input.tables)).map((range) => stepOf(input, range, device));
  },
  record(_, step, { setup }, call, output): Submission<number> {
    const { bytes } = step.source;
    return {
      scratch: Object.assign({}, step.scratch, ...step.programs.map(({ scratch }) => scratch)),
      external: { bases: output as GPUBuffer },
      uploads: [{ to: step.to, data: bytes }, ...step.programs.flatMap(({ uploads }) => uploads)],
      commands: step.commands,
      accounts: ACCOUNTS_BYTES,
      meanwhile: async () => {
        const { pointWords } = setup.curve;
        const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
        const slice = call.timeSlice();
        return sumInSlices(words.length / pointWords, slice, (begin, end) =>
          digestOfItems(words.subarray(begin * pointWords, end * pointWords), pointWords, begin),
        );
      },
    };
  },
  cost: (_, { additions }, device) => additions / rateOf(device),
  read(_, step, { accounts, expected }, { setup }): RangeDigest {
    if (sumOfLanes(accounts, ARRIVED) !== expected) {
      throw new GpuFault('import', 'other points arrived than those that were sent');
    }
    assertImported(setup, step, [
      rejectedIn(accounts[REJECTS] as number),
      rejectedIn(accounts[REJECTS + 1] as number),
      rejectedIn(accounts[OUTSIDE] as number),
    ]);
    return { ...step.target, digest: sumOfLanes(accounts, RESIDENT) };
  },
  finish: (_, done, __: Call, output) => ({
    onDevice: { buffer: output as GPUBuffer, digests: done.map(({ part }) => part) },
    checked: null,
  }),
  knownAnswer: () => null,
};

/** Loads bases to a session's device again, and compares their contents with what was loaded. */
export class SessionBasesLoader implements BasesLoader {
  readonly #view: () => DeviceView<MsmSetup>;

  /** @param view returns the session's current device */
  constructor(view: () => DeviceView<MsmSetup>) {
    this.#view = view;
  }

  async load(runner: Runner, source: PointSource, { tables, label }: LoadedBases, call: Call): Promise<BasesOnDevice> {
    const device = this.#view();
    const input = { source, tables, label, checkSubgroup: false, firstPoint: 0 };
    const { onDevice } = await runInside({ operation: loadOperation, input, runner, device, call });
    return onDevice as BasesOnDevice;
  }

  async isAsLoaded(runner: Runner, { buffer, digests }: BasesOnDevice, call: Call): Promise<boolean> {
    const { setup } = this.#view();
    for (const { digest, ...slice } of digests) {
      const { accounts } = await runner.run({
        scratch: {},
        external: { bases: buffer },
        uploads: [],
        commands: [digestCommand(setup, slice, 0)],
        accounts: 4 * LANES,
        ticket: call,
      });
      if (sumOfLanes(accounts, 0) !== digest) return false;
    }
    return true;
  }
}

/* Commands that make tables of bases, for loads with `precompute`. */

/**
 * Returns the commands that copy `count` points to table 0 of `target` and double each table to the
 * next. No dispatch takes longer than those of an MSM.
 */
const tableCommands = (
  device: DeviceView<MsmSetup>,
  tables: TableShape,
  count: number,
  points: Slice,
  target: Slice,
): Command[] => {
  const { kernels, tuning } = device.setup;
  const { spread, double } = kernels.tables();
  const most = Math.max(1, Math.floor(additionsPerSubmitOf(limitsOf(device), tuning) / count));
  const groups = groupsFor(count, TABLES_THREADS);
  const commands: Command[] = [
    {
      kind: 'dispatch',
      phase: 'tables',
      kernel: spread,
      config: SpreadConfig.pack({ points: count, tables: tables.count }),
      bindings: { points, tables: target },
      groups,
    },
  ];
  for (let table = 1; table < tables.count; table++) {
    for (let done = 0; done < tables.bits; done += most) {
      commands.push(
        { kind: 'submit' },
        {
          kind: 'dispatch',
          phase: 'tables',
          kernel: double,
          config: DoubleConfig.pack({
            points: count,
            tables: tables.count,
            from_table: done === 0 ? table - 1 : table,
            to_table: table,
            doublings: Math.min(most, tables.bits - done),
          }),
          bindings: { tables: target },
          groups,
        },
      );
    }
  }
  return commands;
};

/* Programs that run on points while they are loaded: decompression, mapping, subgroup checks. */

/** A program that changes or checks points in place. */
interface PointProgram {
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
      rangesOf(count, most).flatMap(({ first: begin, count: size }): Command[] => {
        return [
          ...(begin === 0 ? [] : [{ kind: 'submit' } as const]),
          {
            kind: 'dispatch',
            phase,
            kernel: kernels.program(),
            config: ProgramConfig.pack({
              begin,
              end: begin + size,
              first,
              steps: steps.length,
              writes: Number(writes),
              refused: rejects,
            }),
            bindings: { program, constants: values, points },
            groups: groupsFor(size, PROGRAM_THREADS),
          },
        ];
      }),
  };
};

/** Returns the program that runs on points before their import; null: none. */
const preparation = (device: DeviceView<MsmSetup>, { sign, edwards }: PointSource): PointProgram | null => {
  const { curve } = device.setup;
  if (sign !== undefined) return pointProgram(device, 'decompress', sign, () => decompression(curve, sign), true);
  if (edwards === undefined) return null;
  return pointProgram(device, 'image', `image ${edwards.scale}`, () => edwardsImage(curve, edwards.scale), true);
};

/**
 * Returns the program that rejects points outside the group of order r. Returns null where every
 * point of the curve is in the group. The order must be prime, else the test proves nothing.
 */
const membership = (device: DeviceView<MsmSetup>): PointProgram | null => {
  const { curve } = device.setup;
  if (curve.negatesScalars) return null;
  return pointProgram(device, 'subgroup', 'membership', () => membershipTest(curve), false);
};

/** Returns whether the first point is in the group of order r, computed on the CPU. */
const isInGroup = (curve: CurveContext, source: PointSource): boolean =>
  isInfinity(curve, multiply(curve, curve.order, readerOf(curve, source)(0)));
