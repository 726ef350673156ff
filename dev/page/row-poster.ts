import type { RowPath, StampedRow } from '../bench/rows.js';
import type { RowSink } from '../bench/run.js';

const timeoutMs = 5000;

/**
 * Posts rows to the dev server, one after the other. A page that was opened from a static host has nobody to post
 * to: the first failure ends the posting, and the run goes on.
 */
export class RowPoster implements RowSink {
  #last: Promise<void> = Promise.resolve();
  #failure: string | null = null;
  #posted = 0;

  /** Why nothing is posted any more; null while it works. */
  get failure(): string | null {
    return this.#failure;
  }

  get posted(): number {
    return this.#posted;
  }

  post(path: RowPath, row: StampedRow): void {
    this.#last = this.#last.then(async () => {
      if (this.#failure !== null) return;
      try {
        const response = await fetch(new URL(path, document.baseURI), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(row),
          signal: AbortSignal.timeout(timeoutMs),
        });
        if (response.ok) this.#posted++;
        else this.#failure = `the server answered ${response.status} ${(await response.text()).slice(0, 200)}`.trim();
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : String(error);
      }
    });
  }

  /** Resolves when every row so far was sent or given up. */
  flushed(): Promise<void> {
    return this.#last;
  }
}
