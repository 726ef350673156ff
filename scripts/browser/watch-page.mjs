/** Opens the page in a browser and follows its run from outside, by `window.msmBench`. */
import { inTime } from '../in-time.mjs';

/**
 * @typedef {import('../../dev/bench/run.js').MsmBench} MsmBench
 * @typedef {Omit<MsmBench, 'rows'>} BenchState
 */

const POLL_MS = 250;

/** Nothing happened for too long; the message says what was running. */
export class StalledError extends Error {}

/** Nothing happened at all. */
export class NoFirstProgressError extends StalledError {}

/** The page could not be opened, or is gone. */
export class PageLostError extends Error {}

/**
 * @param {import('playwright').Page} page
 * @param {string} url with `autorun`
 * @param {object} options
 * @param {number} options.firstProgressSeconds from the opening to the first tick
 * @param {number} options.stallSeconds between two ticks
 * @param {(row: MsmBench['rows'][number]) => void} options.onRow
 * @param {(bench: BenchState) => void} options.onProgress what this throws ends the watching
 * @returns {Promise<BenchState>} how the run ended
 */
export async function watchPage(page, url, { firstProgressSeconds, stallSeconds, onRow, onProgress }) {
  let seen = 0;
  let ticks = 0;
  let runId = '';
  let doing = 'opening the page';
  let deadline = Date.now() + firstProgressSeconds * 1000;

  if (page.isClosed()) throw new PageLostError('the page was closed before it was opened');
  /** @type {Promise<never>} */
  const lost = new Promise((_, reject) => {
    page.once('crash', () => reject(new PageLostError(`the page crashed while: ${doing}`)));
    page.once('close', () => {
      reject(new PageLostError(`the page was closed, or the connection to its browser broke, while: ${doing}`));
    });
  });
  // Nobody waits for it any more when the page is closed in the end.
  lost.catch(() => {});

  const late = () =>
    ticks > 0
      ? new StalledError(`no progress for ${stallSeconds} s while: ${doing}`)
      : new NoFirstProgressError(`no progress within the first ${firstProgressSeconds} s while: ${doing}`);

  /**
   * @template T
   * @param {Promise<T>} step
   * @returns {Promise<T>}
   */
  const watched = async (step) => {
    try {
      return await inTime(Promise.race([step, lost]), deadline - Date.now(), late);
    } catch (error) {
      // A step that the closing of the page ended says so less clearly than the page does.
      if (page.isClosed()) await lost;
      throw error;
    }
  };

  await watched(open(page, url));
  doing = 'waiting for the page’s program';
  for (;;) {
    const state = await watched(page.evaluate(readBench, seen).catch(nothingWhileItNavigates));
    if (state !== null) {
      const { rows, ...bench } = state;
      if (runId !== '' && bench.runId !== runId) throw new PageLostError(`the page was loaded anew while: ${doing}`);
      runId = bench.runId;
      if (bench.ticks > ticks) deadline = Date.now() + stallSeconds * 1000;
      ticks = bench.ticks;
      doing = bench.doing || doing;
      seen += rows.length;
      for (const row of rows) onRow(row);
      onProgress(bench);
      if (bench.status === 'done' || bench.status === 'failed') return bench;
    }
    if (Date.now() >= deadline) throw late();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** @param {BenchState} bench of a run that has ended */
export const hadNoWebGpu = ({ adapter, error }) =>
  adapter === null && /^(no-webgpu|unsupported-device):/.test(error ?? '');

/**
 * @param {import('playwright').Page} page
 * @param {string} url
 */
async function open(page, url) {
  /** @type {import('playwright').Response | null} */
  let response;
  try {
    response = await page.goto(url, { timeout: 0 });
  } catch (error) {
    const [reason = ''] = /** @type {Error} */ (error).message.split('\n');
    throw new PageLostError(`the browser cannot open the page: ${reason.replace(/^page\.goto: /, '')}`);
  }
  if (response !== null && !response.ok()) {
    throw new PageLostError(`${url} was answered with ${response.status()} ${response.statusText()}`.trimEnd());
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
 * A host may send the browser on to another address; whether that was one, the page's next run id tells.
 *
 * @param {Error} error
 */
function nothingWhileItNavigates(error) {
  if (error.message.includes('Execution context was destroyed')) return null;
  throw error;
}
