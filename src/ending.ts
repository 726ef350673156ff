import { abortedBy, assertNotAborted, type MsmError, onAbort, share } from './errors.js';

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
