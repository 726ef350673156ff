/** Files that the map, the glossary and comments of the sources name: each exists. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));
const files = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' }).trim().split('\n');
const all = new Set(files);
const stems = new Set(files.map((path) => basename(path)));

/** A file name with its path, as texts write it; placeholders (`STAGE.ts`) are in capitals. */
const NAMED = /(?<![\w./-])[a-z][\w-]*(?:\/[\w.-]+)*\.(?:ts|wgsl|mjs)\b(?!\w)/g;

/** Returns the named files that are nowhere: with a path from the project, `src/`, or a folder above `from`. */
const missing = (text: string, from: string): string[] => {
  const roots = ['', 'src', 'tests'];
  for (let folder = dirname(from); folder !== '.'; folder = dirname(folder)) roots.push(folder);
  return [...text.matchAll(NAMED)]
    .map(([name]) => name)
    .filter((name) => !/[A-Z]{2,}/.test(name))
    .filter((name) => (name.includes('/') ? !roots.some((root) => all.has(join(root, name))) : !stems.has(name)));
};

test.each(files.filter((path) => /^(docs\/contributing\/(map|glossary|testing)\.md|CONTRIBUTING\.md)$/.test(path)))(
  '%s',
  (path) => {
    expect(missing(readFileSync(join(project, path), 'utf8'), path)).toEqual([]);
  },
);

test('comments of src/ and wgsl/', () => {
  const comments = (text: string): string => (text.match(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? []).join('\n');
  // examples in documentation name files of the reader
  const prose = (text: string): string => comments(text).replace(/```[\s\S]*?```/g, '');
  const found = files
    .filter((path) => /^(src|wgsl)\/.*\.(ts|wgsl)$/.test(path))
    .map((path) => [path, missing(prose(readFileSync(join(project, path), 'utf8')), path)] as const)
    .filter(([, names]) => names.length > 0);
  expect(found).toEqual([]);
});

test('a name that is nowhere is found', () => {
  expect(missing('see src/msm/no-such.ts, planner.ts and msm/plan/planner.ts', 'src/msm/backend.ts')).toEqual([
    'src/msm/no-such.ts',
  ]);
});
