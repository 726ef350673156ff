/** Errors of the library, the signals of callers, and waits that end with an error. */

/** Reason of a failure. The codes are stable, for programs that switch on them. */
export type MsmErrorCode =
  /**
   * An option, a length, an index or a number is invalid, or a coordinate is not below p; the
   * message names it.
   *
   * Remedy: fix the call.
   */
  | 'bad-argument'
  /**
   * The inputs of a circuit do not satisfy it. The message has the text of circom: the template and
   * the line of the assertion or constraint that does not hold; or, for a circuit that was opened with
   * its `r1cs`, the number of the constraint.
   *
   * Remedy: correct the inputs, or the circuit.
   */
  | 'unsatisfied'
  /**
   * A point is not on the curve. The message has its index, and the encoding in which its bytes are
   * on the curve, if they are big-endian or in Montgomery form.
   *
   * Remedy: pass the `encoding` of the points, or convert them.
   */
  | 'not-on-curve'
  /**
   * With `checkSubgroup`, a point is on the curve but not in the group of order r; the message has
   * its index. On Bandersnatch also a sum of such points that has no affine coordinates.
   *
   * Remedy: do not use the points, or check where they come from.
   */
  | 'not-in-subgroup'
  /**
   * With `backend: 'gpu'`, there is no WebGPU, or it has no adapter.
   *
   * Remedy: leave `backend` out, so that the CPU computes; or use https, another browser, or a GPU
   * driver. Reload the page if the message says so.
   */
  | 'no-webgpu'
  /**
   * With `backend: 'gpu'`, there is an adapter, but it makes no device. Vectors and proving keys:
   * there is no WebAssembly, or a content security policy forbids it.
   *
   * Remedy: as for `no-webgpu`; allow `'wasm-unsafe-eval'`.
   */
  | 'unsupported-device'
  /**
   * The driver was reset, the browser took the GPU away, the device was destroyed, or the GPU
   * stopped answering.
   *
   * Remedy: call again. The engine gets a new device and moves its bases there. With a device of
   * your own, create a new engine; with `retainBases: false`, load the bases again.
   */
  | 'device-lost'
  /**
   * The GPU, WebAssembly or a budget has no room for what the call needs. Sums go on without
   * WebAssembly, and vectors do not.
   *
   * Remedy: lower `memoryBudget` or `maxWorkers`, raise `deviceBudget` or `memoryLimit`, or destroy
   * bases and engines that are not needed.
   */
  | 'out-of-memory'
  /**
   * `signal` was aborted; its reason is the `cause`.
   *
   * Remedy: none, the caller asked for it.
   */
  | 'aborted'
  /**
   * A handle was destroyed, or a file closed: an engine, bases, scalars, vectors, a key.
   *
   * Remedy: create new ones.
   */
  | 'destroyed'
  /**
   * As many calls or bytes wait as `maxQueued` allows.
   *
   * Remedy: call again after `retryAfterMs`.
   */
  | 'overloaded'
  /**
   * The GPU lost, repeated or mixed up work, and did so again in every retry (`retries`); or WebGPU
   * refused a command; or a module of the package could not be loaded. The message names the stage
   * and the error.
   *
   * Remedy: report it, with the message, the adapter and the inputs. Serve all files of `dist/`
   * together.
   */
  | 'internal';

/**
 * The one type of error that this library throws or rejects with. Errors of your own code that the
 * library runs (`onProgress`, a getter, `slice` of pages) reach you unchanged.
 *
 * `message` names the argument, the index and the broken rule, and says what to do.
 *
 * @example
 * ```ts
 * import { createMsmEngine, MsmError } from 'webgpu-msm';
 *
 * try {
 *   await createMsmEngine({ curve: 'bn254', memoryBudget: -1 });
 * } catch (error) {
 *   if (error instanceof MsmError) console.log(error.code); // bad-argument
 * }
 * ```
 */
export class MsmError extends Error {
  /** Reason of the failure, for programs. */
  readonly code: MsmErrorCode;
  /**
   * For `overloaded`: estimated time until the queue has room again, in ms, by the durations of
   * earlier calls; else null.
   */
  readonly retryAfterMs: number | null;

