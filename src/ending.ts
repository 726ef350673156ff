import { abortedBy, assertNotAborted, type MsmError, onAbort } from './errors.js';

/** Ends everything that waits under it at once, whatever becomes of the promises that are waited for. */
export class Ending {
  #error: MsmError | null = null;
  readonly #waits = new Set<(error: MsmError) => void>();

  /** Rejects all waits, and every later one. The first error counts. */
  end(error: MsmError): void {
    if (this.#error !== null) return;
    this.#error = error;
    for (const reject of [...this.#waits]) reject(error);
  }

  /**
   * Settles as `promise` does, unless this ends or `signal` aborts before. What `promise` comes to afterwards is ignored.
   *
   * @throws MsmError `aborted`, and the error of `end`
   */
  race<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      promise.catch(() => undefined);
      assertNotAborted(signal);
      if (this.#error !== null) throw this.#error;
      const leave = (): void => {
        this.#waits.delete(fail);
        unsubscribe();
      };
      const fail = (error: unknown): void => {
        leave();
        reject(error);
      };
      const unsubscribe = onAbort(signal, () => fail(abortedBy(signal)));
      this.#waits.add(fail);
      promise.then((value) => {
        leave();
        resolve(value);
      }, fail);
    });
  }
}
