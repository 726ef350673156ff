import type { Progress } from '../../api/calls.js';
import { formatOf, type PointFormat } from '../../curves/misread.js';
import type { PointSource } from '../../curves/point-source.js';
import { GpuFault } from '../../errors.js';
import type { Command, Slice } from '../../gpu/commands.js';
import type { Runner } from '../../gpu/runner.js';
import type { Ticket } from '../../scheduling/ticket.js';
import { LANES, sumOfLanes } from '../../shaders/hash-chain.js';
import { groupsFor, itemsPerBindingStep } from '../../shaders/limits.js';
import { additionsPerSubmitOf } from '../plan/device-defaults.js';
import type { TableShape } from '../plan/workload.js';
import { refusal } from '../refusal.js';
import { DIGEST_THREADS, DigestConfig, digestOfItems } from '../stages/digest.js';
import { IMPORT_THREADS, NONE_REJECTED, packImportConfig, rejectedIn } from '../stages/import.js';
import type { LoadContext } from './load-context.js';
import { isInGroup, membership, type Passage, preparation } from './passages.js';
import { tableCommands } from './table-commands.js';

export interface LoadRequest {
  readonly source: PointSource;
  readonly tables: TableShape;
  /** Whether points have to be in the group. */
  readonly checkSubgroup: boolean;
  readonly label: string;
  /** The most bytes of scratch. */
  readonly budget: number;
  readonly turn?: Ticket;
  /** Throws if there is no point in going on. */
  checkpoint(): void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Points whose tables are made at a time, at most: enough for every device, and the points themselves wait in little memory. */
const TABLE_SLICE = 2 ** 16;

/** Doublings of a point that one dispatch should do at least: it ends with an inversion, of some four doublings' time. */
const LEAST_DOUBLINGS = 16;

type Bound = Slice & { readonly size: number };

/** A part of resident bases that can be bound, and its digest. */
export interface RangeDigest extends Bound {
  readonly digest: number;
}

/** Bases on a device. */
export interface Loaded {
  readonly buffer: GPUBuffer;
  readonly digests: readonly RangeDigest[];
}

/** Points [first, first + count), of all. */
interface PointRange {
  readonly first: number;
  readonly count: number;
}

const rangesOf = (length: number, size: number): PointRange[] =>
  Array.from({ length: Math.ceil(length / size) }, (_, i) => ({
    first: i * size,
    count: Math.min(size, length - i * size),
  }));

/**
 * Brings points to a device, has them converted and checked there, and makes the tables that were asked for.
 *
 * @throws MsmError `bad-argument`, `not-on-curve` or `not-in-subgroup` naming the first point that is wrong; GpuFault, and what runners throw
 */
export const loadPoints = async (
  runner: Runner,
  context: LoadContext,
  { source, tables, checkSubgroup, label, budget, turn, checkpoint, onProgress }: LoadRequest,
): Promise<Loaded> => {
  const { pointBytes } = context.curve;
  const { bytes } = source;
  const length = bytes.length / pointBytes;
  const baseBytes = tables.count * pointBytes;
  const buffer = await runner.createResident('bases', label, length * baseBytes, { checkpoint, turn });
  try {
    const step = itemsPerBindingStep(baseBytes);
    const bindable = Math.floor(runner.device.limits.maxStorageBufferBindingSize / (step * baseBytes)) * step;
    const bound = Math.floor(additionsPerSubmitOf(context.limits, context.tuning) / LEAST_DOUBLINGS);
    const roomy = Math.floor(budget / 2 / pointBytes);
    const few = Math.max(step, Math.floor(Math.min(TABLE_SLICE, bound, roomy) / step) * step);
    const ranges = rangesOf(length, tables.count === 1 ? bindable : Math.min(bindable, few));
    const digests: RangeDigest[] = [];
    const passages = {
      before: preparation(context, source),
      after: checkSubgroup ? membership(context) : null,
    };
    for (const [i, range] of ranges.entries()) {
      checkpoint();
      onProgress?.({ phase: 'load', done: i, total: ranges.length });
      const points = bytes.subarray(range.first * pointBytes, (range.first + range.count) * pointBytes);
      const target = { buffer: 'bases', offset: range.first * baseBytes, size: range.count * baseBytes };
      const aside = { buffer: 'points', offset: 0, size: points.length };
      const plan =
        tables.count === 1
          ? { to: target, scratch: {}, ...passages, commands: [], doublings: 0, turn, checkpoint }
          : {
              to: aside,
              scratch: { points: points.length },
              ...passages,
              commands: tableCommands(context, tables, range.count, aside, target),
              doublings: (tables.count - 1) * tables.bits,
              turn,
              checkpoint,
            };
      digests.push({
        ...target,
        digest: await runImport(runner, context, buffer, { ...source, bytes: points }, range, target, plan),
      });
    }
    checkpoint();
    onProgress?.({ phase: 'load', done: ranges.length, total: ranges.length });
    checkpoint();
    return { buffer, digests };
  } catch (error) {
    runner.ledger.destroy(buffer);
    throw error;
  }
};

/** Accounts of an import: what it refuses, and digests of the points as they came and as they stay. */
const REJECTS = 0;
const OUTSIDE = 2;
const ARRIVED = 3;
const RESIDENT = ARRIVED + LANES;
const ACCOUNTS_BYTES = 4 * (RESIDENT + LANES);

const digestCommand = ({ kernels, curve }: LoadContext, slice: Bound, account: number): Command => {
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

/** The format of points that are taken. */
const AS_IT_SHOULD_BE: PointFormat = 'little-endian bytes';

/** Refuses what the import refused, if the CPU sees it as well. */
const assertImported = async (
  { curve }: LoadContext,
  source: PointSource,
  { first, count }: PointRange,
  [notCanonical, offCurve, outside]: readonly [number, number, number],
): Promise<void> => {
  const rejected = Math.min(notCanonical, offCurve, outside);
  if (rejected === NONE_REJECTED) return;
  const at = (rejected - first) * curve.pointBytes;
  const refused = source.bytes.slice(at, at + curve.pointBytes);
  const isOurs = rejected >= first && rejected < first + count;
  const format = isOurs ? formatOf(curve, { ...source, bytes: refused }) : AS_IT_SHOULD_BE;
  const isOutside = rejected === outside && !isInGroup(curve, { ...source, bytes: refused });
  if (format === AS_IT_SHOULD_BE && isOurs && isOutside) throw refusal(curve, rejected, 'outside the group', null);
  if (format === AS_IT_SHOULD_BE) {
    throw new GpuFault('import', `points[${rejected}] was refused, and nothing is wrong with it`);
  }
  throw refusal(curve, rejected, notCanonical < offCurve ? 'a coordinate' : 'off the curve', format);
};

/** Uploads points, imports them where they are then, and carries out what comes behind it; returns the digest of `target`. */
const runImport = async (
  runner: Runner,
  context: LoadContext,
  buffer: GPUBuffer,
  source: PointSource,
  range: PointRange,
  target: Bound,
  { to, scratch, before, after, commands: behind, doublings, turn, checkpoint }: ImportPlan,
): Promise<number> => {
  const { curve, kernels } = context;
  const { bytes: points, scale } = source;
  const { first, count } = range;
  let sent = 0;
  const commands: readonly Command[] = [
    digestCommand(context, to, ARRIVED),
    ...(before?.commands(count, first, to, REJECTS + 1) ?? []),
    {
      kind: 'dispatch',
      phase: 'import',
      kernel: kernels.importPoints(),
      config: packImportConfig(curve, { points: count, first, rejects: REJECTS }, scale),
      bindings: { points: to },
      groups: groupsFor(count, IMPORT_THREADS),
    },
    ...(after?.commands(count, first, to, OUTSIDE) ?? []),
    ...behind,
    digestCommand(context, target, RESIDENT),
  ];
  const submits = 1 + commands.filter(({ kind }) => kind === 'submit').length;
  const additions = count * (1 + doublings + (before?.additions ?? 0) + (after?.additions ?? 0));
  const { accounts } = await runner.run({
    scratch: { ...scratch, ...before?.scratch, ...after?.scratch },
    external: { bases: buffer },
    uploads: [{ to, data: points }, ...(before?.uploads ?? []), ...(after?.uploads ?? [])],
    commands,
    expectedMs: additions / context.additionsPerMs / submits,
    accounts: ACCOUNTS_BYTES,
    meanwhile: async () => {
      sent = digestOfItems(new Uint32Array(points.buffer, points.byteOffset, points.length / 4), curve.pointWords);
    },
    turn,
    onSubmitted: checkpoint,
  });
  if (sumOfLanes(accounts, ARRIVED) !== sent) {
    throw new GpuFault('import', 'the points that arrived are not those that were sent');
  }
  await assertImported(context, source, range, [
    rejectedIn(accounts[REJECTS] as number),
    rejectedIn(accounts[REJECTS + 1] as number),
    rejectedIn(accounts[OUTSIDE] as number),
  ]);
  return sumOfLanes(accounts, RESIDENT);
};

/**
 * Whether bases are what they were when they were loaded.
 *
 * @throws GpuFault and what runners throw
 */
export const areAsLoaded = async (
  runner: Runner,
  context: LoadContext,
  { buffer, digests }: Loaded,
  turn: Ticket,
): Promise<boolean> => {
  for (const { digest, ...slice } of digests) {
    const { accounts } = await runner.run({
      scratch: {},
      external: { bases: buffer },
      uploads: [],
      commands: [digestCommand(context, slice, 0)],
      accounts: 4 * LANES,
      turn,
    });
    if (sumOfLanes(accounts, 0) !== digest) return false;
  }
  return true;
};

interface ImportPlan {
  /** Where the points are uploaded to. */
  readonly to: Bound;
  readonly scratch: Readonly<Record<string, number>>;
  readonly before: Passage | null;
  readonly after: Passage | null;
  /** What is done with them once they are imported. */
  readonly commands: readonly Command[];
  /** Doublings of each point in these. */
  readonly doublings: number;
  readonly turn: Ticket | undefined;
  checkpoint(): void;
}