  constructor(code: MsmErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(message, options);
    this.name = 'MsmError';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

/**
 * A check found that the GPU skipped work, used wrong data, or computed a wrong result. A second
 * attempt may succeed.
 */
export class GpuFault extends MsmError {
  /** @param stage the stage whose check failed */
  constructor(stage: string, kind: string) {
    super('internal', `the GPU went wrong in ${stage}: ${kind}. Please report the adapter, the knobs and the inputs`);
  }
}

/** The GPU stopped answering, so its device counts as lost. A call may go on without it. */
export class NoAnswerError extends MsmError {
  /** True for the call whose work did not complete; false for calls that waited behind it. */
  readonly isStuck: boolean;

  constructor(message: string, isStuck: boolean, cause?: unknown) {
    super('device-lost', message, { cause });
    this.isStuck = isStuck;
  }
}

/** The device lacks memory for a request beside its resident buffers. A smaller request may fit. */
export class NoRoom extends MsmError {
  constructor(message: string) {
    super('out-of-memory', message);
  }
}

/** WebAssembly gets no memory on this thread. What needs none, such as BigInts, may go on. */
export class NoWasmMemory extends MsmError {
  constructor(bytes: number, cause: unknown) {
    super(
      'out-of-memory',
      `WebAssembly gets no memory of ${bytes} bytes: the platform limits its memories, or its addresses; destroy engines that are not needed, or lower maxWorkers`,
      { cause },
    );
  }
}

/** Returns the name of a value's class, or its type. Never throws. */
export const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? name : 'object';
  } catch {
    return 'object';
  }
};

/** Returns text for a value in an error: the value if it is short, else its kind. */
export const show = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value}'`
    : typeof value === 'function' || (typeof value === 'object' && value !== null)
      ? kindOf(value)
      : String(value);

/** Returns the error of an aborted operation. @param what the operation, such as `call` */
export const abortedBy = (signal: AbortSignal | undefined, what = 'call'): MsmError =>
  new MsmError('aborted', `the ${what} was aborted`, { cause: signal?.reason });

/** Callbacks by signal. */
const callbacks = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when a signal is aborted. A signal gets one listener for all of them: many calls
 * may share a signal, and Node warns of more than ten listeners.
 *
 * @returns a function that unsubscribes
 */
export const onAbort = (signal: AbortSignal | undefined, callback: () => void): (() => void) => {
  // a substitute for a signal may have no events; its `aborted` is read between steps
  if (typeof signal?.addEventListener !== 'function') return () => undefined;
  const known = callbacks.get(signal);
  const all = known ?? new Set();
  if (known === undefined) {
    signal.addEventListener('abort', () => [...all].forEach((each) => void each()), { once: true });
    callbacks.set(signal, all);
  }
  all.add(callback);
  return () => all.delete(callback);
};

/**
 * Throws if a signal is aborted.
 *
 * @param what the operation, such as `call`
 * @throws MsmError `aborted`
 */
export const assertNotAborted = (signal: AbortSignal | undefined, what?: string): void => {
  if (signal?.aborted) throw abortedBy(signal, what);
};

/**
 * Returns the error of an invalid argument.
 *
 * @param message the argument, the rule, and what to do
 */
export const badArgument = (message: string): MsmError => new MsmError('bad-argument', message);

/** Beginning of the message of a proof that its key does not verify. Workers send code and message alone. */
export const UNVERIFIED = 'witness: its proof does not verify';

/** Returns whether a key refused its own proof, so that the key may be damaged. */
export const isUnverified = (error: unknown): boolean =>
  error instanceof MsmError && error.message.startsWith(UNVERIFIED);

/** Passes a warning to a caller's handler, whose errors do not concern the work that warns. */
export const warnBy = (onWarning: ((message: string) => void) | undefined, message: string): void => {
  try {
    (onWarning ?? console.warn)(`webgpu-msm: ${message}`);
  } catch {
    // the work goes on
  }
};

