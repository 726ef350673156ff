/** docs/contributing/glossary.md: each term once, in order, with a meaning, a place and a source. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));

describe('docs/contributing/glossary.md', () => {
  const rows = readFileSync(join(project, 'docs/contributing/glossary.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
  const terms = rows.slice(1).map(([term = '']) => term);

  test('has a meaning, a place and a source for each term', () => {
    for (const row of rows) expect(row.map((cell) => cell.trim() !== '')).toEqual([true, true, true, true]);
    expect(terms.length).toBeGreaterThan(90);
  });

  test('is alphabetical, and has each term once', () => {
    const { compare } = new Intl.Collator('en');
    expect(terms).toEqual([...new Set(terms)].sort(compare));
  });

  test('names files that exist', () => {
    const paths = rows.flatMap(([, , where = '']) => [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
    const missing = paths.filter((path) => {
      const file = /^(?:wgsl|dev|tests|scripts)\//.test(path) ? path : `src/${path}`;
      return !existsSync(join(project, file));
    });
    expect(missing).toEqual([]);
  });
});
