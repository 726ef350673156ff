import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatMs } from '../../dev/bench/format.js';
import type { MsmBench } from '../../dev/bench/run.js';
import { encodingsOf } from '../../dev/oracle/encodings.js';
import { launchChromium } from '../../scripts/browser/launch.js';
import { changeModule, type ServedPage, servePage } from '../support/built-page.js';

let served: ServedPage;
let url: string;
let browser: Browser;
let page: Page;
let pageErrors: string[];
let posted: { path: string; row: Record<string, unknown> }[];

beforeAll(async () => {
  served = await servePage();
  ({ url } = served);
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await served?.close();
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

async function run(query: string, timeout = 60_000): Promise<MsmBench> {
  await page.goto(`${url}?${query}`);
  await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench?.status), undefined, { timeout });
  return bench();
}

/** Knobs of kernels that compile faster, where a test is not about kernels. */
const quick = 'fieldproduct=unsigned&walkers=4&walkertpb=8';

const sumOf = (parts: readonly { readonly ms: number }[] | null | undefined): number =>
  (parts ?? []).reduce((sum, { ms }) => sum + ms, 0);

/** The oracle disagrees with everything from this look on. */
const wrongFrom = (look: number) =>
  changeModule(
    page,
    'function samePoint(a, b) {',
    `let looks = 0;\nfunction samePoint(a, b) {\n  if (++looks >= ${look}) return false;`,
  );

/** Makes the page keep its devices, in the order in which it asked for them. */
const keepDevices = () =>
  page.addInitScript(() => {
    const { requestDevice } = GPUAdapter.prototype;
    Object.assign(window, { devices: [] });
    GPUAdapter.prototype.requestDevice = async function (...args) {
      const device = await requestDevice.apply(this, args);
      (window as unknown as { devices: GPUDevice[] }).devices.push(device);
      return device;
    };
  });

const loseDevice = (index: number): Promise<void> =>
  page.evaluate((i) => (window as unknown as { devices: GPUDevice[] }).devices[i]?.destroy(), index);

