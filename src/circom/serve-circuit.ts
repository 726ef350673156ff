/**
 * The worker of circuits: the package's `webgpu-msm-circuit-worker.js`, one file without imports and
 * without exports. It has the program of a circuit, or its key.
 */
import { inheritMemoryLimit } from '../engine/main-memory.js';
import { badArgument, MsmError } from '../errors.js';
import { KeyCacheAt } from '../formats/key-cache.js';
import { nodeModule } from '../threads/platform.js';
import { type KeyFile, openKeyHere, openProgramHere, type Prover, type WitnessMaker } from './circuit-parts.js';
import { eraseSignals } from './input-signals.js';
import {
  type FromCircuitWorker,
  type OpenedKey,
  type SentFile,
  sendError,
  type ToCircuitWorker,
  UNREAD,
  type WorkerCall,
} from './worker-messages.js';

type Say = (message: FromCircuitWorker, transfer?: readonly ArrayBuffer[]) => void;

/** Serves the circuit that started this worker, until it is terminated. */
export const serveCircuit = (): void => {
  const port = nodeModule('node:worker_threads')?.parentPort;
  const to = (port ?? globalThis) as { postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void };
  const say: Say = (message, transfer = []) => to.postMessage(message, transfer);
  const served = new ServedCircuit(say);
  if (port) port.on('message', (message) => served.hear(message as ToCircuitWorker));
  else globalThis.addEventListener('message', ({ data }) => served.hear(data as ToCircuitWorker));
  say({ say: 'ready' });
};

class ServedCircuit {
  readonly #say: Say;
  #program: WitnessMaker | null = null;
  #prover: Prover | null = null;
  readonly #endings = new Map<number, AbortController>();
  readonly #running = new Set<Promise<void>>();
  /** Reads of the key that wait for their bytes. */
  readonly #reads = new Map<number, (bytes: Uint8Array | null) => void>();
  #readCount = 0;
  /** Whether the circuit has left, so that nobody answers reads any more. */
  #isClosed = false;

  constructor(say: Say) {
    this.#say = say;
  }

  hear(message: ToCircuitWorker): void {
    switch (message.say) {
      case 'call': {
        const running = this.#run(message.id, message.call);
        this.#running.add(running);
        void running.then(() => this.#running.delete(running));
        return;
      }
      case 'abort':
        this.#endings.get(message.id)?.abort();
        return;
      case 'close':
        void this.#close();
        return;
      case 'bytes':
        this.#reads.get(message.read)?.(message.bytes);
        this.#reads.delete(message.read);
    }
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    for (const ending of this.#endings.values()) ending.abort();
    for (const answer of this.#reads.values()) answer(null);
    await Promise.all(this.#running);
    this.#prover?.destroy();
    this.#say({ say: 'closed' });
  }

  async #run(id: number, call: WorkerCall): Promise<void> {
    const ending = new AbortController();
    this.#endings.set(id, ending);
    try {
      const value = await this.#answer(id, call, ending.signal);
      this.#say({ say: 'result', id, value }, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []);
    } catch (error) {
      this.#say({ say: 'error', id, error: sendError(error) });
    } finally {
      this.#endings.delete(id);
    }
  }

  async #answer(id: number, call: WorkerCall, signal: AbortSignal): Promise<unknown> {
    const onPart = (part: string, done: number, total: number): void =>
      this.#say({ say: 'part', id, part, done, total });
    switch (call.name) {
      case 'program':
        this.#program = await openProgramHere(call.program);
        return this.#program.facts;
      case 'compute': {
        const log = new Log((lines) => this.#say({ say: 'log', id, lines }));
        try {
          return await opened(this.#program).compute(call.signals, { signal, onLog: log.add });
        } finally {
          log.flush();
          eraseSignals(call.signals);
        }
      }
      case 'key': {
        inheritMemoryLimit(call.defaultLimit);
        const cache = call.cache === null ? undefined : new KeyCacheAt(call.cache);
        const zkey = await this.#open(call.zkey, cache);
        const onWarning = (message: string): void => this.#say({ say: 'warning', message });
        const prover = await openKeyHere(zkey, { engines: { ...call.engines, cache, onWarning }, signal, onPart });
        this.#prover = prover;
        const { facts, cachedAs } = prover;
        return { facts, cachedAs } satisfies OpenedKey;
      }
      case 'prove': {
        const proving = opened(this.#prover).prove(call.witness, { ...call.options, signal, onPart });
        // the key has copied it
        call.witness.fill(0);
        return proving;
      }
      case 'verify':
        return opened(this.#prover).verify(call.proof, call.publicSignals, signal);
    }
  }

  /** Opens the file of a key. @throws MsmError `bad-argument` if the cache has it no more */
  async #open(file: SentFile, cache: KeyCacheAt | undefined): Promise<KeyFile> {
    switch (file.from) {
      case 'blob':
        return file.blob;
      case 'reads': {
        const { byteLength, version } = file;
        return { byteLength, version, read: (from, to) => this.#ask((read) => ({ say: 'read', read, from, to })) };
      }
      case 'pieces':
        return { byteLength: file.byteLength, chunks: this.#pieces() };
      case 'cache': {
        const stored = await cache?.open(file.id);
        if (stored) return stored;
        throw badArgument('zkey: it came as a stream, and the cache has it no more; open the circuit again');
      }
    }
  }

  /** Yields the pieces of a file that arrives. */
  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const piece = await this.#ask((read) => ({ say: 'next', read }));
      if (piece.length === 0) return;
      yield piece;
    }
  }

  /** Asks for bytes. @param questionOf makes the question with the number of its answer */
  async #ask(questionOf: (read: number) => FromCircuitWorker): Promise<Uint8Array> {
    const read = ++this.#readCount;
    const bytes = await new Promise<Uint8Array | null>((resolve) => {
      if (this.#isClosed) return resolve(null);
      this.#reads.set(read, resolve);
      this.#say(questionOf(read));
    });
    if (bytes === null) throw badArgument(UNREAD);
    return bytes;
  }
}

const opened = <Part>(part: Part | null): Part => {
  if (part === null) throw new MsmError('internal', 'the worker of the circuit was called before it was opened');
  return part;
};

/** Lines of a log that are sent together. */
const LINES = 256;

/** Sends the lines of a log, many in a message. */
class Log {
  readonly #send: (lines: readonly string[]) => void;
  #lines: string[] = [];

  constructor(send: (lines: readonly string[]) => void) {
    this.#send = send;
  }

  readonly add = (line: string): void => {
    this.#lines.push(line);
    if (this.#lines.length >= LINES) this.flush();
  };

  flush(): void {
    if (this.#lines.length > 0) this.#send(this.#lines);
    this.#lines = [];
  }
}
