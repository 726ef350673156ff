/**
 * Bench page without a GPU: its messages, its choices, and results of the CPU; and its tables on
 * narrow screens.
 */
import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MsmBench } from '../../dev/bench/run.js';
import { launchChromium } from '../../scripts/browser/launch.js';
import { type ServedPage, servePage } from '../support/built-page.js';
import { runScript } from '../support/run-script.js';

let served: ServedPage;
let url: string;
let browser: Browser;
let page: Page;
let pageErrors: string[];

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
  page.on('pageerror', (error) => pageErrors.push(error.message));
  // the rows stay out of dev/results/: tests are no results
  await page.route(/\/(progress|results)$/, (route) => route.fulfill({ status: 204 }));
});

afterEach(async () => {
  await page.close();
  expect(pageErrors).toEqual([]);
});

/** Ways in which a browser has no GPU. */
const withoutInterface = () =>
  page.addInitScript(() => {
    delete (Navigator.prototype as { gpu?: GPU }).gpu;
  });
const withoutAdapter = () =>
  page.addInitScript(() => {
    GPU.prototype.requestAdapter = async () => null;
  });

async function run(query: string): Promise<MsmBench> {
  await page.goto(`${url}?${query}`);
  await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench?.status), undefined, {
    timeout: 240_000,
  });
  return page.evaluate(() => window.msmBench);
}

const notice = () => page.getByRole('region', { name: 'No GPU' });
const control = (name: string) => page.locator(`form [name="${name}"]`);
const fieldOf = (name: string) => page.locator(`.field:has([name="${name}"])`);

