/** The page's charts in Chromium: charts/demo.html has one of each, and two that are hard. */
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { shortSize } from '../../dev/bench/format.js';
import { sizeTicks, timeLabel, timeTicks } from '../../dev/page/charts/charts.js';
import { colourOf, PALETTE_SIZE } from '../../dev/page/charts/frame.js';
import { launchChromium } from '../../scripts/browser/launch.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
const PLOTS = ['time', 'onePoint', 'distribution'];
const GRID = '[aria-label="y-grid"]';

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
    optimizeDeps: { entries: [] },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  url = `http://127.0.0.1:${address.port}/tests/tools/charts/demo.html`;
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

async function open(width: number, options: { deviceScaleFactor?: number } = {}): Promise<void> {
  page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: 'light', ...options });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(url);
  await page.waitForFunction(([grid, count]) => document.querySelectorAll(grid).length === count, [
    GRID,
    PLOTS.length,
  ] as const);
  await settled();
}

/** Observers are called after the layout. */
const settled = (): Promise<void> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  );

/** How many pixels of a chart's picture have each of its colours. */
const colours = async (id: string): Promise<Record<string, number>> => {
  const picture = await page.locator(`#${id} .chart-plot`).screenshot();
  return page.evaluate(async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context?.drawImage(image, 0, 0);
    const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? [];
    const counts: Record<string, number> = {};
    for (let i = 0; i < pixels.length; i += 4) {
      const colour = [0, 1, 2].map((k) => (pixels[i + k] ?? 0).toString(16).padStart(2, '0')).join('');
      counts[`#${colour}`] = (counts[`#${colour}`] ?? 0) + 1;
    }
    return counts;
  }, picture.toString('base64'));
};

/** Returns the colour of a CSS variable in the current colour scheme. */
const variable = (name: string): Promise<string> =>
  page.evaluate((key) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = `var(${key})`;
    const parts = getComputedStyle(probe).color.match(/\d+/g) ?? [];
    probe.remove();
    return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
  }, name);

const rows = (id: string): Promise<string[][]> =>
  page
    .locator(`#${id} .chart-numbers tbody tr`)
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));

/** Returns of each lane whether its name is within the picture. */
const wholeNames = (id: string): Promise<boolean[]> =>
  page.locator(`#${id} svg[role="img"]`).evaluate((picture) => {
    const { left } = picture.getBoundingClientRect();
    const names = picture.querySelectorAll('[aria-label="y-axis tick label"] text');
    return [...names].map((name) => name.getBoundingClientRect().left >= left);
  });

