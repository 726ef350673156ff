/**
 * `npm run stress -- mutate`: it makes the changes that it reports, as a test loads a source, and
 * every mutant that scripts/mutate/harmless.json explains exists.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { endWorker, noticedBy } from '../../scripts/mutate/campaign.js';
import { explains, explanations, mutantsOf, shuffled, sources } from '../../scripts/mutate/mutants.js';
import { applied, type Change, wgslChanges } from '../../scripts/mutate/operators.js';
import { testsFor } from '../../scripts/mutate/tests-for.js';
import { compiles, typescriptChanges } from '../../scripts/mutate/typescript.js';
import { inProject } from '../support/run-script.js';

/** Returns the changed lines of a source, one text for each change. */
const mutants = (source: string, changes: readonly Change[]): string[] =>
  changes.map((change) => {
    expect(source.slice(change.at, change.at + change.from.length)).toBe(change.from);
    const lines = applied(source, change).split('\n');
    return lines.filter((line) => !source.split('\n').includes(line)).join('|');
  });

describe('mutants', () => {
  test('in WGSL change tokens, conditions and statements; no tags, types, attributes, comments', () => {
    const source = [
      '@compute @workgroup_size(64)',
      'fn f(i: u32) -> vec2<u32> { // 1 + 1',
      'if (i == {{count}}u) {',
      'return;',
      '}',
      'a[i] = min(b, 0x10u) << s;',
    ].join('\n');
    expect(mutants(source, wgslChanges(source))).toEqual([
      'if (i != {{count}}u) {',
      'if (!(i == {{count}}u)) {',
      ';',
      'a[i] = max(b, 0x10u) << s;',
      'a[i] = min(b, 17u) << s;',
      'a[i] = min(b, 15u) << s;',
      'a[i] = min(b, 0x10u) >> s;',
      ';',
    ]);
    expect(mutants(source, wgslChanges(source, false))).toHaveLength(5);
  });

  test('in TypeScript change the same, and guards; no types, imports, texts', () => {
    const source = [
      "import { a } from './1.js';",
      'const f = (x: 1 | 2): Array<number> => {',
      "if (x < 2) throw Error('1 + 1');",
      'a.b(x as 1);',
      'return c ? Math.max(x, y) : true;',
      '};',
    ].join('\n');
    expect(mutants(source, typescriptChanges(source))).toEqual([
      "if (!(x < 2)) throw Error('1 + 1');",
      ';',
      "if (x <= 2) throw Error('1 + 1');",
      "if (x < 3) throw Error('1 + 1');",
      "if (x < 1) throw Error('1 + 1');",
      ';',
      'return !(c) ? Math.max(x, y) : true;',
      'return c ? Math.min(x, y) : true;',
      'return c ? Math.max(x, y) : false;',
    ]);
  });

  test('exist for every source, in an order of the seed, with tests that could notice them', () => {
    const all = sources.flatMap(mutantsOf);
    expect(all.length).toBeGreaterThan(5000);
    const [first, second] = [shuffled(1, all), shuffled(2, all)];
    expect(first).not.toEqual(second);
    expect(new Set(first)).toEqual(new Set(all));
    for (const file of new Set(all.map((mutant) => mutant.file))) expect(testsFor(file), file).not.toEqual([]);
  });
});

test('every explanation in scripts/mutate/harmless.json is about a mutant that exists', () => {
  for (const explanation of explanations) {
    const { file, lines, reason } = explanation;
    expect(sources).toContain(file);
    expect(reason.length).toBeGreaterThan(10);
    const all = mutantsOf(file);
    for (const [line, changes] of Object.entries(lines))
      for (const change of changes) {
        const one = { ...explanation, lines: { [line]: [change] } };
        expect(
          all.some((mutant) => explains(one, mutant)),
          `${file}: ${line}: ${change}`,
        ).toBe(true);
      }
  }
});

describe('a run of the tests on a mutant', () => {
  afterAll(endWorker);
  const tests = ['tests/unit/curve-names.test.ts'];
  const file = 'src/curves/open-curve.ts';
  const change = (from: string, to: string) => {
    const [mutant] = mutantsOf(file);
    return { ...(mutant as NonNullable<typeof mutant>), at: 0, from, to };
  };

  test('finds the test that notices it, in one process after another, and restores the source', {
    tags: 'long',
  }, async () => {
    expect(await noticedBy(tests, change('', ''))).toBeNull();
    expect(await noticedBy(tests, change('', 'throw new Error();'))).toBe(tests[0]);
    expect(await noticedBy(tests, change('', ''))).toBeNull();
  });

  test('ends a mutant that loops forever', { tags: 'long' }, async () => {
    const hangLimit = { times: 3, ms: 500 };
    expect(await noticedBy(tests, change('', 'for (;;);'), hangLimit)).toBe('the time limit');
    expect(await noticedBy(tests, change('', ''))).toBeNull();
  });

  test('finds a mutant that does not compile', () => {
    const path = inProject('src/engine/queue.ts');
    expect(compiles(path, 'export const queue: number = 1;')).toBe(true);
    expect(compiles(path, 'export const queue: number = true;')).toBe(false);
  });
});
