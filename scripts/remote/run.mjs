/** One run of the page in a far browser, and what it told. */
import { adapterLine, isCpu } from '../adapter/adapter-line.mjs';
import { hadNoWebGpu, watchPage } from '../browser/watch-page.mjs';
import { progress, say } from '../command-line.mjs';
import { isWrong } from './report.mjs';

/**
 * @typedef {import('./report.mjs').AnyRow} AnyRow
 * @typedef {import('../adapter/open-gpu.mjs').Adapter} Adapter
 *
 * @typedef {object} Told
 * @property {Adapter | null} adapter
 * @property {AnyRow[]} rows
 */

/** No WebGPU, or another adapter than the one asked for. */
export class AdapterError extends Error {}

/** A wrong result, or the page gave up. */
export class RunFailedError extends Error {}

/**
 * @param {import('playwright').Page} page
 * @param {string} url
 * @param {Pick<import('./options.mjs').Options, 'adapter' | 'firstProgressSeconds' | 'stallSeconds'>} options
 * @param {Told} told is filled as the run goes on, so that it is there too when the run breaks off
 */
export async function runRemotely(page, url, { adapter: asked, firstProgressSeconds, stallSeconds }, told) {
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  const end = await watchPage(page, url, {
    firstProgressSeconds,
    stallSeconds,
    onRow: (row) => told.rows.push({ ...row }),
    onProgress({ adapter, doing, done, total }) {
      if (adapter !== null && told.adapter === null) {
        told.adapter = adapter;
        say(`adapter: ${adapterLine(adapter)}`);
        if (asked !== 'any' && (isCpu(adapter) || adapter.software !== (asked === 'software'))) {
          throw new AdapterError(`asked for a ${asked} adapter, and the browser runs on ${adapterLine(adapter)}`);
        }
      }
      progress(`${done}/${total} ${doing}`);
    },
  }).finally(() => progress(''));

  if (hadNoWebGpu(end)) throw new AdapterError(`the browser has no WebGPU: ${end.error}`);
  if (end.status === 'failed') throw new RunFailedError(`the run failed: ${end.error}`);
  const wrong = told.rows.filter(isWrong).length;
  if (wrong > 0) throw new RunFailedError(`WRONG: ${wrong} ${wrong === 1 ? 'check' : 'checks'} failed`);
}
