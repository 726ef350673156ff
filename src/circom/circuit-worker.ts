/** A worker of a circuit, seen from the thread that started it. */
import type { ComputeWorker } from '../api/calls.js';
import { abortedBy, MsmError, onAbort } from '../errors.js';
import { isOfNode, listenTo, nodeThreads, type StartWorker } from '../threads/platform.js';
import {
  type FromCircuitWorker,
  receiveError,
  type ToCircuitWorker,
  UNREAD,
  type WorkerCall,
} from './worker-messages.js';

/** Time for a worker to get ready, in milliseconds. A slower one counts as not found. */
const START_MS = 10_000;

/** Time for a worker to destroy what it has open, in milliseconds. One that computes hears nothing until it is done. */
const CLOSE_MS = 1000;

const NAME = 'webgpu-msm-circuit';

/** Returns the ways to start the worker, the usual one first; none where there are no threads. */
const starts = (): readonly StartWorker[] => {
  const beside = new URL(import.meta.url.replace(/[^/]*$/, 'webgpu-msm-circuit-worker.js'));
  const node = nodeThreads();
  if (node) return [() => new node.Worker(beside, { name: NAME })];
  if (typeof Worker !== 'function') return [];
  return [
    // literals only: vite does not bundle a worker whose URL or options it cannot read
    () => new Worker(new URL('./serve-circuit.ts', import.meta.url), { type: 'module', name: 'webgpu-msm-circuit' }),
    // for a package on another origin, whose scripts a page may import and not start
    () => new Worker(blobOf(`import ${JSON.stringify(beside.href)};`), { type: 'module', name: NAME }),
  ];
};

const blobOf = (text: string): string => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));

/** Callbacks of a call beside its result. */
interface CallListener {
  readonly onPart?: (part: string, done: number, total: number) => void;
  readonly onLog?: (line: string) => void;
}

interface PendingCall extends CallListener {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Requests of a worker to its circuit. */
export interface WorkerHost {
  readonly onWarning: (message: string) => void;
  /** Reads the key. Its error is that of the call that reads. */
  readonly read?: (from: number, to: number) => Promise<Uint8Array>;
  /** Returns the next piece of a key that arrives, which the worker takes over; none behind the last one. */
  readonly next?: () => Promise<Uint8Array<ArrayBuffer>>;
}

export class CircuitWorker {
  readonly #worker: ComputeWorker;
  readonly #host: WorkerHost;
  readonly #pending = new Map<number, PendingCall>();
  #calls = 0;
  #whyDead: string | null = null;
  /** The error of the last read that failed. */
  #readError: { readonly error: unknown } | null = null;
  #onClosed: () => void = () => undefined;
  #onReady: (isReady: boolean) => void = () => undefined;

  private constructor(worker: ComputeWorker, host: WorkerHost) {
    this.#worker = worker;
    this.#host = host;
    listenTo<FromCircuitWorker>(worker, {
      message: (message) => this.#hear(message),
      death: (why) => this.#die(why),
    });
  }