describe('the dev page in Chromium', () => {
  it('explains itself and starts nothing without parameters', async () => {
    await page.addInitScript(() => {
      // whether there is an adapter is asked, as the page says so where there is none
      GPUAdapter.prototype.requestDevice = () => {
        throw new Error('the GPU was started');
      };
    });
    await page.goto(url);
    await page.getByRole('heading', { name: 'About this page' }).waitFor();
    expect(await bench()).toMatchObject({ status: 'idle', rows: [], adapter: null, lastWallMs: null, error: null });
    expect(posted).toEqual([]);
    await page.getByText('brings the points of a bucket together').waitFor();
    const link = page.getByRole('link', { name: 'How fast is it?' });
    expect(await link.getAttribute('href')).toBe('?autorun=msm-bench&logn=10,12,14');
    // the questions come first, and the form is folded
    expect(await page.locator('main h2').first().textContent()).toBe('What would you like to know?');
    expect(await page.locator('form').isVisible()).toBe(false);
    await page.getByText('Advanced: choose every knob of a run').click();
    for (const mode of ['msm-bench', 'sweep'] as const) {
      await page.getByLabel('What to run').selectOption(mode);
      const reps = { 'msm-bench': '5', sweep: '7' }[mode];
      expect(await page.locator('form [name="reps"]').getAttribute('placeholder')).toBe(reps);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    // exponents are set as such
    expect(await page.locator('main').textContent()).not.toMatch(/\d\^/);
  });

  it('times an MSM, shows its rows under one id, the median, the adapter and the browser', async () => {
    const query = 'autorun=msm-bench&logn=6&reps=3&seed=7';
    const { status, error, runId, adapter, rows, lastWallMs } = await run(query);
    expect({ status, error }).toEqual({ status: 'done', error: null });
    expect(adapter?.software).toBe(true);
    expect(lastWallMs).toBeGreaterThan(0);
    expect(rows.map(({ event }) => event)).toEqual([
      'init',
      'warm-up',
      'repetition',
      'peer',
      'repetition',
      'peer',
      'repetition',
      'peer',
      'bound',
      'end',
    ]);
    expect(new Set(rows.map((row) => row.runId))).toEqual(new Set([runId]));
    expect(posted.filter(({ path }) => path === '/progress').map(({ row }) => row)).toEqual(rows);
    expect(posted.filter(({ path }) => path === '/results').map(({ row }) => row)).toEqual(rows);
    await page.getByRole('columnheader', { name: 'Median, ms' }).waitFor();
    await page.getByText(/takes [\d.]+ ms: too few repetitions to compare it with noble on the CPU/).waitFor();
    // amber: that it is software is no error
    const adapterLine = page.locator('.caution', { hasText: 'swiftshader' });
    expect(await adapterLine.getByText('software', { exact: true }).isVisible()).toBe(true);
    expect(await page.locator('.alert:visible').count()).toBe(0);
    // one size makes no line: it stands beside noble and the hardware limit
    await page.getByRole('figure', { name: 'Total time compared' }).waitFor();
    expect(await page.getByRole('figure', { name: 'Total time by number of points' }).isVisible()).toBe(false);
    // its figures, large, are the median's
    const own = rows.filter((row) => row.event === 'repetition').toSorted((a, b) => (a.wallMs ?? 0) - (b.wallMs ?? 0));
    const middle = own[1]?.wallMs as number;
    const wall = page.locator('.tiles > div', { has: page.getByText('Total time', { exact: true }) });
    expect(await wall.locator('dd').first().textContent()).toBe(`${formatMs(middle)} ms`);
    for (const label of ['GPU time', 'Share of the hardware limit'])
      expect(await page.locator('.tiles dt', { hasText: label }).count()).toBe(1);
    // three repetitions tell no factor
    expect(await page.locator('.tiles dt', { hasText: 'er than noble' }).count()).toBe(0);
    // and where its time goes is that of the repetition in the middle: the parts add up to its wall
    const shares = page.getByRole('figure', { name: 'Breakdown of the total time' });
    const all = await shares.locator('.chart-numbers tbody tr').last().locator('td').textContent();
    expect(all).toBe(`${formatMs(Math.max(middle, sumOf(own[1]?.phases)))} ms`);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (button: string): Promise<string> => {
      await page.getByRole('region', { name: 'Benchmark' }).getByRole('button', { name: button }).click();
      await page.getByText('Copied.').first().waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('Copy the link')).toBe(`${url}?${query}`);
    const markdown = (await copied('Copy as Markdown')).split('\n');
    expect(markdown[0]).toBe('### Benchmark');
    expect(markdown).toContain(`<${url}?${query}>`);
    expect(markdown).toContain(`- Total time: **${formatMs(middle)} ms** (median of 3)`);
    const heads = markdown.findIndex((line) => line.startsWith('| n | Result | Median, ms |'));
    expect(markdown[heads + 1]).toMatch(/^\| --- \|( ---: \|)+$/);
    expect(markdown[heads + 2]).toContain(`| 2⁶ | ✓ correct | ${formatMs(middle)} |`);
    // a column for each head, in every line
    for (const line of markdown.slice(heads, heads + 3)) expect(line.split('|')).toHaveLength(10);

    const [init] = rows.filter((row) => row.event === 'init');
    expect(init).toMatchObject({ mode: 'msm-bench', seed: 7, settings: ['defaults'], query });
    const { environment } = init as NonNullable<typeof init>;
    expect(environment.runtime).toMatch(/^Chrome \d+/);
    expect(environment.limits.maxStorageBufferBindingSize).toBeGreaterThanOrEqual(2 ** 27);
    expect(environment.features.length).toBeGreaterThan(0);
    expect(environment.commit).toMatch(/^[0-9a-f]{7,}/);
    expect(environment.timestamps).toBe(true);
    expect(environment.timestampQuantumNs).toBeGreaterThan(0);
    await page.getByText('timestamps tick in steps of').waitFor();
    await page.getByText('Environment, features and limits').click();
    await page.getByRole('rowheader', { name: 'maxStorageBufferBindingSize' }).waitFor();
  });

  it('says that there is no limit where the measured rate is exceeded, and has what it cannot copy to be copied by hand', {
    tags: 'long',
  }, async () => {
    await changeModule(page, '1e3 * products', '1e9 * products');
    await run(`autorun=msm-bench&logn=4&reps=1&peers=none&${quick}`);
    await page.getByText('No hardware limit at 2⁴: the MSM took less time than its products alone').waitFor();
    expect(await page.getByRole('cell', { name: 'no limit' }).count()).toBe(1);
    expect(await page.getByText(/\d{3,} % /).count()).toBe(0);
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('not here'));
    });
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    expect(await page.locator('.buttons textarea').inputValue()).toContain('| 2⁴ | ✓ correct |');
  });

  it('shows activity while the time left is unknown', { tags: 'long' }, async () => {
    // its kernels take longer than a second to compile
    await page.goto(`${url}?autorun=msm-bench&logn=10&reps=2&peers=none`);
    await page.waitForFunction(() => window.msmBench?.doing.includes('warming up'));
    const bar = page.getByRole('progressbar');
    // seconds tick, and the bar has no value, so that it moves
    await page.getByText(/… \([1-9]\d* s\)/).waitFor();
    expect(await bar.evaluate((progress) => (progress as HTMLProgressElement).position)).toBe(-1);
    expect((await bench()).secondsLeft).toBeNull();
    await page.waitForFunction(() => window.msmBench.rows.some(({ event }) => event === 'repetition'));
    await page.waitForFunction(
      () => (document.querySelector('progress')?.position ?? -1) > 0 || window.msmBench.status === 'done',
    );
    await page.waitForFunction(() => window.msmBench.status === 'done');
  });

  it('traces the passes of an MSM, and offers a file for Perfetto', { tags: 'long' }, async () => {
    const { status, error, rows } = await run(`autorun=msm-trace&logn=6&reps=2&${quick}`);
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const traces = rows.filter((row) => row.event === 'trace');
    expect(traces).toHaveLength(2);
    for (const { timeline, phases, hostTimes, wallMs } of traces) {
      const passes = timeline?.map(({ name }) => name) ?? [];
      for (const pass of ['decompose', 'sort', 'walk', 'reduce']) expect(passes).toContain(pass);
      const walk = timeline?.filter(({ name }) => name === 'walk').reduce((sum, { ms }) => sum + ms, 0);
      expect(phases?.find(({ name }) => name === 'walk')?.ms).toBeCloseTo(walk ?? 0, 6);
      const { encodeMs, submitToResultMs, readBackMs } = hostTimes as NonNullable<typeof hostTimes>;
      expect(encodeMs + submitToResultMs + readBackMs).toBeLessThanOrEqual((wallMs as number) + 1);
    }
    await page.getByRole('figure', { name: 'One MSM, from the call to the result' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download trace' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/\.trace\.json$/);
    const { traceEvents } = JSON.parse(await readFile(await file.path(), 'utf8')) as { traceEvents: { ph: string }[] };
    expect(traceEvents.filter(({ ph }) => ph === 'X').length).toBeGreaterThan(12);
  });

  it('compares two settings in turns, and shows the confidence', { tags: 'long' }, async () => {
    const { status, error, rows } = await run(`autorun=accum-ab&logn=4&reps=6&a.walkerpriv=1&b.walkerpriv=0&${quick}`);
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const told = rows.filter((row) => row.event === 'repetition');
    // in turns, and so is who begins
    expect(told.map(({ setting }) => setting).join('')).toBe('ABBAABBAABBA');
    for (const { setting, placement } of told) expect(placement).toBe(setting === 'A' ? 'private' : 'workgroup');
    const [comparison] = rows.filter((row) => row.event === 'comparison');
    const others = 'walkertpb=8, walkers=4, fieldproduct=unsigned';
    expect(comparison).toMatchObject({ a: `walkerpriv=1, ${others}`, b: `walkerpriv=0, ${others}`, pairs: 6 });
    const { low, ratio, high } = (comparison as NonNullable<typeof comparison>).wallTimes;
    expect(low).toBeLessThanOrEqual(ratio);
    expect(ratio).toBeLessThanOrEqual(high);
    await page.getByRole('figure', { name: 'Distribution of the total times' }).waitFor();
    // one verdict, and what it rests on
    const verdict = page.locator('.headline');
    await verdict.getByText(/\(B\/A [\d.]+, 95 % CI [\d.]+ to [\d.]+\)\.$/).waitFor();
    expect(await verdict.count()).toBe(1);
    expect(await verdict.textContent()).toMatch(
      /^[AB] \(walkerpriv=[01], walkertpb=8, .*\) is [\d.]+ × faster|^No significant difference/,
    );
  });

  it('sweeps a knob over a list, in turns', { tags: 'long' }, async () => {
    const { status, error, rows } = await run(
      'autorun=sweep&logn=4&reps=2&walkertpb=8,16&fieldproduct=unsigned&walkers=4',
    );
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const told = rows.filter((row) => row.event === 'repetition');
    const settings = [8, 16, 16, 8].map((threads) => `walkertpb=${threads}, walkers=4, fieldproduct=unsigned`);
    expect(told.map(({ setting }) => setting)).toEqual(settings);
    const used = rows.flatMap((row) => (row.event === 'warm-up' ? [row.tuning?.walkerThreadsPerWorkgroup] : []));
    expect(used).toEqual([8, 16]);
    // two repetitions say nothing of which is faster, and the page does not either
    await page.getByText('too few repetitions for a verdict').waitFor();
    expect(await page.getByText('fastest', { exact: true }).count()).toBe(0);
  });

  it('shows limits that a device lacks, and calls that the CPU computed', { tags: 'long' }, async () => {
    const clamped = await run(
      'autorun=sweep&logn=4&reps=1&walkerpriv=0&walkers=32&walkertpb=16,256&fieldproduct=unsigned',
    );
    expect(clamped.rows.flatMap((row) => (row.event === 'warm-up' ? row.clamped : []))).toEqual([
      expect.stringMatching(/^walkertpb: 256 asked, \d+ used$/),
    ]);
    await page.getByText('This device limits some knobs').waitFor();
    const { rows } = await run(`autorun=msm-bench&logn=4&reps=1&cpubelow=100&peers=none&${quick}`);
    expect(rows.filter((row) => row.event === 'repetition')).toMatchObject([{ on: 'cpu', gpuMs: null }]);
    expect(rows.some(({ event }) => event === 'bound')).toBe(false);
    await page.getByText('Computed on the CPU').waitFor();
  });

  it('calibrates, and offers the result as a link', { tags: 'long' }, async () => {
    const { status, error, rows } = await run('autorun=calibrate', 100_000);
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const trials = rows.filter((row) => row.event === 'trial');
    expect(trials.length).toBeGreaterThan(8);
    // null if a sum was wrong
    for (const { ms } of trials) expect(ms).toBeGreaterThan(0);
    expect(rows.filter(({ event }) => event === 'calibrated')).toHaveLength(1);
    await page.getByRole('link', { name: 'the benchmark with it' }).waitFor();
    // each setting stands beside the defaults of its own turns
    for (const name of ['Defaults in these rounds, ms', '÷ defaults', '95 % CI'])
      await page.getByRole('columnheader', { name }).waitFor();
  });

  it('shows a wrong answer as wrong, without a time', { tags: 'long' }, async () => {
    // two looks at each of two warm-ups (noble adds up small ones itself), and one at each
    // repetition
    await wrongFrom(7);
    const { status, error, rows } = await run(`autorun=msm-bench&logn=4&reps=3&peers=none&${quick}`);
    expect(status).toBe('failed');
    expect(error).toContain('wrong result');
    const told = rows.filter((row) => row.event === 'repetition');
    expect(told.at(-1)).toMatchObject({
      agrees: false,
      wallMs: null,
      gpuMs: null,
      phases: null,
    });
    await page.getByText('✗ wrong').first().waitFor();
    // not that of the repetitions before it either
    await page.getByText('no times are reported').waitFor();
    expect(rows.at(-1)).toMatchObject({ event: 'end', status: 'failed' });
  });

  it('shows no verdict and no time where A or B was wrong', { tags: 'long' }, async () => {
    // two looks at each of four warm-ups, and one a repetition; who begins changes, so that the
    // 14th look is B's third
    await wrongFrom(14);
    const { status, error, rows } = await run(`autorun=accum-ab&logn=4&reps=8&b.c=6&${quick}`);
    expect({ status, error }).toEqual({
      status: 'failed',
      error: expect.stringMatching(/^wrong result at .*, B, repetition 3: /),
    });
    expect(rows.filter((row) => row.event === 'comparison')).toEqual([]);
    expect(rows.at(-2)).toMatchObject({ event: 'repetition', setting: 'B', agrees: false, wallMs: null, phases: null });
    await page.getByText('no times are reported').first().waitFor();
    expect(await page.getByRole('figure', { name: 'Distribution of the total times' }).isVisible()).toBe(false);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download JSON' }).click(),
    ]);
    const kept = JSON.parse(await readFile(await file.path(), 'utf8')) as typeof rows;
    for (const row of kept) if (row.event === 'repetition' && row.setting === 'B') expect(row.wallMs).toBeNull();
  });

  it('reports times of the host’s clock if the adapter has no timestamps', { tags: 'long' }, async () => {
    await page.addInitScript(() => {
      Object.defineProperty(GPUAdapter.prototype, 'features', { get: () => new Set() });
    });
    const { status, rows } = await run(`autorun=msm-trace&logn=4&reps=1&${quick}`);
    expect(status).toBe('done');
    const [told] = rows.filter((row) => row.event === 'trace');
    expect(told).toMatchObject({ timeline: null, phases: null, gpuMs: null });
    expect(told?.hostTimes?.submitToResultMs).toBeGreaterThan(0);
    await page.getByText('no timestamps: total times only').waitFor();
    await page.getByText('Breakdown by the clock of the host', { exact: true }).click();
    for (const name of ['encode', 'submit to result', 'read back, combine windows']) {
      await page.getByRole('rowheader', { name, exact: true }).first().waitFor();
    }
  });

  it('reports the loss of the device, keeps measured rows, and starts again', { tags: 'long' }, async () => {
    await keepDevices();
    await page.goto(`${url}?autorun=msm-bench&logn=4&reps=1000&peers=none&${quick}`);
    await page.waitForFunction(() => window.msmBench?.rows.length > 3);
    const before = (await bench()).runId;
    await loseDevice(0);
    await page.waitForFunction(() => window.msmBench.status === 'failed');
    const { error, deviceLost, rows } = await bench();
    expect(error).toContain('device-lost');
    expect(deviceLost).toBe(true);
    expect(rows.some(({ event }) => event === 'repetition')).toBe(true);
    expect(await page.getByRole('alert').textContent()).toContain('device-lost');
    await page.getByRole('button', { name: 'Download JSON' }).waitFor();
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForFunction((runId) => window.msmBench?.runId !== runId && window.msmBench?.rows.length > 3, before);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction(() => window.msmBench.status === 'failed');
  });

  it.each([
    ['field-bench&chains=1&reps=60', 0, 'repetition'],
    // the one that the products of the roofline are measured on
    [`msm-bench&logn=4&reps=1000&peers=none&${quick}`, 1, 'repetition'],
    [`accum-ab&logn=4&reps=1000&b.c=6&${quick}`, 0, 'repetition'],
  ])('gives no results where ?autorun=%s loses device %i', { tags: 'long' }, async (query, index, doing) => {
    await keepDevices();
    await page.goto(`${url}?autorun=${query}`);
    await page.waitForFunction((what) => window.msmBench?.doing.includes(what), doing);
    await loseDevice(index);
    await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench.status));
    const { status, deviceLost, rows } = await bench();
    expect({ status, deviceLost }).toEqual({ status: 'failed', deviceLost: true });
    for (const event of ['field', 'peak', 'bound', 'comparison']) {
      expect(rows.filter((row) => row.event === event)).toEqual([]);
    }
    await page.getByText('The GPU device was lost: the browser or the driver reset it').waitFor();
  });

  it('measures the field, and compares its operations', { tags: 'long' }, async () => {
    const { status, error, rows } = await run('autorun=field-bench&chains=1&reps=1');
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const rates = rows.flatMap((row) => (row.event === 'field' ? [`${row.operation}, ${row.variant}`] : []));
    expect(rates).toContain('product, 13-bit, plain');
    expect(rates).toContain('inverse, words, unsigned');
    for (const name of rates) await page.getByRole('rowheader', { name, exact: true }).waitFor();
    await page.getByRole('rowheader', { name: 'u32 multiply-add' }).waitFor();
  });

  it('stops during a measurement of the field', { tags: 'long' }, async () => {
    await page.goto(`${url}?autorun=field-bench&reps=100`);
    await page.waitForFunction(() => window.msmBench?.done > 0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction(() => window.msmBench.status === 'failed');
    expect(await bench()).toMatchObject({ error: 'stopped by you' });
  });

  it('checks a case with both placements of the scratch', { tags: 'long' }, async () => {
    const { status, error, rows } = await run(
      `autorun=msm-cross-check&n=65&points=pairs&scalars=all-equal&reps=2&${quick}`,
    );
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const verdict = { runs: 2, agrees: true, onCurve: true, identical: true, error: null };
    expect(rows.filter(({ event }) => event === 'case')).toMatchObject([
      { placement: 'workgroup', ...verdict },
      { placement: 'private', ...verdict },
    ]);
  });

  it('rejects all bad knobs of a URL at once, by name, and keeps them in the form', async () => {
    const { status, error, rows } = await run(
      'autorun=msm-bench&logn=4&walkerprv=1&c=99&fieldproduct=hand&scalars=rnd&walkertpb=32,64',
    );
    expect({ status, rows }).toEqual({ status: 'failed', rows: [] });
    const named = ['walkerprv: no such knob; did you mean walkerpriv?', 'c: "99"', 'fieldproduct: "hand"', '"rnd"'];
    const items = await page.getByRole('alert').getByRole('listitem').allTextContents();
    expect(items).toHaveLength(5);
    for (const each of [...named, 'walkertpb: "32,64" is a list']) {
      expect(error).toContain(each);
      expect(items.join('\n')).toContain(each);
    }
    // what was right stays in the form, and what was wrong is there to be repaired
    const control = (name: string) => page.locator(`form [name="${name}"]:not(:disabled)`);
    expect(await control('c').inputValue()).toBe('99');
    expect(await control('logn').inputValue()).toBe('4');
  });

  it('suggests the sweep that takes a list, and rejects knobs of other modes as well', { tags: 'long' }, async () => {
    const { error } = await run('autorun=msm-bench&logn=4&walkertpb=32,64');
    expect(error).toContain('autorun=sweep takes lists');
    const link = page.getByRole('alert').getByRole('link');
    expect(await link.getAttribute('href')).toBe('?autorun=sweep&logn=4&walkertpb=32,64');
    expect((await run('autorun=field-bench&chains=0')).error).toContain('chains: "0"');
    expect(await page.locator('form [name="chains"]').inputValue()).toBe('0');
  });

  it('takes the knobs of a URL without a mode, and runs them at the press of a button', {
    tags: 'long',
  }, async () => {
    await page.goto(`${url}?walkerpriv&walkertpb&logn=4&reps=1&peers=none&utm_source=mail`);
    await page.getByText('utm_source is not a knob of the bench, and was ignored').waitFor();
    const ready = page.getByRole('region', { name: 'Ready to run' });
    expect(await ready.textContent()).toContain('walkerpriv=1&logn=4&reps=1&peers=none');
    expect(await page.locator('[name="walkerpriv"]').inputValue()).toBe('1');
    expect(await bench()).toMatchObject({ status: 'idle', rows: [] });
    await ready.getByRole('button', { name: 'Run the benchmark' }).click();
    await page.waitForFunction(() => window.msmBench?.status === 'done');
    expect(new URL(page.url()).search).toBe('?autorun=msm-bench&logn=4&reps=1&peers=none&walkerpriv=1');
    const { rows } = await bench();
    expect(rows.filter((row) => row.event === 'repetition')).toMatchObject([{ placement: 'private' }]);
  });

  it('takes its knobs from the fragment, also when that changes', { tags: 'long' }, async () => {
    await page.goto(`${url}?logn=4#autorun=msm-bench&walkerpriv&walkertpb=8&reps=1&peers=none&logn=5`);
    await page.waitForFunction(() => window.msmBench?.status === 'done');
    const { rows } = await bench();
    const [init] = rows.filter((row) => row.event === 'init');
    expect(init?.settings).toEqual(['walkerpriv=1, walkertpb=8']);
    expect(init?.query).toBe('logn=4&autorun=msm-bench&walkerpriv=&walkertpb=8&reps=1&peers=none');
    expect(rows.filter((row) => row.event === 'repetition')).toMatchObject([{ n: 16 }]);
    await page.evaluate(() => {
      location.hash = '#walkerprv';
    });
    await page.getByRole('alert').getByText('did you mean walkerpriv?').waitFor();
    expect((await bench()).status).toBe('failed');
  });

  it('shows the time left, can be stopped half-way, and keeps measured rows', { tags: 'long' }, async () => {
    await page.goto(`${url}?autorun=msm-bench&logn=6&reps=60&peers=none&${quick}`);
    await page.waitForFunction(() => (window.msmBench?.secondsLeft ?? 0) > 0 && window.msmBench.rows.length > 3);
    await page
      .getByText(/about \d+ s left|a moment left/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction(() => window.msmBench.status === 'failed');
    const { error, rows } = await bench();
    expect(error).toBe('stopped by you');
    await page.getByText('Stopped', { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Run again');
    await page.getByRole('columnheader', { name: 'Median, ms' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download JSON' }).click(),
    ]);
    expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toEqual(rows);
    await page.getByRole('button', { name: 'Run again' }).waitFor();
  });

  it('fills its form from the URL, and shows the URL of its form', async () => {
    await page.goto(`${url}?logn=4,5&walkerpriv=0&c=7&reps=2`);
    expect(await page.getByLabel('Sizes, log₂ n').inputValue()).toBe('4,5');
    expect(await page.locator('[name="walkerpriv"]').inputValue()).toBe('0');
    expect(await page.locator('[name="c"]').inputValue()).toBe('7');
    const link = page.locator('a.address');
    expect(await link.textContent()).toBe('?autorun=msm-bench&logn=4,5&reps=2&walkerpriv=0&c=7');
    await page.locator('[name="c"]').fill('99');
    expect(await page.locator('form .alert').textContent()).toContain('c: "99"');
    await page.locator('[name="c"]').fill('');
    expect(await page.locator('form .alert').isVisible()).toBe(false);
    // what was typed comes back with the mode that knows it
    await page.locator('[name="c"]').fill('7');
    await page.getByLabel('What to run').selectOption('calibrate');
    expect(await link.textContent()).toBe('?autorun=calibrate');
    await page.getByLabel('What to run').selectOption('msm-bench');
    expect(await link.textContent()).toBe('?autorun=msm-bench&logn=4,5&reps=2&walkerpriv=0&c=7');
    await page.locator('[name="c"]').fill('99');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    // nothing runs with a mistake in it
    expect(new URL(page.url()).search).toBe('?logn=4,5&walkerpriv=0&c=7&reps=2');
    await page.locator('[name="c"]').fill('');
    // another mode has other knobs: those that mean nothing to it are neither shown nor sent
    await page.getByLabel('What to run').selectOption('field-bench');
    expect(await page.getByLabel('Sizes, log₂ n').isVisible()).toBe(false);
    expect(await link.textContent()).toBe('?autorun=field-bench&reps=2');
    await page.getByLabel('What to run').selectOption('accum-ab');
    await page.getByRole('group', { name: 'A', exact: true }).getByLabel('Walker scratch').fill('1');
    await page.getByRole('group', { name: 'B', exact: true }).getByLabel('Walker scratch').fill('0');
    expect(await link.textContent()).toBe(
      '?autorun=accum-ab&logn=4,5&reps=2&a.walkerpriv=1&b.walkerpriv=0&walkerpriv=0',
    );
  });

  it('lists the encodings of the chosen curve and group', async () => {
    await page.goto(`${url}?curve=bls12-381&group=g2&encoding=zcash-compressed`);
    const encoding = page.locator('[name="encoding"]');
    const listed = () =>
      encoding.locator('option').evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));
    expect(await encoding.inputValue()).toBe('zcash-compressed');
    expect(await listed()).toEqual(['', ...encodingsOf({ curve: 'bls12-381', group: 'g2' })]);
    await page.locator('[name="group"]').selectOption('g1');
    expect(await encoding.inputValue()).toBe('zcash-compressed');
    await page.locator('[name="curve"]').selectOption('bn254');
    // which has none of that name
    expect(await encoding.inputValue()).toBe('');
    expect(await listed()).toEqual(['', ...encodingsOf({ curve: 'bn254', group: 'g1' })]);
    await encoding.selectOption('aztec-compressed');
    expect(await page.locator('a.address').textContent()).toBe(
      '?autorun=msm-bench&curve=bn254&group=g1&encoding=aztec-compressed',
    );
  });

  it('writes the knobs of its form into the URL, and draws several sizes as a line', { tags: 'long' }, async () => {
    await page.goto(url);
    await page.getByText('Advanced: choose every knob of a run').click();
    await page.getByLabel('Sizes, log₂ n').fill('4,5');
    await page.getByLabel('Repetitions').fill('1');
    await page.locator('form [name="peers"]').fill('none');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForFunction(() => window.msmBench?.status === 'done');
    expect(new URL(page.url()).search).toBe('?autorun=msm-bench&logn=4,5&reps=1&peers=none');
    await page.getByRole('figure', { name: 'Total time by number of points' }).waitFor();
    await page.getByRole('figure', { name: 'Breakdown of the total time' }).waitFor();
    const { rows } = await bench();
    expect(rows.filter(({ event }) => event === 'peer')).toEqual([]);
    // with the hardware limit of each
    expect(rows.filter(({ event }) => event === 'bound')).toHaveLength(2);
  });
});
