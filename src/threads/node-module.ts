import type { ComputeWorker } from '../api/sharing.js';

/** A worker of `node:worker_threads`. */
export interface NodeWorker extends ComputeWorker {
  on(event: 'message' | 'error' | 'exit', listener: (value: never) => void): unknown;
  ref(): void;
  unref(): void;
}

/** A worker's end of the connection to the thread that started it, in Node. */
interface NodePort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): void;
}

interface NodeModules {
  'node:worker_threads': {
    readonly Worker: new (
      url: URL,
      options: {
        readonly name: string;
        readonly resourceLimits?: { readonly maxYoungGenerationSizeMb: number };
      },
    ) => NodeWorker;
    /** null outside a worker. */
    readonly parentPort: NodePort | null;
  };
  'node:os': { availableParallelism(): number };
}

/** The module `node:worker_threads`, as far as it is used. */
export type NodeThreads = NodeModules['node:worker_threads'];

/**
 * Returns a built-in module of Node, or null where there is no Node. It uses no `import`, which
 * bundlers for pages could not resolve.
 */
export const nodeModule = <Name extends keyof NodeModules>(name: Name): NodeModules[Name] | null => {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): NodeModules[Name] | undefined };
  };
  return process?.getBuiltinModule?.(name) ?? null;
};
