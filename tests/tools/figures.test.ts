/**
 * Figures of pages: each has its row, no page has a superseded one, every file of rows is used.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Figures, formats, readExperiments, rowFiles, rowsIn, valueAt } from '../../scripts/docs/figures.js';
import { renew } from '../../scripts/docs/pages.js';
import { tables } from '../../scripts/docs/tables.js';
import { inProject } from '../support/run-script.js';

const figures = new Figures();

const texts = new Map(Object.entries(tables).map(([name, make]) => [`table:${name}`, make(figures)]));

const fileOf = (...all: readonly object[]) => ({ files: {}, figures: all });

const figure = {
  id: 'one',
  file: '2026-11-21-swiftshader-dawn-node-start.json',
  where: { n: 4096 },
  value: { field: 'wallMs' },
  as: 'ms',
};

describe('the figures of dev/results', () => {
  test('have a row each', () => {
    for (const { id, supersededBy } of figures.all)
      if (supersededBy === undefined) expect(figures.text(id), id).toMatch(/^[\d,.]+|no significant/);
  });

  test('use or name every file of rows, or say why it is kept', () => {
    const used = new Set(figures.all.map(({ file }) => file));
    const named = readExperiments()
      .map(({ why }) => why)
      .join(' ');
    const left = rowFiles().filter(
      (file) =>
        !used.has(file) && !named.includes(file) && file !== 'experiments.jsonl' && !figures.files[file]?.archive,
    );
    expect(left).toEqual([]);
    expect(Object.keys(figures.files).filter((file) => !rowFiles().includes(file))).toEqual([]);
  });

  test('say which is the newer of two that one command measured in one runtime', () => {
    const keyOf = ({ file, where, value }: (typeof figures.all)[0]): string => {
      const [first = {}] = rowsIn(file);
      return JSON.stringify([first.query ?? file, valueAt(first, 'environment.runtime'), where, value]);
    };
    const current = figures.all.filter(({ supersededBy }) => supersededBy === undefined);
    for (const each of current) {
      const same = current.filter((other) => keyOf(other) === keyOf(each));
      expect(new Set(same.map(({ file }) => file)).size, each.id).toBe(1);
    }
  });

  test('are in the pages as their rows have them; an altered one is found', () => {
    const page = readFileSync(inProject('docs/reference/performance.md'), 'utf8');
    expect(renew(page, texts).differences).toEqual([]);
    const altered = page.replace('| 793 ms |', '| 739 ms |');
    expect(altered).not.toBe(page);
    expect(renew(altered, texts).differences).toEqual([expect.stringContaining('table:cpu differs')]);
    const onPages = new Set(
      [page, readFileSync(inProject('README.md'), 'utf8')].flatMap((each) => renew(each, texts).names),
    );
    for (const name of texts.keys()) expect(onPages).toContain(name);
  });
});

describe('a figure', () => {
  test('without a row, with several, or without the field is refused', () => {
    const text = (more: object) => new Figures(fileOf({ ...figure, ...more })).text('one');
    expect(text({})).toBe('167 ms');
    expect(() => text({ where: { n: 4097 } })).toThrow('has no row with {"n":4097}');
    expect(() => text({ where: { reps: 3 } })).toThrow('one: 3 rows instead of one');
    expect(() => text({ value: { field: 'wall' } })).toThrow('one: wall of its row is no number');
    expect(() => text({ file: 'none.json' })).toThrow('dev/results/none.json does not exist');
    expect(text({ where: { reps: 3 }, value: { median: 'wallMs' } })).toBe('489 ms');
    expect(text({ where: { n: 16384 }, value: { ratio: 'wallMs', to: { n: 4096 } }, as: 'ratio' })).toBe('2.93');
  });

  test('that a newer row supersedes is refused', () => {
    const superseded = { ...figure, supersededBy: 'two' };
    const all = new Figures(fileOf(superseded, { ...figure, id: 'two' }));
    expect(() => all.text('one')).toThrow('one is superseded by two');
    expect(all.text('two')).toBe('167 ms');
  });

  test('that does not fit the schema is refused, with all reasons', () => {
    const read =
      (...all: readonly object[]) =>
      () =>
        new Figures(fileOf(...all));
    expect(read({ ...figure, as: 'furlongs' }, { ...figure, id: 'two', value: { mean: 'x' } })).toThrow(
      /one: [\s\S]*→ at as\n[\s\S]*two: [\s\S]*→ at value/,
    );
    expect(read(figure, figure)).toThrow('one: given twice');
    expect(read({ ...figure, supersededBy: 'three' })).toThrow('one: there is no figure three');
    expect(read({ ...figure, unit: 'ms' })).toThrow(/one: .*"unit"/);
    expect(() => new Figures({})).toThrow('figures');
  });

  test('may be a family', () => {
    const { all } = new Figures(
      fileOf({ ...figure, id: 'n-{logn}', each: { logn: [12, 14] }, where: { n: '{2^logn}', name: 'of {logn}' } }),
    );
    expect(all).toMatchObject([
      { id: 'n-12', where: { n: 4096, name: 'of 12' } },
      { id: 'n-14', where: { n: 16384, name: 'of 14' } },
    ]);
  });
});

describe('an experiment', () => {
  const [first] = readExperiments();
  test('has all its fields, and an id of its own', () => {
    expect(() => readExperiments([{ ...first, ratio: -1, unit: 'ms' }])).toThrow(
      /"unit"[\s\S]*\[0\]\.ratio|\[0\]\.ratio[\s\S]*"unit"/,
    );
    expect(() => readExperiments([first, first])).toThrow('an id is given twice');
    expect(() => readExperiments([{ ...first, interval: [2, 1] }])).toThrow('interval');
  });
});

test('ratios of times are written as people say them', () => {
  expect(formats.faster({ value: 0.455 })).toBe('2.2 × faster');
  expect(formats.faster({ value: 1.2 })).toBe('1.2 × slower');
  expect(formats.faster({ value: 0.95, low: 0.7, high: 1.2 })).toBe('no significant difference (0.70 to 1.20)');
  expect(formats.faster({ value: 0.95, low: 0.93, high: 0.97 })).toBe('1.05 × faster');
});
