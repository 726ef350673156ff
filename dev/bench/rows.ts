/**
 * The environment of a run, and its rows: `window.msmBench.rows` holds them, the dev server stores
 * them, and Node prints them.
 */
import type { AdapterDescription, CompileTime, Tuning } from '../../src/api/device.js';
import type { HostTimes, PhaseTime, RunRecord, TimelineEntry } from '../../src/api/run-record.js';

/** Facts known without a GPU. The page and Node fill them in. */
interface HostFacts {
  /** Browser or Node, with its version. */
  readonly runtime: string;
  readonly os: string;
  readonly userAgent: string | null;
  /** Git commit of the sources that the bench was built from; null if unknown. */
  readonly commit: string | null;
  readonly cores: number | null;
  /** Pages without cross-origin isolation have coarser clocks; null in Node. */
  readonly crossOriginIsolated: boolean | null;
}

/** Environment of a run: facts that a reader needs to interpret its rows later. */
export interface Environment extends HostFacts {
  readonly version: string;
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly wgslFeatures: readonly string[];
  /** True if the device has timestamp queries for passes. */
  readonly timestamps: boolean;
  /** Step of timestamps in nanoseconds; null without timestamps, or if none differed. */
  readonly timestampQuantumNs: number | null;
}

/** The measured part of the library. */
export type Library = Pick<typeof import('../../src/index.js'), 'createMsmEngine'>;

/** Host that a run executes in. */
export interface Host {
  readonly gpu: GPU | undefined;
  readonly facts: HostFacts;
  /** Loads the library built in a folder; absent on a page, which has no folders. */
  openBuild?(folder: string): Promise<Library>;
  /** Resident bytes of this process now. */
  usedBytes?(): number;
  /** The knobs as a URL query, without the question mark. */
  readonly query: string;
}

/** Paths that each row is posted to, below the address of the page. */
export const rowPaths = ['progress', 'results'] as const;

export type Placement = 'private' | 'workgroup';

/** Content of each event that several modes emit. The module of a mode adds its own events. */
export interface Rows {
  /** Begins a run, with all that is needed to repeat it. */
  readonly init: {
    /** Name of the mode; old rows have names of modes that are gone. */
    readonly mode: string;
    /** The knobs, as in the URL. */
    readonly query: string;
    readonly adapter: AdapterDescription;
    readonly environment: Environment;
    readonly seed: number;
    /** Names of the settings. */
    readonly settings: readonly string[];
    /** Milliseconds until the device was open. */
    readonly createMs: number;
  };
  /** The first MSM of a size, including compilation and allocation. */
  readonly 'warm-up': {
    readonly case: string;
    readonly setting: string;
    readonly loadMs: number;
    readonly wallMs: number | null;
    readonly agrees: boolean;
    /** Knobs that the GPU used; where the CPU computed, those that were asked for. */
    readonly tuning: Partial<Tuning> | null;
    /** Knobs that were limited by the device: `walkertpb: 256 asked, 16 used`. */
    readonly clamped: readonly string[];
    readonly windows: number;
    /** Non-zero digits, which are the points to add. */
    readonly entries: number;
    readonly dispatches: number;
    readonly submits: number;
    /** Pipelines compiled on the device so far, with their compile times in milliseconds. */
    readonly pipelines: readonly CompileTime[];
    /** Bytes of GPU memory. */
    readonly basesBytes: number;
    readonly scratchBytes: number;
  };
  /** One timed MSM. A wrong result has no time. */
  readonly repetition: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    /** Backend that computed it; small MSMs may run on the CPU (`cpubelow`). */
    readonly on: RunRecord['on'];
    readonly placement: Placement;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
    /** Sum of the phases on the GPU; null without timestamps. */
    readonly gpuMs: number | null;
    /** Times to encode, from submit to result, and to read back. */
    readonly hostTimes: HostTimes | null;
    readonly phases: readonly PhaseTime[] | null;
  };
  /** One MSM with its passes in execution order. */
  readonly trace: Rows['repetition'] & {
    /** Null without timestamps. */
    readonly timeline: readonly TimelineEntry[] | null;
  };
  /** One MSM of a peer, interleaved with those of this library. */
  readonly peer: {
    readonly peer: string;
    readonly case: string;
    readonly n: number;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
  };
  /**
   * The roofline of a case: its additions at six products each, at the rate of the product alone.
   */
  readonly bound: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    readonly additions: number;
    readonly products: number;
    /**
     * Rate of the library's own product: the median of the measurements between the repetitions.
     */
    readonly productsPerSecond: number;
    readonly ms: number;
  };
  /** A variant that was skipped, and why. */
  readonly skipped: {
    readonly variant: string;
    readonly why: string;
  };
  readonly end: {
    readonly status: 'done' | 'failed';
    readonly error: string | null;
    readonly seconds: number;
  };
}

type RowEvent = keyof Rows;
export type RowOf<Event extends RowEvent> = Rows[Event] & { readonly event: Event };
export type Row = { [Event in RowEvent]: RowOf<Event> }[RowEvent];

/** A row as it is posted and stored. */
export type StampedRow = Row & { readonly runId: string; readonly at: string };

export const rowsOf = <Event extends RowEvent>(rows: readonly StampedRow[], event: Event) =>
  rows.filter((row): row is Extract<StampedRow, { event: Event }> => row.event === event);

const keyOf = (row: StampedRow): string | null => {
  if (row.event === 'repetition' || row.event === 'trace' || row.event === 'warm-up')
    return `${row.case} ${row.setting}`;
  return row.event === 'peer' ? `${row.case} peer ${row.peer}` : null;
};

function withoutTimes(row: StampedRow): StampedRow {
  switch (row.event) {
    case 'warm-up':
    case 'peer':
      return { ...row, wallMs: null };
    case 'repetition':
      return { ...row, wallMs: null, gpuMs: null, hostTimes: null, phases: null };
    case 'trace':
      return { ...row, wallMs: null, gpuMs: null, hostTimes: null, phases: null, timeline: null };
    default:
      return row;
  }
}

/** Returns the rows as the page shows them and files keep them. */
export function voidWrongTimes(rows: readonly StampedRow[]): StampedRow[] {
  const wrong = new Set(rows.filter((row) => 'agrees' in row && !row.agrees).map(keyOf));
  return rows.map((row) => {
    const key = keyOf(row);
    return key !== null && wrong.has(key) ? withoutTimes(row) : row;
  });
}
