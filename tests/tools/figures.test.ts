/**
 * Figures of pages: each has its row, no page has a superseded one, every file of rows is used.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { blocks } from '../../scripts/docs/blocks/figures.js';
import { readExperiments } from '../../scripts/docs/figures/experiments.js';
import { formatRange, formats } from '../../scripts/docs/figures/format.js';
import { Figures } from '../../scripts/docs/figures/measured.js';
import { rowFiles, rowsIn, valueAt } from '../../scripts/docs/figures/rows.js';
import { type Figure, readFigures } from '../../scripts/docs/figures/schema.js';
import { tables } from '../../scripts/docs/figures/tables.js';
import { renew } from '../../scripts/docs/markers.js';
import { inProject } from '../support/run-script.js';

const figures = new Figures();

const textsOf = async (): Promise<ReadonlyMap<string, string>> =>
  new Map(
    await Promise.all(
      Object.entries(blocks).map(
        async ([name, block]) => [name, await (typeof block === 'function' ? block() : block)] as const,
      ),
    ),
  );

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
    for (const each of figures.all)
      for (const source of figures.sourcesOf(each))
        expect(figures.measuredOf(source).value, each.id).toBeGreaterThanOrEqual(0);
  });

  test('use or name every file of rows, or say why it is kept', () => {
    const used = new Set(figures.all.flatMap((each) => figures.sourcesOf(each).map(({ file }) => file)));
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
    const keyOf = (each: Figure): string =>
      figures
        .sourcesOf(each)
        .map(({ file, where, value }) => {
          const [first = {}] = rowsIn(file);
          return JSON.stringify([first.query ?? file, valueAt(first, 'environment.runtime'), where, value]);
        })
        .join();
    const current = figures.all.filter((each) => !('range' in each) && each.supersededBy === undefined);
    for (const each of current) {
      const same = current.filter((other) => keyOf(other) === keyOf(each));
      expect(new Set(same.flatMap((one) => figures.sourcesOf(one).map(({ file }) => file))).size, each.id).toBe(1);
    }
  });

  test('are in the pages as their rows have them; an altered one is found', async () => {
    const page = readFileSync(inProject('docs/reference/performance.md'), 'utf8');
    const texts = await textsOf();
    expect(renew(page, texts).differences).toEqual([]);
    const altered = page.replace('| 793 ms |', '| 739 ms |');
    expect(altered).not.toBe(page);
    expect(renew(altered, texts).differences).toMatchObject([{ name: 'table:cpu' }]);
    expect(new Set(renew(page, texts).names)).toEqual(
      new Set([
        ...Object.keys(tables).map((name) => `table:${name}`),
        ...['figure:cpu-to-ffjavascript', 'figure:fma-to-ffjavascript', 'figure:two-threads-16'],
        ...['figure:two-to-one-14', 'figure:two-to-one-16'],
      ]),
    );
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

  test('that a newer row supersedes is refused, also in a range', () => {
    const superseded = { ...figure, supersededBy: 'two' };
    const all = new Figures(
      fileOf(superseded, { ...figure, id: 'two' }, { id: 'both', range: ['one', 'two'], as: 'ms' }),
    );
    expect(() => all.text('one')).toThrow('one is superseded by two');
    expect(() => all.text('both')).toThrow('one is superseded by two');
    expect(all.text('two')).toBe('167 ms');
  });

  test('that does not fit the schema is refused, with all reasons', () => {
    const read =
      (...all: readonly object[]) =>
      () =>
        readFigures(fileOf(...all));
    expect(read({ ...figure, as: 'furlongs' }, { ...figure, id: 'two', value: { mean: 'x' } })).toThrow(
      /one: [\s\S]*→ at as\n[\s\S]*two: [\s\S]*→ at value/,
    );
    expect(read(figure, figure)).toThrow('one: given twice');
    expect(read({ ...figure, supersededBy: 'three' })).toThrow('one: there is no figure three');
    expect(read({ ...figure, unit: 'ms' })).toThrow(/one: .*"unit"/);
    expect(() => readFigures({})).toThrow('figures');
  });

  test('may be a family', () => {
    const { figures: all } = readFigures(
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
  expect(formatRange([{ value: 0.42 }, { value: 0.59 }], 'faster')).toBe('1.7 to 2.4 × faster');
  expect(formatRange([{ value: 4.3 }, { value: 793 }], 'ms')).toBe('4.3 to 793 ms');
});
