/** The rooms of src/: what docs/architecture.md says each may import is all that it imports, and nothing goes in circles. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const project = fileURLToPath(new URL('..', import.meta.url));
const source = join(project, 'src');

/** What stands directly in src/: what everybody may know, and what the package's users import. */
const ground = {
  common: ['api.ts', 'ending.ts', 'errors.ts', 'own-options.ts', 'version.ts'],
  entries: ['calibrate.ts', 'formats.ts', 'index.ts', 'noble.ts', 'node.ts', 'snarkjs.ts'],
};

/** Rooms and what each may import, from the table of the docs: | `room/` | `other/`, `entry.ts`, … | … | */
const readHouseRules = (): Map<string, readonly string[]> => {
  const rules = new Map<string, readonly string[]>();
  const text = readFileSync(join(project, 'docs/architecture.md'), 'utf8');
  for (const [, room, imports] of text.matchAll(/^\| `([a-z]+)\/` \|([^|]*)\|/gm)) {
    rules.set(
      room as string,
      [...(imports as string).matchAll(/`([a-z]+\.ts|[a-z]+(?=\/))/g)].map(([, name]) => name as string),
    );
  }
  return rules;
};

/** The modules of src/ that a module imports, types included; paths from src/. */
const importsOf = (path: string): string[] => {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(source, path), 'utf8'), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.') && !name.includes('.wgsl'))
    .map((name) => join(dirname(path), name).replace(/\.js$/, '.ts'))
    .filter((name) => !name.startsWith('..'));
};

const modules = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .sort();
const graph = new Map(modules.map((path) => [path, importsOf(path)]));
const roomOf = (path: string): string => (path.includes('/') ? dirname(path).split('/')[0] : '') as string;

/** Circles of a graph, each once, as the path that closes it. */
const circlesOf = (edges: ReadonlyMap<string, readonly string[]>): string[][] => {
  const circles: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) {
      circles.push([...path.slice(path.indexOf(node)), node]);
      return;
    }
    if (done.has(node)) return;
    for (const next of edges.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of edges.keys()) visit(node, []);
  return circles;
};

describe('the rooms of src/', () => {
  const rules = readHouseRules();

  test('each is in docs/architecture.md, and those there exist', () => {
    expect([...new Set(modules.map(roomOf))].filter((room) => room !== '').sort()).toEqual([...rules.keys()].sort());
  });

  test('the ground floor has the entries and what everybody may know', () => {
    expect(modules.filter((path) => roomOf(path) === '')).toEqual([...ground.common, ...ground.entries].sort());
  });

  test.each(modules.filter((path) => !ground.entries.includes(path)))('%s imports what its room may', (path) => {
    const mine = roomOf(path);
    const allowed = new Set(rules.get(mine) ?? []);
    for (const target of graph.get(path) as string[]) {
      expect(modules, `${path} imports ${target}`).toContain(target);
      const fine =
        roomOf(target) === mine ||
        [roomOf(target), target].some((name) => allowed.has(name)) ||
        ground.common.includes(target);
      expect(fine, `${path} may not import ${target}`).toBe(true);
    }
  });

  test('no room can reach itself through others', () => {
    expect(circlesOf(rules)).toEqual([]);
  });

  test('no module can reach itself', () => {
    expect(circlesOf(graph)).toEqual([]);
  });

  test('plan/ and stages/ reach neither gpu/ nor engine/, however far one follows', () => {
    for (const start of ['plan', 'stages']) {
      const reached = new Set(modules.filter((path) => roomOf(path) === start));
      for (const path of reached) for (const next of graph.get(path) ?? []) reached.add(next);
      expect([...new Set([...reached].map(roomOf))].filter((room) => ['gpu', 'engine'].includes(room))).toEqual([]);
    }
  });

  test('a circle would be found, and named', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(circlesOf(circle)).toEqual([['b', 'c', 'b']]);
  });
});
