/** Decides which calls begin again on the next device when a device is lost. */
import { MsmError, NoAnswerError } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { CallTicket } from '../scheduling/call-queue.js';
import type { CallContext } from './call-context.js';

/** Most devices that may be lost before a call fails that has not begun on any of them. */
const MOST_DEVICES = 3;

/** State of the session that admission looks at. */
export interface Admitting {
  currentRunner(): Runner;
  /** True if another device can take over. */
  mayReplace(): boolean;
}

/**
 * Admits calls to the device. When a device is lost, the first running call fails, because its work
 * may be the cause. The other calls begin again on the next device.
 */
export class Admission {
  readonly #session: Admitting;
  /** The runner whose loss has failed a call. */
  #blamed: Runner | null = null;

  constructor(session: Admitting) {
    this.#session = session;
  }

  /**
   * Does the work of a call.
   *
   * @param elsewhere computes the call without the GPU when that stops answering, and receives the
   * reason; null: nothing can
   */
  async admit<Result>(
    call: CallContext,
    work: (call: CallContext) => Promise<Result>,
    elsewhere: ((why: string) => Promise<Result>) | null,
  ): Promise<Result> {
    for (let left = MOST_DEVICES; ; left--) {
      const [watched, seen] = watch(call);
      try {
        return await work(watched);
      } catch (error) {
        const isSilence = error instanceof NoAnswerError;
        if (isSilence && elsewhere !== null) {
          call.checkpoint();
          return elsewhere(error.message);
        }
        const isLoss = error instanceof MsmError && (error.code === 'device-lost' || seen.wasRefused);
        if (!isLoss || left === 0 || !this.#session.mayReplace()) throw error;
        const runner = this.#session.currentRunner();
        const wasBehind = isSilence && !error.isStuck;
        const isInnocent = wasBehind || (seen.wasRefused && !seen.hasBegun) || this.#blamed === runner;
        if (isInnocent) continue;
        this.#blamed = runner;
        throw error;
      }
    }
  }
}

/** Returns the call with a ticket that notes whether the device began or refused the call. */
const watch = (call: CallContext): [CallContext, { hasBegun: boolean; wasRefused: boolean }] => {
  const seen = { hasBegun: false, wasRefused: false };
  if (call.ticket === undefined) return [call, seen];
  const ticket: CallTicket = {
    ...call.ticket,
    onBegun: () => {
      seen.hasBegun = true;
    },
    onRefused: () => {
      seen.wasRefused = true;
    },
  };
  return [call.withTicket(ticket), seen];
};
