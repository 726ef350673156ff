/** `npm run mutate`: that it changes what it says, as a test loads it; and that what docs/mutants.md explains is there. */
import { afterAll, describe, expect, test } from 'vitest';
import { explains, explanations, mutantsOf, shuffled, sources } from '../scripts/mutate/mutants.mjs';
import { applied, type Change, wgslChanges } from '../scripts/mutate/operators.mjs';
import { testsFor } from '../scripts/mutate/tests-for.mjs';
import { endWorker, noticedBy } from '../scripts/mutate/try-out.mjs';
import { compiles, typescriptChanges } from '../scripts/mutate/typescript.mjs';
import { inProject } from './support/run-script.js';

/** What becomes of a source, a line for each change; what is not changed is left out. */
const mutants = (source: string, changes: readonly Change[]): string[] =>
  changes.map((change) => {
    expect(source.slice(change.at, change.at + change.from.length)).toBe(change.from);
    const lines = applied(source, change).split('\n');
    return lines.filter((line) => !source.split('\n').includes(line)).join('|');
  });

describe('what is changed', () => {
  test('in WGSL: tokens, conditions, statements; no tags, types, attributes, comments', () => {
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

  test('in TypeScript: the same, and guards; no types, imports, texts', () => {
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

  test('every source has mutants in an order of the seed, and tests that could notice them', () => {
    const all = sources.flatMap(mutantsOf);
    expect(all.length).toBeGreaterThan(5000);
    const [first, second] = [shuffled(1, all), shuffled(2, all)];
    expect(first).not.toEqual(second);
    expect(new Set(first)).toEqual(new Set(all));
    for (const file of new Set(all.map((mutant) => mutant.file))) expect(testsFor(file), file).not.toEqual([]);
  });
});

test('every explanation is one of a mutant that there is', () => {
  for (const explanation of explanations()) {
    const { file, line, changes, reason } = explanation;
    expect(sources).toContain(file);
    expect(reason.length).toBeGreaterThan(10);
    const all = mutantsOf(file);
    for (const change of changes) {
      const one = { ...explanation, changes: [change] };
      expect(
        all.some((mutant) => explains(one, mutant)),
        `${file}: ${line}: ${change}`,
      ).toBe(true);
    }
  }
});

describe('what becomes of a mutant', () => {
  afterAll(endWorker);
  const tests = ['tests/curve-names.test.ts'];
  const file = 'src/curves/named.ts';
  const change = (from: string, to: string) => {
    const [mutant] = mutantsOf(file);
    return { ...(mutant as NonNullable<typeof mutant>), at: 0, from, to };
  };

  test('a test notices it, in one process after the other, and the next source is whole again', {
    tags: 'long',
  }, async () => {
    expect(await noticedBy(tests, change('', ''))).toBeNull();
    expect(await noticedBy(tests, change('', 'throw new Error();'))).toBe(tests[0]);
    expect(await noticedBy(tests, change('', ''))).toBeNull();
  });

  test('one that never ends is ended', { tags: 'long' }, async () => {
    expect(await noticedBy(tests, change('', 'for (;;);'))).toBe('it does not end');
    expect(await noticedBy(tests, change('', ''))).toBeNull();
  });

  test('the compiler notices it', () => {
    const path = inProject('src/engine/queue.ts');
    expect(compiles(path, 'export const queue: number = 1;')).toBe(true);
    expect(compiles(path, 'export const queue: number = true;')).toBe(false);
  });
});
