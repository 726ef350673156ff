/** The parts of a circuit in workers: the program in one, the key in another. */
import { defaultMemoryLimit } from '../engine/main-memory.js';
import { abortedBy, assertNotAborted, badArgument, onAbort } from '../errors.js';
import { isArriving, receive } from '../formats/file-origin.js';
import type { KeyCacheAt } from '../formats/key-cache.js';
import { type ArrivingFile, openFile } from '../formats/source.js';
import type { AnyProof } from './any-key.js';
import {
  destroyedCircuit,
  type KeyFacts,
  type KeyFile,
  type KeyLoad,
  type Prover,
  type WitnessMaker,
} from './circuit-parts.js';
import { CircuitWorker, type WorkerHost } from './circuit-worker.js';
import type { CompiledProgram, ProgramFacts } from './program.js';
import type { OpenedKey, SentEngineOptions, SentFile, WorkerCall } from './worker-messages.js';

/** A worker that is started again after it has died, and opened in the same way. */
class LastingWorker {
  readonly #host: WorkerHost;
  /** null if it cannot be opened again. */
  readonly #open: WorkerCall | null;
  #opened: Promise<CircuitWorker>;
  #isDestroyed = false;

  constructor(first: CircuitWorker, host: WorkerHost, open: WorkerCall | null) {
    this.#host = host;
    this.#open = open;
    this.#opened = Promise.resolve(first);
  }

