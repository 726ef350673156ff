/** Events of queued calls, as `onEvent` receives them. */
import type { EngineEvent } from '../api/sharing.js';
import { MsmError } from '../errors.js';

/** Reports an event of one call. */
export type Notify = (event: EngineEvent['event'], more?: Partial<EngineEvent>) => unknown;

/**
 * Returns a function that reports the events of a call to `onEvent`. Errors of `onEvent` are
 * ignored.
 */
export const notifierOf =
  (
    onEvent: ((event: EngineEvent) => void) | undefined,
    call: Pick<EngineEvent, 'call' | 'kind' | 'priority' | 'bytes'>,
  ): Notify =>
  (event, more = {}) => {
    try {
      const at = performance.now();
      const returned: unknown = onEvent?.({ ...call, ...{ event, at, error: null, ms: null }, ...more });
      // an async function may reject instead of throwing
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {}
  };

/** Returns the code that events give for an error. */
export const codeOf = (error: unknown): NonNullable<EngineEvent['error']> =>
  error instanceof MsmError ? error.code : 'other';
