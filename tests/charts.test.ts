/** The page's charts in Chromium: tests/charts/demo.html has one of each, and two that are hard. */
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { colourOf } from '../dev/page/charts/colours.js';
import { formatTick, niceStep, sizeLabel, sizeTicks, timeLabel, timeTicks } from '../dev/page/charts/ticks.js';
import { launchChromium } from '../scripts/browser/launch.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const CANVASES = ['time', 'onePoint', 'shares', 'placements', 'distribution'];

let server: ViteDevServer;
let url: string;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  server = await createServer({
    configFile: false,
    root: project,
    cacheDir: `${project}/node_modules/.vite-charts`,
    logLevel: 'warn',
    // Named, because a dependency that is found late reloads the page.
    optimizeDeps: { entries: [], include: ['uplot'] },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  url = `http://127.0.0.1:${address.port}/tests/charts/demo.html`;
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

beforeEach(() => {
  complaints = [];
});

afterEach(async () => {
  await page?.close();
  expect(complaints).toEqual([]);
});

async function open(width: number, options: { deviceScaleFactor?: number; hasTouch?: boolean } = {}): Promise<void> {
  page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: 'light', ...options });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.addInitScript(countObservers);
  await page.goto(url);
  await page.waitForFunction((count) => document.querySelectorAll('canvas').length === count, CANVASES.length);
  await settled();
}

/** Runs in the page: how many ResizeObservers watch something. */
function countObservers(): void {
  const active = new Set<ResizeObserver>();
  window.ResizeObserver = class extends ResizeObserver {
    override observe(...args: Parameters<ResizeObserver['observe']>): void {
      active.add(this);
      super.observe(...args);
    }
    override disconnect(): void {
      active.delete(this);
      super.disconnect();
    }
  };
  Object.assign(window, { activeObservers: active });
}

/** uPlot draws in a microtask, and observers are called after the layout. */
const settled = (): Promise<void> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  );

/** How many pixels of a chart's canvas have each of its colours. */
const colours = (id: string): Promise<Record<string, number>> =>
  page.evaluate((chart) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`#${chart} canvas`);
    const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    const counts: Record<string, number> = {};
    for (let i = 0; i < pixels.length; i += 4) {
      const colour = [0, 1, 2].map((k) => (pixels[i + k] ?? 0).toString(16).padStart(2, '0')).join('');
      if (pixels[i + 3] === 255) counts[`#${colour}`] = (counts[`#${colour}`] ?? 0) + 1;
    }
    return counts;
  }, id);

const variable = (name: string): Promise<string> =>
  page.evaluate((key) => getComputedStyle(document.documentElement).getPropertyValue(key).trim(), name);

const rows = (id: string): Promise<string[][]> =>
  page
    .locator(`#${id} .chart-numbers tbody tr`)
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));

describe.each([
  { width: 1280, deviceScaleFactor: 1 },
  { width: 360, deviceScaleFactor: 2 },
])('the charts at $width px', ({ width, deviceScaleFactor }) => {
  it('are drawn, as wide as there is room and as fine as the screen, and the page does not scroll sideways', async () => {
    await open(width, { deviceScaleFactor });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    for (const id of CANVASES) {
      const size = await page.locator(`#${id} canvas`).evaluate((canvas) => ({
        drawn: (canvas as HTMLCanvasElement).width,
        room: canvas.closest('.chart-plot')?.clientWidth ?? 0,
      }));
      expect(size.room).toBeGreaterThan(250);
      expect(size.drawn).toBe(size.room * deviceScaleFactor);
      const found = await colours(id);
      expect(found[await variable('--series-1')]).toBeGreaterThan(10);
      expect(found[await variable('--line')]).toBeGreaterThan(100);
    }
    for (const selector of ['#settings .chart-bar', '#timeline .chart-span']) {
      const boxes = await page
        .locator(selector)
        .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
      expect(boxes.length).toBeGreaterThan(3);
      for (const box of boxes) expect(box).toBeGreaterThanOrEqual(2);
    }
  });

  it('are drawn in the colours of the dark page when it turns dark', async () => {
    await open(width);
    const [light, line] = [await variable('--series-1'), await variable('--line')];
    await page.emulateMedia({ colorScheme: 'dark' });
    await settled();
    const dark = await variable('--series-1');
    expect(dark).not.toBe(light);
    for (const id of CANVASES) {
      const found = await colours(id);
      expect(found[dark]).toBeGreaterThan(10);
      expect([found[light], found[line]]).toEqual([undefined, undefined]);
    }
  });
});

