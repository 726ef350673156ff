/** Where a run took place: what somebody who reads its rows a year later has to know. */

/** What the place says of itself without a GPU; the page and Node each fill it in. */
export interface HostFacts {
  /** Browser or Node with its version. */
  readonly runtime: string;
  readonly os: string;
  readonly userAgent: string | null;
  /** Of the sources that the bench was built from; null if unknown. */
  readonly commit: string | null;
  /** Logical cores. */
  readonly cores: number | null;
  /** Pages that are not tick more coarsely; null in Node. */
  readonly crossOriginIsolated: boolean | null;
}

export interface Environment extends HostFacts {
  /** Of the library. */
  readonly version: string;
  /** Of the adapter. */
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly wgslFeatures: readonly string[];
  /** Whether times of passes can be had. */
  readonly timestamps: boolean;
  /** The step in which timestamps tick, in nanoseconds; null without timestamps, or where none was seen. */
  readonly timestampQuantumNs: number | null;
}

/** The part of the library that is measured. */
export type Library = Pick<typeof import('../../src/index.js'), 'createMsmEngine'>;

/** Where a run takes place. */
export interface Host {
  readonly gpu: GPU | undefined;
  readonly facts: HostFacts;
  /** The library that is built in a folder; where there are no folders, none. */
  openBuild?(folder: string): Promise<Library>;
  /** Seconds that all cores have spent on this process. */
  cpuSeconds?(): number;
  /** Bytes of main memory that this process has, once its own thread has given back what nobody uses. */
  residentBytes?(): number;
  /** Bytes of main memory that this process has, as it is. */
  usedBytes?(): number;
  /** The knobs as in a URL, without the question mark. */
  readonly query: string;
}