  /** Returns the worker. @throws MsmError `destroyed`; and as opening does */
  async get(): Promise<CircuitWorker> {
    if (this.#isDestroyed) throw destroyedCircuit();
    const opening = this.#opened;
    const opened = await opening.catch(() => null);
    if (opened !== null && !opened.isDead) return opened;
    if (this.#isDestroyed) throw destroyedCircuit();
    // of several calls that find it dead the first one starts it again
    if (this.#opened === opening) this.#opened = this.#restart();
    return this.#opened;
  }

  async #restart(): Promise<CircuitWorker> {
    if (this.#open === null)
      throw badArgument('zkey: its worker died, and it came as a stream that no cache keeps; open the circuit again');
    const worker = await CircuitWorker.start(this.#host);
    if (this.#isDestroyed) worker?.end();
    if (this.#isDestroyed) throw destroyedCircuit();
    if (worker === null) throw badArgument('options.worker: a worker that died could not be started again');
    try {
      await worker.call(this.#open, {});
    } catch (error) {
      worker.close();
      throw error;
    }
    return worker;
  }

  /** @param how whether the worker ends at once, or destroys before what it has open */
  destroy(how: 'end' | 'close'): void {
    this.#isDestroyed = true;
    this.#opened.then(
      (worker) => worker[how](),
      () => undefined,
    );
  }
}

/**
 * Opens a program in a worker.
 *
 * @returns null where no worker starts
 * @throws MsmError as `openProgramHere`
 */
export const openProgramInWorker = async (
  compiled: CompiledProgram,
  onWarning: WorkerHost['onWarning'],
): Promise<WitnessMaker | null> => {
  const host = { onWarning };
  const open = { name: 'program', program: compiled } as const;
  const first = await CircuitWorker.start(host);
  if (first === null) return null;
  const facts = await callFirst<ProgramFacts>(first, open);
  const worker = new LastingWorker(first, host, open);
  let last: Promise<unknown> = Promise.resolve();
  const compute: WitnessMaker['compute'] = async (signals, { signal, onLog }) => {
    const at = await worker.get();
    assertNotAborted(signal, 'witness');
    // a program hears no message while it computes
    const unsubscribe = onAbort(signal, () => at.end());
    try {
      const transfer = signals.map(({ words }) => words.buffer);
      return await at.call<Uint8Array<ArrayBuffer>>({ name: 'compute', signals }, { onLog }, transfer);
    } catch (error) {
      throw signal?.aborted ? abortedBy(signal, 'witness') : error;
    } finally {
      unsubscribe();
    }
  };
  return {
    facts,
    compute: (signals, run) => {
      // one at a time, so that an abort ends one alone
      const computing = last.then(() => compute(signals, run));
      last = computing.catch(() => undefined);
      return computing;
    },
    destroy: () => worker.destroy('end'),
  };
};

/** Bytes of the pieces in which a key that arrives is sent. */
const PIECE_BYTES = 2 ** 18;

/** Yields the bytes of chunks in pieces that nobody else has: two pieces are in memory, and a chunk. */
async function* piecesOf({ chunks }: ArrivingFile): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      [piece, filled] = [new Uint8Array(PIECE_BYTES), 0];
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}

/** The file of a key as a worker gets it. */
interface Sendable {
  readonly sent: SentFile;
  /** Reads the file for the worker. */
  readonly reading: Pick<WorkerHost, 'read' | 'next'>;
  /** Ends a file that arrives. */
  end(): void;
}

const sendable = (zkey: KeyFile): Sendable => {
  if (isArriving(zkey)) {
    const pieces = piecesOf(zkey);
    return {
      sent: { from: 'pieces', byteLength: zkey.byteLength },
      reading: { next: async () => (await pieces.next()).value ?? new Uint8Array() },
      end: () => void pieces.return().catch(() => undefined),
    };
  }
  const file = openFile('zkey', zkey);
  const { byteLength, version, isBlob } = file;
  return {
    sent: isBlob ? { from: 'blob', blob: zkey as Blob } : { from: 'reads', byteLength, version },
    reading: { read: (from, to) => file.read(from, to) },
    end: () => undefined,
  };
};

/**
 * Opens a key in a worker. A key that arrives goes on to the worker's cache piece by piece; without a cache it
 * is read into a Blob first, which a worker that is started again reads again.
 *
 * @returns null where no worker starts
 * @throws MsmError as `openKeyHere`
 */
export const openKeyInWorker = async (
  zkey: KeyFile,
  { engines, signal, onPart }: KeyLoad,
  onWarning: WorkerHost['onWarning'],
): Promise<Prover | null> => {
  const { onWarning: _, cache, ...sentEngines } = engines;
  const place = cache === undefined ? null : (cache as KeyCacheAt).place;
  const file = isArriving(zkey) && place === null ? null : sendable(zkey);
  const host: WorkerHost = { onWarning, ...file?.reading };
  const first = await CircuitWorker.start(host);
  if (first === null) return null;
  try {
    const sent: SentFile = file?.sent ?? {
      from: 'blob',
      blob: (await receive(zkey as ArrivingFile, undefined)) as Blob,
    };
    const engines: SentEngineOptions = sentEngines;
    const open = { name: 'key', zkey: sent, cache: place, engines, defaultLimit: defaultMemoryLimit() } as const;
    const { facts, cachedAs } = await first.call<OpenedKey>(open, { signal, onPart });
    const fromCache = cachedAs === null ? null : { ...open, zkey: { from: 'cache', id: cachedAs } as const };
    return proverOf(facts, new LastingWorker(first, host, sent.from === 'pieces' ? fromCache : open));
  } catch (error) {
    first.close();
    file?.end();
    throw error;
  }
};

/** Returns what proves in a worker that has the key. */
const proverOf = (facts: KeyFacts, worker: LastingWorker): Prover => ({
  facts,
  prove: async (witness, { signal: ending, onPart: onProof, verifyProof, priority, deadline }) => {
    const call = { name: 'prove', witness, options: { verifyProof, priority, deadline } } as const;
    const at = await worker.get();
    assertNotAborted(ending, 'proof');
    return at.call<AnyProof>(call, { signal: ending, onPart: onProof }, [witness.buffer]);
  },
  verify: async (proof, publicSignals, ending) => {
    const call = { name: 'verify', proof, publicSignals } as const;
    return (await worker.get()).call<boolean>(call, { signal: ending });
  },
  destroy: () => worker.destroy('close'),
});

/** Opens a worker for the first time, and ends it if that fails. */
const callFirst = async <Facts>(worker: CircuitWorker, call: WorkerCall): Promise<Facts> => {
  try {
    return await worker.call<Facts>(call, {});
  } catch (error) {
    worker.end();
    throw error;
  }
};
