import type { ComputeWorker } from '../api/sharing.js';

/** A worker of Node's. */
export interface NodeWorker extends ComputeWorker {
  on(event: 'message' | 'error' | 'exit', listener: (value: never) => void): unknown;
  ref(): void;
  unref(): void;
}

/** Where a worker hears and speaks, in Node. */
interface NodePort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): void;
}

interface NodeModules {
  'node:worker_threads': {
    readonly Worker: new (
      url: URL,
      options: { readonly name: string; readonly resourceLimits?: { readonly maxYoungGenerationSizeMb: number } },
    ) => NodeWorker;
    /** null but in such a worker. */
    readonly parentPort: NodePort | null;
  };
  'node:os': { availableParallelism(): number };
}

/** A module of Node's, without an `import` that bundlers for pages would stumble over; null where there is no Node. */
export const nodeModule = <Name extends keyof NodeModules>(name: Name): NodeModules[Name] | null => {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): NodeModules[Name] | undefined };
  };
  return process?.getBuiltinModule?.(name) ?? null;
};
