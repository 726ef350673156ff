/**
 * The docs site: it builds without a warning (each public symbol has a docstring), and no link
 * within it is dead.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runScript } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-docs-'));
let pages: ReadonlyMap<string, string>;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the values of an attribute, of all elements of a page. */
const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) =>
    (value as string).replaceAll('&amp;', '&'),
  );

/** Why a link of a page leads nowhere; null if it leads somewhere, or out of the site. */
const fault = (page: string, link: string): string | null => {
  const url = new URL(link, pathToFileURL(join(folder, page)));
  if (url.protocol !== 'file:') return null;
  const path = decodeURIComponent(url.pathname);
  const target = relative(folder, existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path);
  if (target.startsWith('..')) return 'leaves the site';
  if (!existsSync(join(folder, target))) return 'there is no such file';
  const anchor = decodeURIComponent(url.hash.slice(1));
  const html = pages.get(target);
  if (anchor === '' || html === undefined) return null;
  return [...attributes(html, 'id'), ...attributes(html, 'name')].includes(anchor) ? null : 'there is no such anchor';
};

describe('the docs site', { tags: 'long' }, () => {
  beforeAll(async () => {
    const outcome = await runScript('scripts/package/docs.mjs', [folder], 240_000);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    pages = new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.html'))
        .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
    );
  }, 300_000);
  test('has the README, the docs, the API and the bench', () => {
    const missing = [
      'index.html',
      'documents/docs_architecture.html',
      'documents/CONTRIBUTING.html',
      'documents/SECURITY.html',
      'functions/index.createMsmEngine.html',
      'functions/calibrate.calibrate.html',
      'functions/formats.openZkey.html',
      'functions/node.fileStore.html',
      'interfaces/index.MsmEngine.html',
      'bench/index.html',
    ].filter((path) => !pages.has(path));
    expect(missing, [...pages.keys()].join('\n')).toEqual([]);
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
    expect(dead).toEqual([]);
  });

  test('would show a dead link', () => {
    expect(fault('index.html', 'nowhere.html')).toBe('there is no such file');
    expect(fault('index.html', '#nowhere')).toBe('there is no such anchor');
    expect(fault('index.html', '../outside.html')).toBe('leaves the site');
    expect(fault('functions/node.fileStore.html', '../index.html')).toBeNull();
  });
});
