/**
 * Generated text in README.md and docs/: pages have what the code says, and other text is found.
 */
import { describe, expect, test } from 'vitest';
import { membersOf } from '../../scripts/docs/declarations.js';
import { renew, renewPages } from '../../scripts/docs/pages.js';
import { defaultBudget } from '../../src/msm/plan/device-profiles.js';
import { inProject } from '../support/run-script.js';

const blocks = new Map([['table', '| a |\n|---|\n| 1 |']]);

describe('the pages', () => {
  test('are as generated; `node scripts/docs/generate.mjs --write` renews them', async () => {
    const { pages, problems } = await renewPages(inProject('.'));
    expect(pages.length).toBeGreaterThan(5);
    expect([...problems, ...pages.flatMap((page) => [...page.problems, ...page.differences])]).toEqual([]);
  });
});

describe('a page', () => {
  test('that is as generated stays as it is', () => {
    const page = 'a\n\n<!-- generated table -->\n\n| a |\n|---|\n| 1 |\n\n<!-- /generated -->\n';
    expect(renew(page, blocks)).toEqual({ text: page, names: ['table'], differences: [], problems: [] });
  });

  test('that was altered is renewed, with the first line that differs', () => {
    const page = 'a\n\n<!-- generated table -->\n\n| a |\n|---|\n| 2 |\n\n<!-- /generated -->\nb\n';
    const { text, differences, problems } = renew(page, blocks);
    expect(text).toBe(page.replace('| 2 |', '| 1 |'));
    expect(differences).toEqual(['3: table differs\n  page:  | 2 |\n  block: | 1 |']);
    expect(problems).toEqual([]);
  });

  test('in which a line is missing at the end of a block is renewed', () => {
    const page = '<!-- generated table -->\n\n| a |\n|---|\n\n<!-- /generated -->\n';
    const { text, differences } = renew(page, blocks);
    expect(renew(text, blocks).differences).toEqual([]);
    expect(differences).toEqual([expect.stringMatching(/page: {2}\n {2}block: \| 1 \|$/)]);
  });

  test.each([
    ['<!-- generated tabel -->\n<!-- /generated -->', 'no block is named tabel'],
    ['<!-- generated table -->\nx', 'table has no <!-- /generated -->'],
    ['<!-- generated table -->x\n<!-- generated table -->\n<!-- /generated -->', 'needs a line of its own'],
    ['<!-- generated table -->\n<!-- generated table -->\n<!-- /generated -->', 'has no <!-- /generated -->'],
    ['x\n<!-- /generated -->', 'closes nothing'],
    ['a <!-- generated table -->x<!-- /generated -->', 'needs a line of its own'],
  ])('with a wrong marker is an error: %j', (page, message) => {
    expect(renew(page, blocks).problems[0]).toContain(message);
  });
});

test('the docstring of the memory budget has the defaults of the code', () => {
  const [usual, wide] = ['', 'nvidia'].map((vendor) => defaultBudget({ vendor, architecture: '' }) / 2 ** 20);
  const stated = membersOf('src/engine/options.ts', 'MsmEngineOptions').find(({ name }) => name === 'memoryBudget');
  expect(stated?.defaultValue).toBe(`${usual} MiB; ${wide} MiB on NVIDIA and AMD`);
});