describe('without a GPU the page', () => {
  it.each([
    ['no WebGPU', withoutInterface, 'This browser offers no WebGPU.'],
    ['no adapter', withoutAdapter, 'This browser offers WebGPU, but no adapter'],
  ])('says at the top that there is %s, and offers the CPU', async (_, take, why) => {
    await take();
    await page.goto(url);
    await notice().waitFor();
    expect(await notice().textContent()).toContain(why);
    expect(await page.locator('main > :first-child').getAttribute('aria-label')).toBe('No GPU');
    await notice().getByRole('link', { name: 'Compute on the CPU' }).click();
    await page.getByRole('region', { name: 'Ready to run' }).waitFor();
    expect(new URL(page.url()).search).toBe('?backend=cpu');
    expect(await control('backend').inputValue()).toBe('cpu');
    // there is nothing left to offer
    await notice().waitFor();
    expect(await notice().getByRole('link').count()).toBe(0);
  });

  it('asks the CPU those questions that it can answer, and greys out the others with the reason', async () => {
    await withoutAdapter();
    await page.goto(url);
    await notice().waitFor();
    const questions = await page.locator('.questions a').evaluateAll((links) =>
      links.map((link) => ({
        href: link.getAttribute('href'),
        isDisabled: link.getAttribute('aria-disabled') === 'true',
        reason: link.getAttribute('title'),
      })),
    );
    const reason = 'Needs a GPU, and none is available';
    const onCpu = (href: string) => ({ href, isDisabled: false, reason: null });
    const greyed = { href: null, isDisabled: true, reason };
    expect(questions).toEqual([
      onCpu('?autorun=msm-cross-check&logn=8,10&case=core&backend=cpu'),
      onCpu('?autorun=msm-bench&logn=10,12,14&backend=cpu'),
      onCpu('?autorun=proof&logn=12&backend=cpu'),
      greyed,
      greyed,
      greyed,
      greyed,
      greyed,
    ]);
    expect(await page.locator('.questions .needs-gpu:visible').count()).toBe(5);
  });

  it('times a proof on the CPU, verified by noble, and says how long the first one took', async () => {
    await withoutAdapter();
    const { status, error, rows } = await run('autorun=proof&logn=4&reps=2&backend=cpu');
    expect({ status, error }).toEqual({ status: 'done', error: null });
    const proofs = rows.filter(({ event }) => event === 'own-proof');
    expect(proofs).toMatchObject([0, 1, 2].map((repetition) => ({ logn: 4, constraints: 14, repetition })));
    await page.getByText(/^A Groth16 proof of 14 constraints takes [\d.]+ ms; the first one, with the/).waitFor();
  });

  it('greys out the modes and knobs that need a GPU, and runs nothing that must fail', async () => {
    await withoutAdapter();
    await page.goto(`${url}?logn=4`);
    await notice().waitFor();
    const modes = await control('autorun')
      .locator('option')
      .evaluateAll((all) =>
        (all as HTMLOptionElement[]).filter(({ disabled }) => disabled).map(({ value, title }) => [value, title]),
      );
    const reason = 'Needs a GPU, and none is available';
    expect(modes).toEqual(['msm-trace', 'field-bench', 'calibrate', 'loading'].map((mode) => [mode, reason]));
    // which of them the CPU knows is the library's: multiply.ts takes none of the walker's
    for (const name of ['walkerpriv', 'c', 'precompute', 'a.walkers']) {
      expect(await control(name).isDisabled()).toBe(true);
      const field = fieldOf(name);
      expect(await field.getAttribute('title')).toBe(reason);
    }
    for (const name of ['backend', 'workers', 'cpudist', 'cpuchunk', 'logn'])
      expect(await control(name).isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect(new URL(page.url()).search).toBe('?logn=4');
    expect(await control('backend').getAttribute('aria-invalid')).toBe('true');
    const link = page.locator('form .alert a');
    expect(await link.getAttribute('href')).toBe('?autorun=msm-bench&logn=4&backend=cpu');
    await control('backend').fill('cpu');
    expect(await control('backend').getAttribute('aria-invalid')).toBeNull();
    await page.getByLabel('What to run').selectOption('sweep');
    expect(await page.locator('a.address').textContent()).toBe('?autorun=sweep&logn=4&backend=cpu');
  });

  it('reports why a run of a GPU failed, and offers the same on the CPU', async () => {
    await withoutInterface();
    const { status, error } = await run('autorun=msm-bench&logn=4&reps=1&peers=none');
    expect({ status, error }).toEqual({ status: 'failed', error: expect.stringMatching(/^no-webgpu: /) });
    expect(await page.locator('main > :first-child').getAttribute('aria-label')).toBe('No GPU');
    const link = notice().getByRole('link', { name: 'Compute on the CPU' });
    expect(await link.getAttribute('href')).toBe('?autorun=msm-bench&logn=4&reps=1&peers=none&backend=cpu');
    await link.click();
    await page.waitForFunction(() => window.msmBench?.status === 'done');
    // what would compare only what a GPU has is not the same on the CPU
    await run('autorun=accum-ab&logn=4&a.walkerpriv=1&b.walkerpriv=0');
    expect(await notice().getByRole('link').getAttribute('href')).toBe('?backend=cpu');
  });
});

describe('with backend=cpu a run', () => {
  const modes = [
    'msm-bench&logn=4&reps=2',
    'accum-ab&logn=4&reps=6&a.workers=0&b.workers=1',
    'sweep&logn=4&reps=2&workers=0,1',
    'msm-cross-check&n=9&reps=2',
  ];

  it.each(modes)('of ?autorun=%s opens no device, though there is a GPU', { tags: 'long' }, async (query) => {
    await page.addInitScript(() => {
      Object.assign(window, { asked: 0 });
      GPU.prototype.requestAdapter = async () => {
        // the page asks once the run is over: what to run next
        if (!['done', 'failed'].includes(window.msmBench?.status)) (window as unknown as { asked: number }).asked++;
        return null;
      };
      GPUAdapter.prototype.requestDevice = () => {
        throw new Error('a device was opened');
      };
    });
    const { status, error, adapter, rows } = await run(`autorun=${query}&backend=cpu`);
    expect({ status, error }).toEqual({ status: 'done', error: null });
    expect(await page.evaluate(() => (window as unknown as { asked: number }).asked)).toBe(0);
    expect(adapter?.vendor).toBe('cpu');
    const computed = rows.filter((row) => row.event === 'repetition');
    for (const row of computed) expect(row).toMatchObject({ on: 'cpu', agrees: true });
    for (const row of rows) if (row.event === 'case') expect(row).toMatchObject({ placement: null, agrees: true });
    // one answer a case: the CPU has no scratch in two places
    if (query.includes('cross-check')) expect(rows.filter(({ event }) => event === 'case')).toHaveLength(1);
  });

  it('is not called software, and has no columns of a GPU', async () => {
    const { rows } = await run('autorun=msm-bench&logn=4&reps=2&backend=cpu');
    const section = page.getByRole('region', { name: 'Benchmark' });
    await section.getByText('no GPU opened').waitFor();
    const text = (await section.innerText()).replace(/\s+/g, ' ');
    expect(text).toMatch(/\bCPU\b/);
    expect(text).not.toMatch(/software|plays GPU|GPU, ms|GPU time|hardware limit|timestamps/i);
    expect(await section.locator('.caution').count()).toBe(0);
    expect(rows.map(({ event }) => event)).not.toContain('bound');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await section.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByText('Copied.').first().waitFor();
    const markdown = await page.evaluate(() => navigator.clipboard.readText());
    expect(markdown.split('\n')[2]).toMatch(/^CPU(, \d+ logical cores)?, no GPU opened; Chrome/);
  });

  it('traces no passes', async () => {
    const { status, error } = await run('autorun=msm-trace&logn=4&backend=cpu');
    expect({ status, error }).toEqual({ status: 'failed', error: expect.stringMatching(/^backend: "cpu"/) });
    expect(await control('backend').getAttribute('aria-invalid')).toBe('true');
  });
});

describe('the form of the bench page', () => {
  it('marks the field of a mistyped knob until it is right', async () => {
    await run('autorun=msm-bench&logn=zz&walkerprv=1&c=99');
    for (const [name, text] of [
      ['logn', 'logn: "zz" is not'],
      ['walkerpriv', 'walkerprv: no such knob; did you mean walkerpriv?'],
      ['c', 'c: "99"'],
    ] as const) {
      const field = fieldOf(name);
      expect(await control(name).getAttribute('aria-invalid')).toBe('true');
      const told = field.locator('.wrong');
      expect(await told.isVisible()).toBe(true);
      expect(await told.textContent()).toContain(text);
      expect(await control(name).getAttribute('aria-describedby')).toContain((await told.getAttribute('id')) ?? '-');
    }
    expect(await page.locator('form [aria-invalid]').count()).toBe(3);
    await control('logn').fill('4');
    expect(await control('logn').getAttribute('aria-invalid')).toBeNull();
    expect(await control('c').getAttribute('aria-invalid')).toBe('true');
    await control('c').fill('9');
    expect(await page.locator('form [aria-invalid]').count()).toBe(0);
    await control('walkers').fill('many');
    expect(await control('walkers').getAttribute('aria-invalid')).toBe('true');
  });

  it('names both knobs of ?walkerpriv&walkertpb', async () => {
    await page.goto(`${url}?walkerpriv&walkertpb`);
    const ready = page.getByRole('region', { name: 'Ready to run' });
    expect(await ready.locator('p').textContent()).toBe(
      'The address sets walkerpriv=1 and leaves walkertpb to the engine. Nothing has started yet.',
    );
    await page.goto(`${url}?walkertpb`);
    expect(await ready.locator('p').textContent()).toBe(
      'The address leaves walkertpb to the engine. Nothing has started yet.',
    );
  });
});

it('the correctness driver misses no case on the CPU, which has no placement', { tags: 'long' }, async () => {
  const args = '--logns 4 --runs 1 --walkerpriv turns --backend cpu'.split(' ');
  const { code, stdout, stderr } = await runScript('scripts/correctness.mjs', args, 120_000);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('All 6 agree with the oracles');
});
