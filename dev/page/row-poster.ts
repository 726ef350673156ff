import { rowPaths, type StampedRow } from '../bench/rows.js';
import { errorMessage, type RowSink } from '../bench/run.js';

const timeoutMs = 5000;

export type RowPoster = ReturnType<typeof makeRowPoster>;

/**
 * Posts rows to the dev server, one after the other. A page from a static host has no dev server:
 * the first failure ends the posting, and the run goes on.
 */
export function makeRowPoster() {
  /** Reason why posting ended, and the number of result rows that the server has. */
  const state = { failure: null as string | null, posted: 0 };
  let last: Promise<void> = Promise.resolve();

  const send = async (path: (typeof rowPaths)[number], row: StampedRow): Promise<void> => {
    if (state.failure !== null) return;
    try {
      const { ok, status } = await fetch(new URL(path, document.baseURI), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(row),
        signal: AbortSignal.timeout(timeoutMs),
      });
      // every result row is also a progress row, so only results count
      if (ok) state.posted += path === 'results' ? 1 : 0;
      else state.failure = `the server answered ${status}`;
    } catch (error) {
      state.failure = errorMessage(error);
    }
  };
  const sink: RowSink = {
    post(row) {
      for (const path of rowPaths) last = last.then(() => send(path, row));
    },
    flushed: () => last,
  };
  return { state, sink };
}
