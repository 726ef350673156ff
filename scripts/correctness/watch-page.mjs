/** Follows a run of the page from outside. */

/** @typedef {import('../../dev/bench/run.js').MsmBench} MsmBench */

const POLL_MS = 250;

/** Nothing happened for too long; the message says what was running. */
export class StalledError extends Error {}

/**
 * @param {import('playwright').Page} page a page that has been opened with `autorun`
 * @param {object} options
 * @param {number} options.stallSeconds
 * @param {(row: MsmBench['rows'][number]) => void} options.onRow
 * @param {(bench: Omit<MsmBench, 'rows'>) => void} options.onProgress
 * @returns {Promise<Omit<MsmBench, 'rows'>>} how the run ended
 */
export async function watchPage(page, { stallSeconds, onRow, onProgress }) {
  let seen = 0;
  let ticks = -1;
  let doing = 'loading the page';
  let movedAt = Date.now();
  /** @type {Error | null} */
  let crash = null;
  page.on('crash', () => {
    crash = new Error(`the page crashed while ${doing}`);
  });
  const stalled = () => new StalledError(`no progress for ${stallSeconds} s while: ${doing}`);
  for (;;) {
    const left = movedAt + stallSeconds * 1000 - Date.now();
    if (left <= 0) throw stalled();
    if (crash !== null) throw crash;
    const state = await Promise.race([page.evaluate(readBench, seen), after(left)]);
    if (state === 'late') throw stalled();
    if (state !== null) {
      const { rows, ...bench } = state;
      if (bench.ticks !== ticks) movedAt = Date.now();
      ticks = bench.ticks;
      doing = bench.doing || doing;
      seen += rows.length;
      for (const row of rows) onRow(row);
      onProgress(bench);
      if (bench.status === 'done' || bench.status === 'failed') return bench;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}

/**
 * Runs in the page.
 *
 * @param {number} from
 * @returns {MsmBench | null} with the rows that are new; null before the page's own program has begun
 */
function readBench(from) {
  const bench = /** @type {MsmBench | undefined} */ (window.msmBench);
  return bench === undefined ? null : { ...bench, rows: bench.rows.slice(from) };
}

/**
 * @param {number} ms
 * @returns {Promise<'late'>}
 */
function after(ms) {
  return new Promise((resolve) => {
    setTimeout(() => resolve('late'), ms).unref();
  });
}