describe('the charts', () => {
  it('say in words what they show, and have all their numbers in a table', async () => {
    await open(1280);
    const image = page.getByRole('img', { name: 'B is faster than A in almost all runs.' });
    expect(await image.evaluate(({ tagName }) => tagName)).toBe('CANVAS');
    await page.getByRole('figure', { name: 'Times of A and B' }).waitFor();
    expect(await page.getByRole('figure').count()).toBe(7);

    const time = await rows('time');
    expect(time).toHaveLength(14);
    expect(time[0]?.slice(0, 3)).toEqual(['2^10 = 1,024', expect.stringMatching(/^6\.10 \(5\.37–\d\.\d\d\)$/), '–']);
    expect(time.map(([n]) => n)).toContain('100,000');
    const shares = await rows('placements');
    expect(shares[4]).toEqual(['walk', '9.20 ms, 54 %', '12.9 ms, 60 %']);
    expect(shares.at(-1)).toEqual(['all', '17.1 ms', '21.5 ms']);
    const [middle, ...runs] = await rows('distribution');
    expect(middle?.[0]).toBe('median');
    expect(runs).toHaveLength(40);
    expect((await rows('settings'))[2]).toEqual(['13 bits', '33.1', '32.2', '36.4', 'fastest, what the planner takes']);
    expect(await rows('timeline')).toContainEqual(['walk', 'GPU', '6.70', '16.2']);
  });

  it('show other numbers after an update', async () => {
    await open(1280);
    const before = await page.evaluate(() => document.querySelector<HTMLCanvasElement>('#time canvas')?.toDataURL());
    await page.evaluate(() => {
      window.charts.time.update({
        series: [{ name: 'another', kind: 'measured', points: [{ n: 4096, ms: 2500 }] }],
      });
      window.charts.settings.update({ settings: [{ label: 'only', medianMs: 5, lowMs: 4, highMs: 6 }] });
      window.charts.timeline.update({ blocks: [{ lane: 'GPU', name: 'walk', startMs: 0, ms: 7 }] });
      window.charts.distribution.update({ series: [] });
      window.charts.shares.update({ bars: [] });
    });
    await settled();
    expect(await rows('time')).toEqual([['2^12 = 4,096', '2,500']]);
    expect(await page.locator('#time .chart-name').allTextContents()).toEqual(['another']);
    await page.getByRole('img', { name: 'Wall time against the number of points, for another.' }).waitFor();
    expect(await page.evaluate(() => document.querySelector<HTMLCanvasElement>('#time canvas')?.toDataURL())).not.toBe(
      before,
    );
    expect(await page.locator('#time canvas').count()).toBe(1);
    expect(await rows('settings')).toEqual([['only', '5.00', '4.00', '6.00', '']]);
    expect(await rows('timeline')).toEqual([['walk', 'GPU', '0.00', '7.00']]);
  });

  it('tell the values under the mouse, and under a finger', async () => {
    await open(360, { hasTouch: true });
    const touch = async (id: string): Promise<void> => {
      const plot = page.locator(`#${id} .u-over`);
      await plot.scrollIntoViewIfNeeded();
      const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
      await plot.tap({ position: { x: width - 12, y: height / 2 } });
    };
    await touch('time');
    await page.getByText('2^22 = 4,194,304 points').waitFor();
    expect(await page.locator('#time .chart-value').allTextContents()).toContain('168 ms');
    const plot = page.locator('#placements .u-over');
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    await plot.hover({ position: { x: width - 12, y: 50 } });
    await page.getByText('private: 21.5 ms').waitFor();
    expect(await page.locator('#placements .chart-value').allTextContents()).toContain('12.9 ms, 60 %');
  });

  it('leave nothing behind when they are destroyed', async () => {
    await open(1280);
    const observers = (): Promise<number> =>
      page.evaluate(() => (window as unknown as { activeObservers: Set<unknown> }).activeObservers.size);
    // All but the settings, which are CSS alone.
    expect(await observers()).toBe(7);
    await page.evaluate(() => {
      for (const chart of Object.values(window.charts)) chart.destroy();
    });
    expect(await observers()).toBe(0);
    expect(await page.locator('canvas, figure, .uplot').count()).toBe(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    await settled();
    expect(await page.locator('canvas').count()).toBe(0);
  });

  it('take their width when closed details open, and keep it when they close', async () => {
    await open(1280);
    expect(await page.locator('#closed canvas').count()).toBe(0);
    await page.locator('#closed > summary').click();
    await page.locator('#closed canvas').waitFor();
    const width = (): Promise<number> => page.locator('#closed canvas').evaluate(({ clientWidth }) => clientWidth);
    const opened = await width();
    expect(opened).toBeGreaterThan(700);
    await page.locator('#closed > summary').click();
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator('#closed > summary').click();
    await page.waitForFunction(
      (before) => (document.querySelector('#closed canvas')?.clientWidth ?? before) < before,
      opened,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it('can be gone through by keyboard where they are blocks, and zoomed', async () => {
    await open(360);
    const zoom = page.getByRole('button', { name: '4×' });
    await zoom.focus();
    await page.keyboard.press('Enter');
    expect(await zoom.getAttribute('aria-pressed')).toBe('true');
    const region = page.getByRole('region', { name: 'The GPU is busy from 2 to 31 ms' });
    expect(await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth / clientWidth)).toBe(4);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.locator('#timeline .chart-span[tabindex="0"]').focus();
    await page.getByText('encode, host: 1.40 ms, from 0.00 to 1.40 ms').waitFor();
    await page.keyboard.press('End');
    await page.getByText('fold (CPU), host: 0.90 ms, from 31.4 to 32.3 ms').waitFor();
    expect(await page.locator('#timeline .chart-span[tabindex="0"]').count()).toBe(1);
  });

  it('have colours that are seen, and read on, in both themes', async () => {
    await open(1280);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const card = await variable('--card');
      for (let i = 1; i <= 8; i++) expect(contrast(await variable(`--series-${i}`), card)).toBeGreaterThan(4.5);
    }
  });
});

/** WCAG 2. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string): number =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
      const value = Number.parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
      return sum + weight * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    }, 0);
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((p, q) => p - q);
  return (light + 0.05) / (dark + 0.05);
}

describe('the axes', () => {
  it('label sizes by powers of two, and others that were measured where there is room', () => {
    const labels = (...args: Parameters<typeof sizeTicks>): string[] => sizeTicks(...args).map(sizeLabel);
    expect(labels([2 ** 10, 2 ** 14], 2 ** 9.9, 2 ** 14.1, 800)).toEqual(['2^10', '2^11', '2^12', '2^13', '2^14']);
    expect(labels([2 ** 10, 2 ** 22], 2 ** 9.5, 2 ** 22.5, 220)).toEqual(['2^12', '2^16', '2^20']);
    expect(labels([100_000], 50_000, 200_000, 600)).toEqual(['2^16', '100K', '2^17']);
    expect(labels([2 ** 20, 1_000_000], 2 ** 19.5, 2 ** 20.5, 300)).toEqual(['2^20']);
  });

  it('label times by decades, and finer where there are few', () => {
    expect(timeTicks(0.02, 5000).map(timeLabel)).toEqual(['0.1 ms', '1 ms', '10 ms', '100 ms', '1 s']);
    expect(timeTicks(300, 9000).map(timeLabel)).toEqual(['500 ms', '1 s', '2 s', '5 s']);
  });

  it('take even steps', () => {
    expect([niceStep(32, 4), niceStep(32, 16), niceStep(0.7, 10), niceStep(1, 0)]).toEqual([10, 2, 0.1, 1]);
    expect([formatTick(10, 5), formatTick(0.5, 0.1), formatTick(1200, 0.25)]).toEqual(['10', '0.5', '1,200.00']);
  });
});

describe('colourOf', () => {
  it('gives a name its colour for good, and stripes when the palette has come round', () => {
    // the passes of an MSM have the palette, in the order in which they run
    expect(['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce'].map((name) => colourOf(name).index)).toEqual(
      [0, 1, 2, 3, 4, 5],
    );
    expect(colourOf('walk')).toEqual({ index: 3, css: 'var(--series-4)', hatched: false });
    // other names come behind them: striped, and after eight of those without stripes again
    const names = Array.from({ length: 9 }, (_, i) => `pass ${i}`);
    const [first, ...others] = names.map(colourOf);
    expect(first).toEqual({ index: 0, css: 'var(--series-1)', hatched: true });
    expect(others.at(-1)).toEqual({ ...first, hatched: false });
    expect(names.map(colourOf)).toEqual([first, ...others]);
  });
});
