/**
 * Rooms: the tables of tests/support/rooms.ts name all imports of src/, dev/, scripts/ and tools/,
 * and no module reaches itself.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { commonFiles, namesIn, rooms, toolRooms } from '../support/rooms.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** Files that stand directly in src/, besides those that every room may import. */
const entries = [
  'calibrate.ts',
  'circom.ts',
  'command.ts',
  'fflonk.ts',
  'fields.ts',
  'formats.ts',
  'groth16.ts',
  'index.ts',
  'noble.ts',
  'node.ts',
  'plonk.ts',
  'service-worker.ts',
  'setup.ts',
  'snarkjs-drop-in.ts',
  'snarkjs.ts',
];

const rules: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Object.entries(rooms).map(([room, { imports }]) => [room, imports] as const), ...Object.entries(toolRooms)].map(
    ([room, imports]) => [room, new Set(namesIn(imports))],
  ),
);
const isTool = (room: string): boolean => /^(dev|scripts|tools)(\/|$)/.test(room);

/** Paths from the project for tools, and from src/ for the library. */
const shortOf = (path: string): string => (path.startsWith('src/') ? path.slice('src/'.length) : path);

const modules = execFileSync('git', ['ls-files', 'src', 'dev', 'scripts', 'tools', 'examples'], {
  cwd: project,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => /\.(ts|mjs|js)$/.test(path) && !path.endsWith('.d.ts'))
  .sort();

/** Returns the modules that a module imports, types included. */
const importsOf = (path: string): string[] => {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(project, path), 'utf8'), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.') && !name.includes('.wgsl'))
    .map((name) => join(dirname(path), name))
    .map((target) => (modules.includes(target) ? target : target.replace(/\.js$/, '.ts')))
    .filter((target) => !/^(dist|node_modules)/.test(target));
};

/** Returns the imports of a module that are there when it runs: all but types. */
const valueImportsOf = (path: string): string[] => {
  const source = ts.createSourceFile(path, readFileSync(join(project, path), 'utf8'), ts.ScriptTarget.Latest);
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const { moduleSpecifier } = statement;
    const clause = ts.isImportDeclaration(statement) ? statement.importClause : statement;
    const isType = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : statement.isTypeOnly;
    const named = clause && 'namedBindings' in clause ? clause.namedBindings : undefined;
    const isNamed = named !== undefined && ts.isNamedImports(named) && !clause?.name;
    const isAllTypes = isNamed && named.elements.every((element) => element.isTypeOnly);
    if (isType || isAllTypes || moduleSpecifier === undefined) continue;
    names.add((moduleSpecifier as ts.StringLiteral).text);
  }
  const resolved = [...names].filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name));
  return resolved
    .map((target) => (modules.includes(target) ? target : target.replace(/\.js$/, '.ts')))
    .filter((target) => modules.includes(target));
};

const graph = new Map(modules.map((path) => [path, importsOf(path)]));

/** Returns the room of a module: the longest path that has a row. A file of src/ itself is its own room. */
const roomOf = (path: string): string => {
  const short = shortOf(path);
  for (let room = dirname(short); room !== '.'; room = dirname(room)) if (rules.has(room)) return room;
  return path.startsWith('src/') ? short : '';
};

/** Returns circles of a graph, each once, as the path that closes it. */
const circlesOf = (edges: ReadonlyMap<string, Iterable<string>>): string[][] => {
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

/** Returns true if the tables let a room of src/ import a module. */
const mayImport = (room: string, target: string): boolean => {
  const there = roomOf(target);
  return there === room || there === 'api' || commonFiles.includes(there) || rules.get(room)?.has(there) === true;
};

/** Returns true if the tables let a room of tools import a module. */
const mayToolImport = (room: string, target: string): boolean => {
  const there = roomOf(target);
  const top = target.split('/')[0] as string;
  const allowed = rules.get(room) ?? new Set();
  if (there === room || (top !== 'dev' && allowed.has(top))) return true;
  return allowed.has(there) || allowed.has(dirname(target));
};

describe('rooms of src/', () => {
  const own = modules.filter((path) => path.startsWith('src/'));

  test('every room has a row, and every row a room', () => {
    const found = [...new Set(own.map(roomOf).filter((room) => !room.endsWith('.ts')))];
    expect(found.sort()).toEqual([...rules.keys()].filter((room) => !isTool(room)).sort());
  });

  test('files of src/ itself are the entries and those that every room may import', () => {
    const files = own.map(shortOf).filter((path) => !path.includes('/'));
    expect(files).toEqual([...commonFiles, ...entries].sort());
  });

  test.each(own.filter((path) => !entries.includes(shortOf(path))))('%s imports what its room may', (path) => {
    const refused = (graph.get(path) as string[]).filter((target) => !mayImport(roomOf(path), target));
    expect(refused).toEqual([]);
  });

  test('no room reaches itself through others', () => {
    expect(circlesOf(new Map([...rules].filter(([room]) => !isTool(room))))).toEqual([]);
  });

  test.each(['msm/plan', 'msm/stages'])('%s reaches no device, no session and no engine', (start) => {
    const reached = new Set(own.filter((path) => roomOf(path) === start));
    for (const path of reached) for (const next of graph.get(path) ?? []) reached.add(next);
    const rooms = new Set([...reached].map(roomOf));
    expect(['gpu', 'session', 'engine'].filter((room) => rooms.has(room))).toEqual([]);
  });

  test.each(['gpu', 'scheduling', 'session', 'threads'])('%s knows no mathematics', (start) => {
    const reached = new Set(own.filter((path) => roomOf(path) === start));
    for (const path of reached) for (const next of graph.get(path) ?? []) reached.add(next);
    expect([...reached].map(roomOf).filter((room) => /^(field|curves|msm|encodings)/.test(room))).toEqual([]);
  });
});

describe('rooms of tools', () => {
  const tools = modules.filter((path) => isTool(dirname(path)));

  test('every folder of dev/ and tools/ has a row, and every row a folder', () => {
    const folders = [...new Set(tools.map((path) => dirname(path).split('/').slice(0, 2).join('/')))];
    const hasRow = (folder: string): boolean => !folder.startsWith('scripts');
    expect(folders.filter(hasRow).sort()).toEqual(
      [...rules.keys()].filter((room) => isTool(room) && hasRow(room)).sort(),
    );
  });

  test.each(tools)('%s imports what its room may', (path) => {
    const refused = (graph.get(path) as string[]).filter((target) => !mayToolImport(roomOf(path), target));
    expect(refused).toEqual([]);
  });
});

describe('circles', () => {
  test('no module of src/ reaches itself, types included', () => {
    const own = [...graph].filter(([path]) => path.startsWith('src/'));
    expect(circlesOf(new Map(own))).toEqual([]);
  });

  test('no tool reaches itself while it runs', () => {
    expect(circlesOf(new Map(modules.map((path) => [path, valueImportsOf(path)])))).toEqual([]);
  });

  test('a circle is found and named', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(circlesOf(circle)).toEqual([['b', 'c', 'b']]);
  });

  test('an import that no row allows is refused', () => {
    expect(mayImport('msm/plan', 'src/gpu/runner.ts')).toBe(false);
    expect(mayImport('msm/plan', 'src/api/device.ts')).toBe(true);
    expect(mayToolImport('dev/peers', 'src/index.ts')).toBe(false);
    expect(mayToolImport('dev/oracle', 'src/index.ts')).toBe(true);
  });
});
