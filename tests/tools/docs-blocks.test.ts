/**
 * Generated text in README.md and docs/: pages have what the code says, and other text is found.
 */
import { describe, expect, test } from 'vitest';
import { membersOf } from '../../scripts/docs/declarations.js';
import { renew } from '../../scripts/docs/markers.js';
import { renewPages, reportLines } from '../../scripts/docs/pages.js';
import { defaultBudget } from '../../src/msm/plan/device-profiles.js';
import { inProject } from '../support/run-script.js';

const blocks = new Map([
  ['inline', '80 KiB'],
  ['table', '| a |\n|---|\n| 1 |'],
]);

describe('the pages', () => {
  test('are as generated; `node scripts/docs/generate.mjs --write` renews them', async () => {
    const { pages, problems } = await renewPages(inProject('.'));
    expect(pages.length).toBeGreaterThan(5);
    expect([...problems, ...reportLines(pages)]).toEqual([]);
  });
});

describe('a page', () => {
  test('that is as generated stays as it is', () => {
    const page =
      'It has <!-- generated inline -->80 KiB<!-- /generated --> at most.\n\n<!-- generated table -->\n\n| a |\n|---|\n| 1 |\n\n<!-- /generated -->\n';
    expect(renew(page, blocks)).toEqual({ text: page, names: ['inline', 'table'], differences: [], problems: [] });
  });

  test('that was altered is renewed, with the first line that differs', () => {
    const page = 'a\n\n<!-- generated table -->\n\n| a |\n|---|\n| 2 |\n\n<!-- /generated -->\nb\n';
    const { text, differences, problems } = renew(page, blocks);
    expect(text).toBe(page.replace('| 2 |', '| 1 |'));
    expect(differences).toMatchObject([{ name: 'table', line: 3, found: '| 2 |', wanted: '| 1 |' }]);
    expect(problems).toEqual([]);
    const inline = 'of <!-- generated inline -->40 KB<!-- /generated -->';
    expect(renew(inline, blocks).differences).toMatchObject([{ line: 1, found: '40 KB', wanted: '80 KiB' }]);
  });

  test('in which a line is missing at the end of a block is renewed', () => {
    const page = '<!-- generated table -->\n\n| a |\n|---|\n\n<!-- /generated -->\n';
    const { text, differences } = renew(page, blocks);
    expect(renew(text, blocks).differences).toEqual([]);
    expect(differences).toMatchObject([{ found: '', wanted: '| 1 |' }]);
  });

  test.each([
    ['an <!-- generated inlin -->x<!-- /generated -->', 'no block is named inlin'],
    ['an <!-- generated inline -->x', '<!-- generated inline --> has no <!-- /generated -->'],
    ['a <!-- generated inline -->x\n<!-- generated table -->\n<!-- /generated -->', 'has no <!-- /generated -->'],
    ['an x<!-- /generated -->', '<!-- /generated --> closes nothing'],
    ['<!-- generated inline -->80 KiB<!-- /generated --> at most', 'must not begin its line'],
    ['- <!-- generated inline -->80 KiB<!-- /generated --> at most', 'must not begin its line'],
    ['a <!-- generated table -->x<!-- /generated -->', 'needs its marker at the start of a line'],
  ])('with a wrong marker is an error: %j', (page, message) => {
    expect(renew(page, blocks).problems[0]?.message).toContain(message);
  });

  test('may show markers as code', () => {
    const page =
      'A marker is `<!-- generated NAME -->`.\n\n```md\n<!-- generated NAME -->text<!-- /generated -->\n```\n';
    expect(renew(page, blocks)).toEqual({ text: page, names: [], differences: [], problems: [] });
  });
});

test('the docstring of the memory budget has the defaults of the code', () => {
  const [usual, wide] = ['', 'nvidia'].map((vendor) => defaultBudget({ vendor, architecture: '' }) / 2 ** 20);
  const stated = membersOf('src/engine/options.ts', 'MsmEngineOptions').find(({ name }) => name === 'memoryBudget');
  expect(stated?.defaultValue).toBe(`${usual} MiB; ${wide} MiB on NVIDIA and AMD`);
});
