/** Opens the bench page in a browser and follows its run by reading `window.msmBench`. */
import type { Page, Response } from 'playwright';
import type { MsmBench } from '../../dev/bench/run.js';
import { CommandError } from '../command-line.js';

type BenchState = Omit<MsmBench, 'rows'>;

interface Watch {
  /** The most time between two ticks, and before the first one. */
  readonly stallSeconds: number;
  onRow(row: MsmBench['rows'][number]): void;
  /** An error that it throws ends the watching. */
  onProgress(bench: BenchState): void;
}

const POLL_MS = 250;

/** Makes the error of a page that could not be opened, crashed, or was closed. */
const pageLost = (message: string) =>
  new CommandError(
    7,
    message,
    'Check that the browser still runs and that the device has memory for this size. Farms also end long sessions.',
  );

/**
 * Opens the page and polls its run until the run ends.
 *
 * @param url the page's address with `autorun`
 * @returns the state at the end of the run
 * @throws CommandError 4 stalled, 7 page lost
 */
export async function watchPage(
  page: Page,
  url: string,
  { stallSeconds, onRow, onProgress }: Watch,
): Promise<BenchState> {
  let seen = 0;
  let ticks = 0;
  let runId = '';
  let doing = 'opening the page';
  let deadline = Date.now() + stallSeconds * 1000;

  if (page.isClosed()) throw pageLost('the page was closed before it was opened');
  const lost: Promise<never> = new Promise((_, reject) => {
    page.once('crash', () => reject(pageLost(`the page crashed while: ${doing}`)));
    page.once('close', () => {
      reject(pageLost(`the page was closed, or the connection to its browser broke, while: ${doing}`));
    });
  });
  // the caller closes the page after the run, and then no promise is waiting for `lost`
  lost.catch(() => {});

  const late = () =>
    new CommandError(
      4,
      `no progress for ${stallSeconds} s while: ${doing}`,
      'On a slow device, raise --stall or use a smaller size. Otherwise its GPU or its tab hangs, or this is no bench page.',
    );

  const watched = async <T>(step: Promise<T>): Promise<T> => {
    try {
      return await inTime(Promise.race([step, lost]), deadline - Date.now(), late);
    } catch (error) {
      // where the page was closed, the error of `lost` is clearer than that of the step
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
      if (runId !== '' && bench.runId !== runId) throw pageLost(`the page was loaded anew while: ${doing}`);
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

/**
 * Settles as a step does, or rejects when the time is over.
 *
 * @param late makes the error that names the late step
 */
export async function inTime<T>(step: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout: Promise<never> = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([step, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns whether a run ended because of missing WebGPU. @param bench its state at the end */
export const hadNoWebGpu = ({ adapter, error }: BenchState) =>
  adapter === null && /^(no-webgpu|unsupported-device):/.test(error ?? '');

/** Opens the address. @throws CommandError */
async function open(page: Page, url: string) {
  let response: Response | null;
  try {
    response = await page.goto(url, { timeout: 0 });
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw pageLost(`the browser cannot open the page: ${reason.replace(/^page\.goto: /, '')}`);
  }
  if (response !== null && !response.ok()) {
    throw pageLost(`${url} was answered with ${response.status()} ${response.statusText()}`.trimEnd());
  }
}

/**
 * Returns the state of the run with its new rows. This function runs in the page.
 *
 * @param from index of the first new row
 * @returns null before the page's program has started
 */
function readBench(from: number): MsmBench | null {
  const bench = window.msmBench as MsmBench | undefined;
  return bench === undefined ? null : { ...bench, rows: bench.rows.slice(from) };
}

/**
 * Ignores the error that a navigation causes: a host may redirect the browser. A reload during a
 * run is found by the page's next run id.
 */
function nothingWhileItNavigates(error: Error) {
  if (error.message.includes('Execution context was destroyed')) return null;
  throw error;
}