  /** Starts a worker. @returns null where none gets ready */
  static async start(host: WorkerHost): Promise<CircuitWorker | null> {
    for (const start of starts()) {
      try {
        const started = new CircuitWorker(start(), host);
        if (await started.#ready()) return started;
        started.end();
      } catch {
        // a content security policy may forbid one way and not the next
      }
    }
    return null;
  }

  #ready(): Promise<boolean> {
    if (isOfNode(this.#worker)) this.#worker.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#onReady(false), START_MS);
      this.#onReady = (isReady) => {
        clearTimeout(timer);
        if (isOfNode(this.#worker)) this.#worker.unref();
        resolve(isReady);
      };
    });
  }

  /** Whether the worker has ended. */
  get isDead(): boolean {
    return this.#whyDead !== null;
  }

  /**
   * Calls the worker.
   *
   * @param transfer buffers that the worker takes over
   * @throws MsmError as the call does; `internal` if the worker dies; `bad-argument` for arguments that
   *   cannot be sent
   */
  call<Value>(
    call: WorkerCall,
    listener: CallListener & { signal?: AbortSignal | undefined },
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Value> {
    const id = ++this.#calls;
    const { signal } = listener;
    let unsubscribe = (): void => undefined;
    return new Promise<unknown>((resolve, reject) => {
      if (this.#whyDead !== null) throw this.#deadError();
      this.#pending.set(id, { ...listener, resolve, reject });
      if (isOfNode(this.#worker)) this.#worker.ref();
      this.#send({ say: 'call', id, call }, transfer);
      unsubscribe = onAbort(signal, () => {
        if (!this.isDead) this.#send({ say: 'abort', id });
        reject(abortedBy(signal));
      });
    }).finally(() => {
      unsubscribe();
      this.#pending.delete(id);
      if (this.#pending.size === 0 && isOfNode(this.#worker)) this.#worker.unref();
    }) as Promise<Value>;
  }

  #send(message: ToCircuitWorker, transfer: readonly ArrayBuffer[] = []): void {
    const to = this.#worker as { postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void };
    try {
      to.postMessage(message, transfer);
    } catch (cause) {
      throw new MsmError('bad-argument', `an argument cannot be sent to a worker: ${String(cause)}`, { cause });
    }
  }

  #hear(message: FromCircuitWorker): void {
    // the script may be a foreign one, which sends anything
    if (typeof message !== 'object' || message === null) return;
    switch (message.say) {
      case 'ready':
        this.#onReady(true);
        return;
      case 'warning':
        this.#host.onWarning(message.message);
        return;
      case 'read': {
        const { read, from, to } = message;
        // a copy, which the worker takes over: a source may return a view of its own
        void this.#answer(read, async () => new Uint8Array((await this.#host.read?.(from, to)) ?? []));
        return;
      }
      case 'next':
        void this.#answer(message.read, async () => (await this.#host.next?.()) ?? new Uint8Array());
        return;
      case 'closed':
        this.#onClosed();
        return;
      case 'result':
        this.#pending.get(message.id)?.resolve(message.value);
        return;
      case 'error': {
        const { id, error } = message;
        // other errors are those of calls that failed by themselves, whatever read failed before
        const isRead = this.#readError !== null && error.message.includes(UNREAD);
        this.#pending.get(id)?.reject(isRead ? this.#readError?.error : receiveError(error));
        return;
      }
      default:
        this.#tell(message);
    }
  }

  /** Calls the caller's functions, whose errors are those of their call. */
  #tell(message: Extract<FromCircuitWorker, { readonly say: 'part' | 'log' }>): void {
    const call = this.#pending.get(message.id);
    try {
      if (message.say === 'part') call?.onPart?.(message.part, message.done, message.total);
      else for (const line of message.lines) call?.onLog?.(line);
    } catch (error) {
      call?.reject(error);
    }
  }

  async #answer(read: number, take: () => Promise<Uint8Array<ArrayBuffer>>): Promise<void> {
    let bytes: Uint8Array<ArrayBuffer> | null = null;
    try {
      bytes = await take();
    } catch (error) {
      this.#readError = { error };
    }
    if (!this.isDead) this.#send({ say: 'bytes', read, bytes }, bytes === null ? [] : [bytes.buffer]);
  }

  #deadError(): MsmError {
    return new MsmError('internal', `the worker of the circuit ${this.#whyDead}`);
  }

  #die(why: string): void {
    if (this.#forsake(why)) this.#worker.terminate();
  }

  /** Rejects all calls. @returns false if the worker is dead already */
  #forsake(why: string): boolean {
    if (this.#whyDead !== null) return false;
    this.#whyDead = why;
    this.#onReady(false);
    for (const { reject } of this.#pending.values()) reject(this.#deadError());
    return true;
  }

  /** Ends the worker once it has destroyed what is open. Calls under way reject at once. */
  close(): void {
    if (!this.#forsake('was ended')) return;
    if (isOfNode(this.#worker)) this.#worker.ref();
    const timer = setTimeout(() => this.#worker.terminate(), CLOSE_MS);
    this.#onClosed = () => {
      clearTimeout(timer);
      this.#worker.terminate();
    };
    this.#send({ say: 'close' });
  }

  /** Ends the worker, also while it computes. Calls under way reject. */
  end(): void {
    this.#die('was ended');
  }
}
