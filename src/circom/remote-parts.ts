/** The parts of a circuit in workers: the program in one, the key in another. */
import { abortedBy, assertNotAborted, badArgument, onAbort } from '../errors.js';
import type { KeyCacheAt } from '../formats/key-cache.js';
import type { FileSource } from '../formats/source.js';
import { openFile } from '../formats/source.js';
import type { AnyProof } from './any-key.js';
import { destroyedCircuit, type KeyFacts, type KeyLoad, type Prover, type WitnessMaker } from './circuit-parts.js';
import { CircuitWorker, type WorkerHost } from './circuit-worker.js';
import type { CompiledProgram, ProgramFacts } from './program.js';
import type { SentEngineOptions, WorkerCall } from './worker-messages.js';

/** A worker that is started again after it has died, and opened in the same way. */
class LastingWorker {
  readonly #host: WorkerHost;
  readonly #open: WorkerCall;
  #opened: Promise<CircuitWorker>;
  #isDestroyed = false;

  constructor(first: CircuitWorker, host: WorkerHost, open: WorkerCall) {
    this.#host = host;
    this.#open = open;
    this.#opened = Promise.resolve(first);
  }

  /** Returns the worker. @throws MsmError `destroyed`; and as opening does */
  async get(): Promise<CircuitWorker> {
    if (this.#isDestroyed) throw destroyedCircuit();
    const opened = await this.#opened.catch(() => null);
    if (opened !== null && !opened.isDead) return opened;
    this.#opened = this.#restart();
    return this.#opened;
  }

  async #restart(): Promise<CircuitWorker> {
    const worker = await CircuitWorker.start(this.#host);
    if (this.#isDestroyed) worker?.end();
    if (this.#isDestroyed) throw destroyedCircuit();
    if (worker === null) throw badArgument('options.worker: a worker that died could not be started again');
    await worker.call(this.#open, {});
    return worker;
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#opened.then(
      (worker) => worker.end(),
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
    destroy: () => worker.destroy(),
  };
};

/**
 * Opens a key in a worker.
 *
 * @returns null where no worker starts
 * @throws MsmError as `openKeyHere`
 */
export const openKeyInWorker = async (
  zkey: FileSource,
  { engines, signal, onPart }: KeyLoad,
  onWarning: WorkerHost['onWarning'],
): Promise<Prover | null> => {
  const file = openFile('zkey', zkey);
  const host = { onWarning, read: (from: number, to: number) => file.read(from, to) };
  const { onWarning: _, cache, ...sent } = engines;
  const open = {
    name: 'key',
    zkey: file.isBlob ? (zkey as Blob) : file.byteLength,
    version: file.version,
    engines: sent as SentEngineOptions,
    cache: cache === undefined ? null : (cache as KeyCacheAt).place,
  } as const;
  const first = await CircuitWorker.start(host);
  if (first === null) return null;
  const facts = await callFirst<KeyFacts>(first, open, { signal, onPart });
  const worker = new LastingWorker(first, host, open);
  return {
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
    destroy: () => worker.destroy(),
  };
};

/** Opens a worker for the first time, and ends it if that fails. */
const callFirst = async <Facts>(
  worker: CircuitWorker,
  call: WorkerCall,
  listener: Parameters<CircuitWorker['call']>[1] = {},
): Promise<Facts> => {
  try {
    return await worker.call<Facts>(call, listener);
  } catch (error) {
    worker.end();
    throw error;
  }
};
