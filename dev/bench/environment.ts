/** Environment of a run: facts that a reader needs to interpret its rows later. */

/** Facts known without a GPU. The page and Node fill them in. */
export interface HostFacts {
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
