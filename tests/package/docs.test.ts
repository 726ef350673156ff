/**
 * The docs site: it builds without a warning (each public symbol has a docstring, each public
 * function an example), no link within it is dead, no page is wider than a phone, and axe finds
 * nothing serious.
 *
 * @module-tag long
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { entries } from '../../scripts/docs/site-pages.js';
import { inProject, runScript } from '../support/run-script.js';

/** The path of the site on its host. */
const BASE = '/some/where/';

const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' },
  ...{ '.png': 'image/png', '.json': 'application/json' },
};

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-docs-'));
let pages: ReadonlyMap<string, string>;
let printed: string;
let server: Server;
let origin: string;
let browser: Browser;

beforeAll(async () => {
  const { code, stdout, stderr } = await runScript('scripts/docs/site.mjs', [folder, '--base', BASE], 280_000);
  expect(code, `${stdout}\n${stderr}`).toBe(0);
  printed = `${stdout}\n${stderr}`;
  pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.html'))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://host').pathname);
    const file = join(folder, path.slice(BASE.length).replace(/(^|\/)$/, '$1index.html'));
    if (!path.startsWith(BASE) || !existsSync(file)) return response.writeHead(404).end();
    return response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(readFileSync(file));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
  ({ browser } = await launchChromium('software'));
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the values of an attribute, of all elements of a page. */
const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) =>
    (value as string).replaceAll('&amp;', '&'),
  );

/** Why a link of a page leads nowhere; null if it leads somewhere, or out of the site. */
const fault = (page: string, link: string): string | null => {
  const home = `http://host${BASE}`;
  const url = new URL(link, `${home}${page}`);
  if (url.origin !== new URL(home).origin) return null;
  if (!url.pathname.startsWith(BASE)) return 'leaves the site';
  const target = decodeURIComponent(url.pathname.slice(BASE.length)).replace(/(^|\/)$/, '$1index.html');
  if (!existsSync(join(folder, target))) return 'there is no such file';
  const anchor = decodeURIComponent(url.hash.slice(1));
  const html = pages.get(target);
  if (anchor === '' || html === undefined) return null;
  return attributes(html, 'id').includes(anchor) ? null : 'there is no such anchor';
};

/** Pages that were written by hand, and a page of each kind that was not. */
const written = (): string[] => [
  ...[...pages.keys()].filter((path) => !/^(reference\/api|repository|bench)\/|^404/.test(path)),
  ...['', 'index/', 'worker/', 'index/interfaces/Tuning.html', 'index/functions/createMsmEngine.html'].map(
    (path) => `reference/api/${path}`,
  ),
  'bench/index.html',
];

describe('the docs site', () => {
  test('has all pages of docs/, the API of each entry and the bench', () => {
    const wanted = [
      ...readdirSync(inProject('docs'), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.md') && !path.startsWith('repository/'))
        .map((path) => path.replace(/\.md$/, '.html')),
      ...entries.map((entry) => `reference/api/${entry}/index.html`),
      'reference/api/index/functions/createMsmEngine.html',
      'reference/api/snarkjs/variables/accelerate.html',
      'bench/index.html',
    ];
    expect(wanted.filter((path) => !pages.has(path))).toEqual([]);
    const { exports } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
    const names = Object.keys(exports).map((name) => (name === '.' ? 'index' : name.slice(2)));
    // the entry for service workers has the API of the others
    const withPages = names.filter((name) => !['package.json', 'service-worker'].includes(name));
    expect(withPages.sort()).toEqual([...entries].sort());
  });

  test('is built without warnings, and its command says where it is', () => {
    expect(printed).not.toMatch(/warn|\(!\)|INEFFECTIVE/i);
    expect(printed).toContain(`The site is in ${folder}, for a host that serves it at ${BASE}.`);
    expect(printed).toContain(`npx vite preview --outDir ${folder} --base ${BASE}`);
  });

  test('has no dead link', () => {
    const dead: string[] = [];
    let looked = 0;
    for (const [page, html] of pages) {
      for (const link of new Set([...attributes(html, 'href'), ...attributes(html, 'src')])) {
        looked++;
        const why = fault(page, link);
        if (why !== null) dead.push(`${page}: ${link}: ${why}`);
      }
    }
    expect(looked).toBeGreaterThan(1000);
    expect(dead.slice(0, 50)).toEqual([]);
  });

  test('would show a dead link', () => {
    expect(fault('index.html', 'nowhere.html')).toBe('there is no such file');
    expect(fault('index.html', '#nowhere')).toBe('there is no such anchor');
    expect(fault('index.html', '../outside.html')).toBe('leaves the site');
    expect(fault('reference/options.html', '../index.html')).toBeNull();
  });

  test('has no page that is wider than 360 px', async () => {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    const wide: string[] = [];
    for (const path of written()) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 360) wide.push(`${path}: ${width} px`);
    }
    await context.close();
    expect(wide).toEqual([]);
  });

  test('cuts no code of a how-to page, and no table of options, at 1280 px', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const cut: string[] = [];
    const read = [...pages.keys()].filter((path) => /^(how-to|tutorials)\/|^reference\/options/.test(path));
    let looked = 0;
    for (const path of read) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      const found = await page.evaluate(() =>
        [...document.querySelectorAll('.vp-doc div[class*="language-"] pre, .vp-doc table')].map((part) => ({
          by: part.scrollWidth - part.clientWidth,
          text: (part.textContent ?? '').trim().slice(0, 40),
        })),
      );
      looked += found.length;
      for (const { by, text } of found) if (by > 1) cut.push(`${path}: ${by} px of ${text}`);
    }
    await context.close();
    expect(looked).toBeGreaterThan(30);
    expect(cut).toEqual([]);
  });

  test('has no bright picture on a dark page', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${origin}how-to/prove-groth16.html`, { waitUntil: 'load' });
    const picture = await page.locator('.vp-doc img').first().screenshot();
    // the mean of all pixels, from 0 to 255
    const brightness = await page.evaluate(async (base64) => {
      const { data } = await fetch(`data:image/png;base64,${base64}`)
        .then((response) => response.blob())
        .then((blob) => createImageBitmap(blob))
        .then((image) => {
          const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
          if (context === null) throw new Error('no canvas');
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        });
      return data.reduce((sum, value, i) => (i % 4 === 3 ? sum : sum + value), 0) / (0.75 * data.length);
    }, picture.toString('base64'));
    await context.close();
    expect(brightness).toBeLessThan(90);
  });

  test.each(['light', 'dark'] as const)('has nothing serious that axe finds, in %s', async (colorScheme) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme });
    const page = await context.newPage();
    const found: string[] = [];
    for (const path of ['', 'how-to/snarkjs.html', 'reference/options.html', ...written().slice(-2)]) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      for (const { id, impact, nodes } of violations) {
        if (impact === 'serious' || impact === 'critical')
          found.push(`${path || 'home'}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n  ')}`);
      }
    }
    await context.close();
    expect(found).toEqual([]);
  });

  test('finds a word of a page by its search', async () => {
    const page = await browser.newPage();
    await page.goto(origin, { waitUntil: 'load' });
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').fill('createWorker');
    await page.getByRole('option').first().waitFor();
    expect(await page.getByRole('option').allTextContents()).toContainEqual(expect.stringContaining('createWorker'));
    await page.close();
  });
});

declare global {
  interface Window {
    readonly axe: typeof axe;
  }
}
