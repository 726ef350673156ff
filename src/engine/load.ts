import type { Progress, Tuning } from '../api.js';
import type { CurveContext } from '../curves/curve.js';
import { formatOf } from '../curves/misread.js';
import { badArgument, MsmError } from '../errors.js';
import type { Command, Slice } from '../gpu/commands.js';
import type { Runner } from '../gpu/runner.js';
import { additionsPerSubmitOf, type DeviceProfile, fieldCarryOf } from '../plan/device-defaults.js';
import type { TableShape } from '../plan/workload.js';
import { groupsFor, itemsPerBindingStep } from '../shaders/limits.js';
import { IMPORT_THREADS, ImportConfig, importStart, NONE_REJECTED } from '../stages/import.js';
import type { Kernels } from '../stages/kernels.js';
import { DoubleConfig, SpreadConfig, TABLES_THREADS } from '../stages/tables.js';

/** What loading has to know. */
export interface LoadContext {
  readonly curve: CurveContext;
  readonly kernels: Kernels;
  readonly limits: DeviceProfile;
  readonly tuning: Partial<Tuning>;
}

export interface LoadRequest {
  /** In the public format. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tables: TableShape;
  readonly label: string;
  /** The most bytes of scratch. */
  readonly budget: number;
  /** Throws if there is no point in going on. */
  goOn(): void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Points whose tables are made at a time, at most: enough for every device, and the points themselves wait in little memory. */
const TABLE_SLICE = 2 ** 16;

/** Doublings of a point that one dispatch should do at least: it ends with an inversion, of some four doublings' time. */
const LEAST_DOUBLINGS = 16;

/** Points [first, first + count), of all. */
interface Range {
  readonly first: number;
  readonly count: number;
}

const rangesOf = (length: number, size: number): Range[] =>
  Array.from({ length: Math.ceil(length / size) }, (_, i) => ({
    first: i * size,
    count: Math.min(size, length - i * size),
  }));

/**
 * Brings points to a device, has them converted and checked there, and makes the tables that were asked for.
 *
 * @returns the resident buffer
 * @throws MsmError `bad-argument` or `not-on-curve` naming the first point that is wrong, and what runners throw
 */
export const loadPoints = async (
  runner: Runner,
  context: LoadContext,
  { bytes, tables, label, budget, goOn, onProgress }: LoadRequest,
): Promise<GPUBuffer> => {
  const { pointBytes } = context.curve;
  const length = bytes.length / pointBytes;
  const baseBytes = tables.count * pointBytes;
  const buffer = await runner.createResident(label, length * baseBytes);
  try {
    const step = itemsPerBindingStep(baseBytes);
    const bindable = Math.floor(runner.device.limits.maxStorageBufferBindingSize / (step * baseBytes)) * step;
    const bound = Math.floor(additionsPerSubmitOf(context.limits, context.tuning) / LEAST_DOUBLINGS);
    const roomy = Math.floor(budget / 2 / pointBytes);
    const few = Math.max(step, Math.floor(Math.min(TABLE_SLICE, bound, roomy) / step) * step);
    const ranges = rangesOf(length, tables.count === 1 ? bindable : Math.min(bindable, few));
    for (const [i, range] of ranges.entries()) {
      goOn();
      onProgress?.({ phase: 'load', done: i, total: ranges.length });
      const points = bytes.subarray(range.first * pointBytes, (range.first + range.count) * pointBytes);
      const target = { buffer: 'bases', offset: range.first * baseBytes, size: range.count * baseBytes };
      const aside = { buffer: 'points', offset: 0, size: points.length };
      const plan =
        tables.count === 1
          ? { to: target, scratch: {}, commands: [], goOn }
          : {
              to: aside,
              scratch: { points: points.length },
              commands: tableCommands(context, tables, range, aside, target),
              goOn,
            };
      await runImport(runner, context, buffer, points, range, plan);
    }
    goOn();
    onProgress?.({ phase: 'load', done: ranges.length, total: ranges.length });
    goOn();
    return buffer;
  } catch (error) {
    runner.ledger.destroy(buffer);
    throw error;
  }
};

/** The command of the import; what became of the points is in the buffer `outcome`. */
const importCommand = ({ kernels, limits, tuning }: LoadContext, { first, count }: Range, points: Slice): Command => ({
  kind: 'dispatch',
  phase: 'import',
  kernel: kernels.importPoints(fieldCarryOf(limits, tuning)),
  config: ImportConfig.pack({ points: count, first }),
  bindings: { points, outcome: { buffer: 'outcome' } },
  groups: groupsFor(count, IMPORT_THREADS),
});

const OUTCOME_BYTES = importStart().byteLength;

/**
 * @param points the bytes of the range
 * @throws MsmError as the import says
 */
const assertImported = (
  curve: CurveContext,
  points: Uint8Array,
  { first, count }: Range,
  outcome: Uint32Array,
): void => {
  const [notCanonical, offCurve, done] = outcome as unknown as readonly [number, number, number];
  if (done !== count) {
    throw new MsmError('internal', `the GPU looked at ${done} of ${count} points; it does not do what it is told`);
  }
  const rejected = Math.min(notCanonical, offCurve);
  if (rejected === NONE_REJECTED) return;
  const at = (rejected - first) * curve.pointBytes;
  const format = formatOf(curve, points.subarray(at, at + curve.pointBytes));
  const meant = format === null ? '' : `, but read as ${format} it is on the curve; convert before you load`;
  if (notCanonical < offCurve) {
    throw badArgument(`points[${rejected}]: a coordinate is not below the prime of ${curve.name}${meant}`);
  }
  throw new MsmError('not-on-curve', `points[${rejected}] is not on ${curve.name}${meant}`);
};

/** Uploads points, imports them where they are then, and carries out what comes behind it. */
const runImport = async (
  runner: Runner,
  context: LoadContext,
  buffer: GPUBuffer,
  points: Uint8Array<ArrayBuffer>,
  range: Range,
  { to, scratch, commands, goOn }: ImportPlan,
): Promise<void> => {
  const { data } = await runner.run({
    scratch: { outcome: OUTCOME_BYTES, ...scratch },
    external: { bases: buffer },
    uploads: [
      { to, data: points },
      { to: { buffer: 'outcome' }, data: importStart() },
    ],
    commands: [importCommand(context, range, to), ...commands],
    read: [{ buffer: 'outcome', size: OUTCOME_BYTES }],
    onSubmitted: goOn,
  });
  assertImported(context.curve, points, range, data[0] as Uint32Array);
};

interface ImportPlan {
  /** Where the points are uploaded to. */
  readonly to: Slice;
  readonly scratch: Readonly<Record<string, number>>;
  /** What is done with them once they are imported. */
  readonly commands: readonly Command[];
  goOn(): void;
}

/** The points become table 0 of `target`, and each table the next: in dispatches that are no longer than those of an MSM. */
const tableCommands = (
  { kernels, limits, tuning }: LoadContext,
  tables: TableShape,
  { count }: Range,
  points: Slice,
  target: Slice,
): Command[] => {
  const { spread, double } = kernels.tables(fieldCarryOf(limits, tuning));
  const most = Math.max(1, Math.floor(additionsPerSubmitOf(limits, tuning) / count));
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
