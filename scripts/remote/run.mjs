/** Runs the page in a remote browser and collects its rows. */
import { adapterLine, isCpu } from '../adapter/adapter-line.mjs';
import { hadNoWebGpu, watchPage } from '../browser/watch-page.mjs';
import { progress, say } from '../command-line.mjs';
import { isWrong } from './report.mjs';

/**
 * @typedef {import('./report.mjs').AnyRow} AnyRow
 * @typedef {import('../adapter/open-gpu.mjs').Adapter} Adapter
 *
 * @typedef {object} RunLog
 * @property {Adapter | null} adapter
 * @property {AnyRow[]} rows
 */

/** The browser has no WebGPU, or an adapter of another kind. */
export class AdapterError extends Error {}

/** A result is wrong, or the page ended the run with an error. */
export class RunFailedError extends Error {}

/**
 * Follows a run to its end.
 *
 * @param {import('playwright').Page} page
 * @param {string} url
 * @param {Pick<import('./options.mjs').Options, 'adapter' | 'firstProgressSeconds' | 'stallSeconds'>} options
 * @param {RunLog} log filled during the run, so that a failed run leaves its rows, too
 * @throws AdapterError, RunFailedError, and the errors of `watchPage`
 */
export async function runRemotely(page, url, { adapter: asked, firstProgressSeconds, stallSeconds }, log) {
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  const end = await watchPage(page, url, {
    firstProgressSeconds,
    stallSeconds,
    onRow: (row) => log.rows.push({ ...row }),
    onProgress({ adapter, doing, done, total }) {
      if (adapter !== null && log.adapter === null) {
        log.adapter = adapter;
        say(`adapter: ${adapterLine(adapter)}`);
        if (asked !== 'any' && (isCpu(adapter) || adapter.software !== (asked === 'software'))) {
          throw new AdapterError(
            `the run asked for a ${asked} adapter, but the browser runs on ${adapterLine(adapter)}`,
          );
        }
      }
      progress(`${done}/${total} ${doing}`);
    },
  }).finally(() => progress(''));

  if (hadNoWebGpu(end)) throw new AdapterError(`the browser has no WebGPU: ${end.error}`);
  if (end.status === 'failed') throw new RunFailedError(`the run failed: ${end.error}`);
  const wrong = log.rows.filter(isWrong).length;
  if (wrong > 0) throw new RunFailedError(`WRONG: ${wrong} ${wrong === 1 ? 'check' : 'checks'} failed`);
}
