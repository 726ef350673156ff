/** Workers of circuits that run on the calling thread, so that they can be seen and killed, and nothing is built. */
import { MessageChannel } from 'node:worker_threads';
import { vi } from 'vitest';
import { serveCircuit } from '../../src/circom/serve-circuit.js';

/** A message of a circuit to its worker. */
export interface Heard {
  readonly say: string;
  readonly call?: { readonly name: string; readonly defaultLimit?: number; readonly zkey?: { readonly from: string } };
}

/** A worker, as the thread that started it sees it. */
export interface WorkerHere {
  /** Messages that it was sent. */
  readonly heard: readonly Heard[];
  /** Whether the circuit has ended it. */
  readonly isTerminated: boolean;
  /** Ends it as if its thread had died. */
  kill(): void;
}

/** Has circuits start workers on this thread, until mocks are restored. @returns the workers, in their order */
export const useWorkersHere = (): readonly WorkerHere[] => {
  const started: WorkerHere[] = [];
  let parentPort: object | null = null;

  class WorkerOfThread implements WorkerHere {
    readonly heard: Heard[] = [];
    isTerminated = false;
    readonly #port;
    #onExit: () => void = () => undefined;

    constructor() {
      const { port1, port2 } = new MessageChannel();
      this.#port = port1;
      port2.on('message', (message: Heard) => this.heard.push(message));
      parentPort = port2;
      serveCircuit();
      parentPort = null;
      started.push(this);
    }

    on(event: 'message' | 'error' | 'exit', listener: (value: never) => void): void {
      if (event === 'message') this.#port.on('message', listener as (value: unknown) => void);
      if (event === 'exit') this.#onExit = listener as () => void;
    }

    postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void {
      this.#port.postMessage(message, transfer);
    }

    terminate(): void {
      this.isTerminated = true;
      this.#port.close();
    }

    kill(): void {
      this.#port.close();
      this.#onExit();
    }

    ref(): void {}

    unref(): void {}
  }

  mockThreads(() => ({ Worker: WorkerOfThread, parentPort }));
  return started;
};

/** Has no worker start, until mocks are restored. */
export const useNoWorkers = (): void => {
  class NoWorker {
    constructor() {
      throw new Error('no worker starts');
    }
  }
  mockThreads(() => ({ Worker: NoWorker, parentPort: null }));
};

const mockThreads = (threads: () => object): void => {
  const real = process.getBuiltinModule;
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
    name === 'node:worker_threads' ? threads() : real.call(process, name as never)) as never);
};
