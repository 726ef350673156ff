/** Loads bases, as an operation of a session: upload, import, checks, tables. */
import { formatOf, type PointFormat } from '../../curves/misread.js';
import type { PointSource } from '../../curves/point-source.js';
import { GpuFault } from '../../errors.js';
import type { Submission, SubmissionResult } from '../../gpu/submission.js';
import { sumInSlices, TimeSlice } from '../../scheduling/time-slice.js';
import type { CallContext } from '../../session/call-context.js';
import type { DeviceView, Operation, Output, Step } from '../../session/operation.js';
import type { Command, Slice } from '../../shaders/commands.js';
import { LANES, sumOfLanes } from '../../shaders/hash-chain.js';
import { groupsFor, itemsPerBindingStep } from '../../shaders/limits.js';
import type { BasesOnDevice, RangeDigest } from '../inputs/loaded-bases.js';
import { refusal } from '../inputs/refusal.js';
import { additionsPerSubmitOf } from '../plan/tuning.js';
import type { TableShape } from '../plan/workload.js';
import { DIGEST_THREADS, DigestConfig, digestOfItems } from '../stages/digest.js';
import { IMPORT_THREADS, NONE_REJECTED, packImportConfig, rejectedIn } from '../stages/import.js';
import { isInGroup, membership, type PointProgram, preparation } from './point-programs.js';
import { ADDITIONS, limitsOf, type MsmSetup, rateOf } from './setup.js';
import { tableCommands } from './table-commands.js';

/** Points to load. */
export interface LoadInput {
  readonly source: PointSource;
  readonly tables: TableShape;
  readonly label: string;
  /** True to refuse points outside the group of order r. */
  readonly checkSubgroup: boolean;
}

/** Result of a load: bases on the device, or points that the CPU checked instead. */
export interface LoadResult {
  readonly onDevice: BasesOnDevice | null;
  readonly checked: PointSource | null;
}

type Bound = Slice & { readonly offset: number; readonly size: number };

/** The points [first, first + count) of a load. */
interface PointRange {
  readonly first: number;
  readonly count: number;
}

/** A step that loads one range. */
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
  /** Digest of the points as they were sent, computed while the GPU has them. */
  sent: number;
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

const rangesOf = (length: number, size: number): PointRange[] =>
  Array.from({ length: Math.ceil(length / size) }, (_, i) => ({
    first: i * size,
    count: Math.min(size, length - i * size),
  }));

/** Returns the most points of a range. */
const rangeSize = (device: DeviceView<MsmSetup>, tables: TableShape): number => {
  const { curve, tuning } = device.setup;
  const { pointBytes } = curve;
  const baseBytes = tables.count * pointBytes;
  const step = itemsPerBindingStep(baseBytes);
  const bindable = Math.floor(device.limits.maxStorageBufferBindingSize / (step * baseBytes)) * step;
  if (tables.count === 1) return bindable;
  const bound = Math.floor(additionsPerSubmitOf(limitsOf(device), tuning) / LEAST_DOUBLINGS);
  const roomy = Math.floor(device.allowance.bytes / 2 / pointBytes);
  const few = Math.floor(Math.min(TABLE_SLICE, bound, roomy) / step) * step;
  return Math.min(bindable, Math.max(step, few));
};

/** Returns the command that adds the digest of a slice to an account. */
export const digestCommand = ({ kernels, curve }: MsmSetup, slice: Bound, account: number): Command => {
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
  { source, tables, checkSubgroup }: LoadInput,
  { first, count }: PointRange,
  device: DeviceView<MsmSetup>,
): LoadStep => {
  const { setup } = device;
  const { curve, kernels } = setup;
  const { pointBytes } = curve;
  const points = source.bytes.subarray(first * pointBytes, (first + count) * pointBytes);
  const baseBytes = tables.count * pointBytes;
  const target = { buffer: 'bases', offset: first * baseBytes, size: count * baseBytes };
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
    sent: 0,
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
export const loadOperation: Operation<LoadInput, LoadResult, MsmSetup, LoadStep, RangeDigest> = {
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
  record(_, step, { setup }, call, output): Submission {
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
        const slice = new TimeSlice(() => call.checkpoint());
        step.sent = await sumInSlices(words.length / pointWords, slice, (begin, end) =>
          digestOfItems(words.subarray(begin * pointWords, end * pointWords), pointWords, begin),
        );
      },
    };
  },
  cost: (_, { additions }, device) => additions / rateOf(device),
  read(_, step, { accounts }: SubmissionResult, { setup }): RangeDigest {
    if (sumOfLanes(accounts, ARRIVED) !== step.sent) {
      throw new GpuFault('import', 'other points arrived than those that were sent');
    }
    assertImported(setup, step, [
      rejectedIn(accounts[REJECTS] as number),
      rejectedIn(accounts[REJECTS + 1] as number),
      rejectedIn(accounts[OUTSIDE] as number),
    ]);
    return { ...step.target, digest: sumOfLanes(accounts, RESIDENT) };
  },
  finish: (_, done, __: CallContext, output) => ({
    onDevice: { buffer: output as GPUBuffer, digests: done.map(({ part }) => part) },
    checked: null,
  }),
  knownAnswer: () => null,
};