/** Errors that end several calls, and their stacks. */
const shared = /* @__PURE__ */ new WeakMap<Error, string>();

/** Notes that an error ends several calls: `fromCaller` rejects each with a copy. */
const share = <Shared extends Error>(error: Shared): Shared => {
  if (!shared.has(error)) shared.set(error, error.stack ?? '');
  return error;
};

/** Returns an error with the message and the class of another one. */
const copyOfError = (error: MsmError): MsmError => {
  const { code, message, retryAfterMs } = error;
  const copy = new MsmError(code, message, {
    ...('cause' in error && { cause: error.cause }),
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error));
  return Object.assign(copy, error);
};

/** Returns the frames in a stack, as the JavaScript engine writes them. */
const framesOf = ({ stack = '' }: Error): string[] => stack.split('\n').filter((line) => /^ +at |@/.test(line));

/**
 * Runs a call of the public interface. Errors that are found after the caller's frame has left the
 * stack, in a queue or between submits, get the frames of the call at the end of theirs: otherwise
 * no line of their stack would be the caller's. Taking them costs a few microseconds a call.
 *
 * @throws what `work` throws
 */
export const fromCaller = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const call = new Error();
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MsmError)) throw error;
    const frames = framesOf(call).slice(1);
    const stack = shared.get(error) ?? error.stack ?? '';
    // found before the first wait, or an error of the caller that another call has met
    if (stack.includes(frames[0] ?? '')) throw error;
    // an error of the caller's own code stays the same object
    const traced = shared.has(error) ? copyOfError(error) : error;
    traced.stack = [stack, ...frames].join('\n');
    throw traced;
  }
};

/** Returns a handler for the failed import of a module of the package. */
export const notLoaded =
  (name: string) =>
  (cause: unknown): never => {
    const isServiceWorker = 'ServiceWorkerGlobalScope' in globalThis;
    const remedy = isServiceWorker ? 'service workers need webgpu-msm/service-worker' : 'serve it beside index.js';
    throw new MsmError('internal', `${name}.js of the package could not be loaded; ${remedy}`, { cause });
  };

/** Ends a group of waits at once, whether or not the awaited promises ever settle. */
export class Ending {
  #error: MsmError | null = null;
  readonly #waits = new Set<(error: MsmError) => void>();

  /** Rejects all waits and every later one with `error`. Later calls have no effect. */
  end(error: MsmError): void {
    if (this.#error !== null) return;
    this.#error = share(error);
    for (const reject of [...this.#waits]) reject(error);
  }

  /**
   * Settles as `promise` does, unless `end` is called or `signal` aborts first. Ignores the promise
   * afterwards.
   *
   * @throws MsmError `aborted` by the signal; and the error of `end`
   */
  race<Value>(promise: Promise<Value>, signal?: AbortSignal, what?: string): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      promise.catch(() => undefined);
      assertNotAborted(signal, what);
      if (this.#error !== null) throw this.#error;
      const leave = (): void => {
        this.#waits.delete(fail);
        unsubscribe();
      };
      const fail = (error: unknown): void => {
        leave();
        reject(error);
      };
      const unsubscribe = onAbort(signal, () => fail(abortedBy(signal, what)));
      this.#waits.add(fail);
      promise.then((value) => {
        leave();
        resolve(value);
      }, fail);
    });
  }
}

/**
 * Settles as `promise` does, unless `signal` aborts first. Ignores the promise afterwards. Every
 * wait for code of the caller goes through here, since such code may never settle: sources of
 * files, stores, devices.
 *
 * @throws MsmError `aborted` by the signal
 */
export const untilAborted = <Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  what?: string,
): Promise<Value> => new Ending().race(promise, signal, what);

/** As `untilAborted`, for what has to be destroyed if it opens after the signal has aborted. */
export const openUntilAborted = async <Opened extends { destroy(): void }>(
  opening: Promise<Opened>,
  signal: AbortSignal | undefined,
): Promise<Opened> => {
  try {
    return await untilAborted(opening, signal);
  } catch (error) {
    opening.then(
      (late) => late.destroy(),
      () => undefined,
    );
    throw error;
  }
};
