/**
 * The worker of circuits: the package's `webgpu-msm-circuit-worker.js`, one file without imports and
 * without exports. It has the program of a circuit, or its key.
 */
import { badArgument, MsmError } from '../errors.js';
import { KeyCacheAt } from '../formats/key-cache.js';
import type { RandomAccess } from '../formats/source.js';
import { nodeModule } from '../threads/platform.js';
import { openKeyHere, openProgramHere, type Prover, type WitnessMaker } from './circuit-parts.js';
import { eraseSignals } from './input-signals.js';
import { type FromCircuitWorker, sendError, type ToCircuitWorker, type WorkerCall } from './worker-messages.js';

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
  /** Reads of the key that wait for their bytes. */
  readonly #reads = new Map<number, (bytes: Uint8Array | null) => void>();
  #readCount = 0;

  constructor(say: Say) {
    this.#say = say;
  }

  hear(message: ToCircuitWorker): void {
    if (message.say === 'call') void this.#run(message.id, message.call);
    else if (message.say === 'abort') this.#endings.get(message.id)?.abort();
    else {
      this.#reads.get(message.read)?.(message.bytes);
      this.#reads.delete(message.read);
    }
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
        const zkey = typeof call.zkey === 'number' ? this.#fileByMessages(call.zkey, call.version) : call.zkey;
        const cache = call.cache === null ? undefined : new KeyCacheAt(call.cache);
        const onWarning = (message: string): void => this.#say({ say: 'warning', message });
        this.#prover = await openKeyHere(zkey, { engines: { ...call.engines, cache, onWarning }, signal, onPart });
        return this.#prover.facts;
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

  #fileByMessages(byteLength: number, version: string): RandomAccess {
    return {
      byteLength,
      version,
      read: async (from, to) => {
        const read = ++this.#readCount;
        const bytes = await new Promise<Uint8Array | null>((resolve) => {
          this.#reads.set(read, resolve);
          this.#say({ say: 'read', read, from, to });
        });
        if (bytes === null) throw badArgument('zkey: the file could not be read');
        return bytes;
      },
    };
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
