import type { Browser, Page } from 'playwright';
import type { ViteDevServer } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MsmBench } from '../dev/page/run.js';
import { launchChromium } from '../scripts/browser/launch.mjs';
import { startDevServer } from '../scripts/dev-server.mjs';

let server: ViteDevServer;
let url: string;
let browser: Browser;
let page: Page;
let pageErrors: string[];
let posted: { path: string; row: Record<string, unknown> }[];

beforeAll(async () => {
  ({ server, url } = await startDevServer());
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

beforeEach(async () => {
  page = await browser.newPage();
  pageErrors = [];
  posted = [];
  page.on('pageerror', (error) => pageErrors.push(error.message));
  // The rows stay out of dev/results/: tests are no results.
  await page.route(/\/(progress|results)$/, async (route) => {
    const request = route.request();
    posted.push({ path: new URL(request.url()).pathname, row: request.postDataJSON() });
    await route.fulfill({ status: 204 });
  });
});

afterEach(async () => {
  await page.close();
  expect(pageErrors).toEqual([]);
});

const bench = (): Promise<MsmBench> => page.evaluate(() => window.msmBench);

async function run(query: string): Promise<MsmBench> {
  await page.goto(`${url}?${query}`);
  await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench?.status), undefined, {
    timeout: 60_000,
  });
  return bench();
}

describe('the dev page in Chromium', () => {
  it('explains itself and starts nothing without parameters', async () => {
    await page.addInitScript(() => {
      GPU.prototype.requestAdapter = () => {
        throw new Error('the GPU was started');
      };
    });
    await page.goto(url);
    await page.getByRole('heading', { name: 'What this is' }).waitFor();
    expect(await bench()).toMatchObject({ status: 'idle', rows: [], adapter: null, lastWallMs: null, error: null });
    expect(posted).toEqual([]);
  });

  it('times an MSM, tells its rows under one id, and shows the median', async () => {
    const { status, error, runId, adapter, rows, lastWallMs } = await run('autorun=msm-bench&logn=6&reps=3');
    expect({ status, error }).toEqual({ status: 'done', error: null });
    expect(adapter?.software).toBe(true);
    expect(lastWallMs).toBeGreaterThan(0);
    expect(rows.map(({ event }) => event)).toEqual([
      'init',
      'warm-up',
      'repetition',
      'repetition',
      'repetition',
      'end',
    ]);
    expect(new Set(rows.map((row) => row.runId))).toEqual(new Set([runId]));
    expect(posted.filter(({ path }) => path === '/progress').map(({ row }) => row)).toEqual(rows);
    expect(posted.filter(({ path }) => path === '/results').map(({ row }) => row.event)).toEqual([
      'init',
      'repetition',
      'repetition',
      'repetition',
      'end',
    ]);
    await page.getByRole('rowheader', { name: 'median' }).waitFor();
    await page.getByText('software', { exact: true }).waitFor();
  });

  it('measures the field, and shows how its operations stand to each other', async () => {
    const { status, error, rows } = await run('autorun=field-bench&chains=1&reps=1');
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const rates = rows.flatMap((row) => (row.event === 'field' ? [`${row.operation}, ${row.variant}`] : []));
    expect(rates).toContain('product, 13-bit, plain');
    expect(rates).toContain('inverse, 14-bit signed, float');
    for (const name of rates) await page.getByRole('rowheader', { name, exact: true }).waitFor();
    await page.getByRole('rowheader', { name: 'u32 multiply-add' }).waitFor();
  });

  it('stops in the middle of measuring the field', async () => {
    await page.goto(`${url}?autorun=field-bench&reps=100`);
    await page.waitForFunction(() => window.msmBench?.done > 0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction(() => window.msmBench.status === 'failed');
    expect(await bench()).toMatchObject({ error: 'stopped by you' });
  });

  it('checks a case with both placements of the scratch', async () => {
    const { status, error, rows } = await run('autorun=msm-cross-check&n=65&points=pairs&scalars=all-equal&reps=2');
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const verdict = { runs: 2, agrees: true, onCurve: true, identical: true, error: null };
    expect(rows.filter(({ event }) => event === 'case')).toMatchObject([
      { placement: 'workgroup', ...verdict },
      { placement: 'private', ...verdict },
    ]);
  });

  it.each([
    ['autorun=msm-bench&walkerprv=1', 'walkerprv'],
    ['autorun=msm-bench&c=99', 'c: "99"'],
    ['autorun=msm-bench&fieldcarry=hand', 'fieldcarry: "hand"'],
    ['autorun=field-bench&chains=0', 'chains: "0"'],
    ['scalars=rnd', 'rnd'],
  ])('refuses the bad knob of ?%s by name', async (query, named) => {
    const { status, error, rows } = await run(query);
    expect(status).toBe('failed');
    expect(error).toContain(named);
    expect(rows).toEqual([]);
    expect(await page.getByRole('alert').textContent()).toContain(named);
  });

  it('goes on when nobody takes its rows', async () => {
    await page.route(/\/(progress|results)$/, (route) => route.fulfill({ status: 404 }));
    const { status } = await run('autorun=msm-bench&logn=4&reps=1');
    expect(status).toBe('done');
    await page.getByText('No dev server took the rows').waitFor();
  });

  it('can be stopped', async () => {
    await page.goto(`${url}?autorun=msm-bench&logn=8&reps=1000`);
    await page.waitForFunction(() => window.msmBench?.rows.length > 3);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction(() => window.msmBench.status === 'failed');
    expect((await bench()).error).toContain('stopped');
  });

  it('writes the knobs of its form into the URL', async () => {
    await page.goto(url);
    await page.getByLabel('Sizes, log₂ n').fill('4');
    await page.getByLabel('Repetitions').fill('1');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForFunction(() => window.msmBench?.status === 'done');
    expect(new URL(page.url()).search).toBe('?autorun=msm-bench&logn=4&reps=1');
  });
});