const fit = ({ width, deviceScaleFactor }: { width: number; deviceScaleFactor: number }): void => {
  it('fill the width, and the page does not scroll sideways', async () => {
    await open(width, { deviceScaleFactor });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    for (const id of PLOTS) {
      const { room, right } = await page.locator(`#${id} svg[role="img"]`).evaluate(
        (picture, grid) => ({
          room: picture.getBoundingClientRect().width,
          // the grid ends where the picture does, but for its margin
          right: (picture.querySelector(grid) as SVGGElement).getBBox().width + 70,
        }),
        GRID,
      );
      expect(room).toBeGreaterThan(250);
      expect(Math.abs(room - right)).toBeLessThan(2);
    }
    for (const id of [...PLOTS, 'shares', 'placements', 'settings']) {
      const found = await colours(id);
      expect(found[await variable('--series-1')]).toBeGreaterThan(10);
      if (PLOTS.includes(id)) expect(found[await variable('--line')]).toBeGreaterThan(100);
    }
    for (const selector of ['#settings .chart-bar rect', '#timeline .chart-span rect']) {
      const boxes = await page
        .locator(selector)
        .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
      expect(boxes.length).toBeGreaterThan(3);
      for (const box of boxes) expect(box).toBeGreaterThanOrEqual(2);
    }
  });

  it('take the colours of the dark page when it turns dark', async () => {
    await open(width);
    const light = await variable('--series-1');
    await page.emulateMedia({ colorScheme: 'dark' });
    await settled();
    const dark = await variable('--series-1');
    expect(dark).not.toBe(light);
    for (const id of [...PLOTS, 'shares', 'settings']) {
      const found = await colours(id);
      expect(found[dark]).toBeGreaterThan(10);
      expect(found[light]).toBeUndefined();
    }
  });

  it('have timelines without overlapping blocks, each block in the row of its name', async () => {
    await open(width);
    const blocks = await page.locator('#timeline .chart-span rect').evaluateAll((all) =>
      all.map((block) => {
        const { left, right, top, bottom } = block.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
    expect(new Set(blocks.map(({ top }) => top)).size).toBe(12);
    for (const [i, a] of blocks.entries())
      for (const b of blocks.slice(0, i)) {
        const apart = a.bottom <= b.top || b.bottom <= a.top || a.right <= b.left + 0.5 || b.right <= a.left + 0.5;
        expect(apart).toBe(true);
      }
    expect(await wholeNames('timeline')).toEqual(Array(12).fill(true));
  });
};
describe.each([{ width: 360, deviceScaleFactor: 2 }])('the charts at $width px', fit);
describe.each([{ width: 1280, deviceScaleFactor: 1 }])('the charts at $width px', { tags: 'long' }, fit);

describe('the charts', () => {
  it('describe themselves, each point and each block in words, and have their numbers in a table', async () => {
    await open(1280);
    const image = page.getByRole('img', { name: 'B is faster than A in almost all runs.' });
    expect(await image.evaluate(({ tagName }) => tagName)).toBe('svg');
    await page.getByRole('figure', { name: 'Times of A and B' }).waitFor();
    expect(await page.getByRole('figure').count()).toBe(7);

    const time = await rows('time');
    expect(time).toHaveLength(14);
    expect(time[0]?.slice(0, 3)).toEqual(['2¹⁰ = 1,024', expect.stringMatching(/^6\.10 \(5\.37–\d\.\d\d\)$/), '–']);
    expect(time.map(([n]) => n)).toContain('100,000');
    const shares = await rows('placements');
    expect(shares[4]).toEqual(['walk', '9.20 ms, 54 %', '12.9 ms, 60 %']);
    expect(shares.at(-1)).toEqual(['total', '17.1 ms', '21.5 ms']);
    const [middle, ...runs] = await rows('distribution');
    expect(middle?.[0]).toBe('median');
    expect(runs).toHaveLength(40);
    expect((await rows('settings'))[2]).toEqual(['13 bits', '33.1', '32.2', '36.4']);
    expect(await rows('timeline')).toContainEqual(['walk', 'GPU', '6.70', '16.2']);
    expect(await page.locator('#timeline .chart-span title').first().textContent()).toBe(
      'encode: 1.40 ms, from 0.00 to 1.40 ms',
    );
    expect(await page.locator('#time .chart-point title').first().textContent()).toBe(
      `${time[0]?.slice(0, 2).join(' points: ')} ms`,
    );
    expect(await page.locator('#placements .chart-parts title').nth(4).textContent()).toMatch(/: [\d.]+ ms, \d+ %$/);
  });

  it('distinguish series without their colours', async () => {
    await open(1280);
    const dashes = await page
      .locator('#time .chart-entries .chart-swatch')
      .evaluateAll((all) =>
        all.map((swatch) => `${swatch.querySelector('[aria-label="rule"]')?.getAttribute('stroke-dasharray')}`),
      );
    const measured = await page.locator('#time .chart-entries [aria-label="dot"]').count();
    expect(measured).toBeGreaterThan(1);
    expect(new Set(dashes.slice(0, measured)).size).toBe(measured);
  });

  it('show other numbers after an update', async () => {
    await open(1280);
    const before = await page.locator('#time .chart-plot').innerHTML();
    await page.evaluate(() => {
      window.charts.time.update({
        series: [{ name: 'another', kind: 'measured', points: [{ n: 4096, ms: 2500 }] }],
      });
      window.charts.settings.update({ settings: [{ label: 'only', medianMs: 5, lowMs: 4, highMs: 6 }], fastest: null });
      window.charts.timeline.update({ blocks: [{ lane: 'GPU', name: 'walk', startMs: 0, ms: 7 }] });
      window.charts.distribution.update({ series: [] });
      window.charts.shares.update({ bars: [] });
    });
    await settled();
    expect(await rows('time')).toEqual([['2¹² = 4,096', '2,500']]);
    expect(await page.locator('#time .chart-entries li').allTextContents()).toEqual(['another']);
    expect(await page.locator('#time .chart-plot').innerHTML()).not.toBe(before);
    expect(await page.locator('#time .chart-plot .chart-point').count()).toBe(1);
    expect(await page.locator('#shares .chart-parts rect').count()).toBe(0);
    expect(await rows('settings')).toEqual([['only', '5.00', '4.00', '6.00']]);
    expect(await rows('timeline')).toEqual([['walk', 'GPU', '0.00', '7.00']]);
  });

  it('take their width when closed details open, and keep it when they close', async () => {
    await open(1280);
    expect(await page.locator(`#closed ${GRID}`).count()).toBe(0);
    await page.locator('#closed > summary').click();
    await page.locator(`#closed ${GRID}`).waitFor({ state: 'attached' });
    const width = (): Promise<number> =>
      page.locator(`#closed ${GRID}`).evaluate((grid) => (grid as SVGGElement).getBBox().width);
    const opened = await width();
    expect(opened).toBeGreaterThan(700);
    await page.locator('#closed > summary').click();
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator('#closed > summary').click();
    await page.waitForFunction(
      ([grid, before]) => (document.querySelector<SVGGElement>(grid)?.getBBox().width ?? before) < before,
      [`#closed ${GRID}`, opened] as const,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it.each(['light', 'dark'] as const)(
    'have colours that are visible and distinct, also for colour-blind eyes, on the %s page',
    async (colorScheme) => {
      await open(1280);
      await page.emulateMedia({ colorScheme });
      const palette = await Promise.all(Array.from({ length: PALETTE_SIZE }, (_, i) => variable(`--series-${i + 1}`)));
      for (const ground of [await variable('--card'), await variable('--page')])
        for (const colour of palette) expect(contrast(colour, ground)).toBeGreaterThanOrEqual(3);
      // what is drawn on --card has --ink on it
      expect(contrast(await variable('--ink'), await variable('--card'))).toBeGreaterThan(7);
      for (const [eyes, seen] of Object.entries(vision))
        for (const [i, a] of palette.entries())
          for (const b of palette.slice(0, i))
            expect(distance(seen(a), seen(b)), `${a} and ${b}, ${eyes}`).toBeGreaterThan(FIVE_JUST_NOTICED);
    },
  );
});

type Linear = readonly [red: number, green: number, blue: number];

const linear = (colour: string): Linear =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Linear;

const times = (matrix: readonly Linear[], [r, g, b]: Linear): Linear =>
  matrix.map((row) => row[0] * r + row[1] * g + row[2] * b) as unknown as Linear;

/** WCAG 2. */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [a, b]
    .map((colour) => times([[0.2126, 0.7152, 0.0722]], linear(colour))[0])
    .sort((p, q) => p - q);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * Machado, Oliveira, Fernandes, A physiologically-based model for simulation of color vision
 * deficiency (2009), severity 1.
 */
const seenThrough = (matrix: readonly Linear[]) => (colour: string) =>
  times(matrix, linear(colour)).map((value) => Math.min(1, Math.max(0, value))) as unknown as Linear;
const vision = {
  'trichromatic eyes': linear,
  protanopia: seenThrough([
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ]),
  deuteranopia: seenThrough([
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ]),
};

/** In OKLab (Ottosson 2020), in which about 0.02 is just noticed. */
const FIVE_JUST_NOTICED = 0.1;
const oklab = (colour: Linear): Linear => {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    colour,
  ).map(Math.cbrt) as unknown as Linear;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
};
const distance = (a: Linear, b: Linear): number => {
  const [p, q] = [oklab(a), oklab(b)];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
};

describe('the axes', () => {
  it('label sizes by powers of two, as many as fit', () => {
    const labels = (...args: Parameters<typeof sizeTicks>): string[] => sizeTicks(...args).map(shortSize);
    expect(labels(2 ** 9.9, 2 ** 14.1, 800)).toEqual(['2¹⁰', '2¹¹', '2¹²', '2¹³', '2¹⁴']);
    expect(labels(2 ** 9.5, 2 ** 22.5, 220)).toEqual(['2¹²', '2¹⁶', '2²⁰']);
    expect(labels(50_000, 200_000, 600)).toEqual(['2¹⁶', '2¹⁷']);
  });

  it('label times by decades, and more finely for short ranges', () => {
    expect(timeTicks(0.02, 5000).map(timeLabel)).toEqual(['0.1 ms', '1 ms', '10 ms', '100 ms', '1 s']);
    expect(timeTicks(300, 9000).map(timeLabel)).toEqual(['500 ms', '1 s', '2 s', '5 s']);
  });
});

describe('colourOf', () => {
  it('keeps the colour of a name, and starts again after the last colour of the palette', () => {
    // the passes of an MSM have the palette, in the order in which they run
    for (const [i, name] of ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce'].entries())
      expect(colourOf(name)).toBe(`var(--series-${i + 1})`);
    // what the host does without computing is one
    expect(colourOf('read back')).toEqual(colourOf('host, waiting'));
    const names = Array.from({ length: PALETTE_SIZE + 1 }, (_, i) => `pass ${i}`);
    const found = names.map(colourOf);
    expect(new Set(found).size).toBe(PALETTE_SIZE);
    expect(found.at(-1)).toBe(found[0]);
    expect(names.map(colourOf)).toEqual(found);
  });
});
