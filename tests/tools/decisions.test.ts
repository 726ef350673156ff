/** Decisions: short pages, listed in their index, that cite experiments which exist and hold. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inProject } from '../support/run-script.js';

const folder = 'docs/contributing/decisions';
const read = (path: string): string => readFileSync(inProject(path), 'utf8');

const experiments = read('dev/results/experiments.jsonl')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly id: string; readonly supersededBy?: string });
const valid = experiments.filter(({ supersededBy }) => supersededBy === undefined).map(({ id }) => id);

/** Returns the ids in the measurement of a page; one with `*` stands for all that begin so. */
const citedIn = (text: string): string[] => {
  const [, measurement = ''] = /\*\*Measurement\.\*\*([\s\S]*?)\n\n/.exec(text) ?? [];
  return [...measurement.matchAll(/`([a-z0-9]+(?:-[a-z0-9]+)*-(?:[a-z0-9]+|\*))`/g)].map(([, id = '']) => id);
};

const exists = (id: string): boolean =>
  id.endsWith('*') ? valid.some((each) => each.startsWith(id.slice(0, -1))) : valid.includes(id);

const pages = readdirSync(inProject(folder)).filter((name) => /^\d\d-.*\.md$/.test(name));

describe.each(pages)('%s', (name) => {
  const text = read(`${folder}/${name}`);

  test('has context, decision and consequences', () => {
    for (const part of ['Context', 'Decision', 'Consequences']) expect(text).toContain(`**${part}.**`);
  });

  test('cites experiments that exist and are not superseded', () => {
    expect(citedIn(text).filter((id) => !exists(id))).toEqual([]);
  });
});

test('the index lists every decision by its title', () => {
  const index = read(`${folder}/index.md`);
  const links = [...index.matchAll(/^\d+\. \[.+\]\((.+)\)$/gm)].map(([, name]) => name);
  expect(links).toEqual(pages);
});

test('a citation is found, and an unknown one is refused', () => {
  expect(citedIn('**Measurement.** `slots-*`, `a-b` of `dot4` and `cpuBelow`.\n\nThen `c-d`.')).toEqual([
    'slots-*',
    'a-b',
  ]);
  expect(exists('no-such-experiment')).toBe(false);
});
