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
  #refused = 0;

  /** Why nothing is posted any more; null while it works. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Rows of the results that the server has. */
  get posted(): number {
    return this.#posted;
  }

  /** Rows that were too large for it. */
  get refused(): number {
    return this.#refused;
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
        if (response.ok) {
          // every row of the results is in the progress as well
          if (path === 'results') this.#posted++;
        } else if (response.status === 413) {
          // too large is this row alone
          this.#refused++;
        } else {
          this.#failure = await reasonOf(response);
        }
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

/** Our server says why in plain text; a static host has a page of its own for what it does not know. */
async function reasonOf(response: Response): Promise<string> {
  const plain = response.headers.get('content-type')?.startsWith('text/plain') === true;
  const words = plain ? (await response.text()).slice(0, 200) : '';
  return `the server answered ${response.status}${words === '' ? '' : ` ${words}`}`;
}
