/**
 * Keeps the language of the sources plain: replaced names stay away, comments begin with a verb or
 * a noun and fit into 100 columns, files and functions stay small. docs/contributing/glossary.md
 * has the terms.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { commentsOf, proseOf, type Source } from '../support/comments.js';
import { functionLines } from '../support/function-lines.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** Folders and files that the rules hold for. */
const CLEAN: readonly string[] = [
  'src',
  'wgsl',
  'dev',
  'scripts',
  'tools',
  'tests',
  'examples',
  'docs',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'vite.config.ts',
  'vite.bench.config.ts',
  'vite.lib.config.ts',
  'vitest.config.ts',
];

interface ReplacedWord {
  readonly word: RegExp;
  /** Term of docs/contributing/glossary.md, or a description of it. */
  readonly use: string;
  /** Paths to which the rule is limited; elsewhere the word has another meaning. */
  readonly only?: RegExp;
  /** A line in which the word is found. */
  readonly example: string;
}

/** Words that were replaced. */
const replacedWords: readonly ReplacedWord[] = [
  { word: /custod(?:y|ies)/i, use: 'dispatch chain', example: 'const custody = 1;' },
  { word: /\b(?:un)?seal(?:s|ed|ing)?\b/i, use: 'digest', example: '// The level is sealed.' },
  { word: /\bstamp(?:s|ed|ing)?\b/i, use: 'link', only: /^(?:src|wgsl)\//, example: 'assertWhole(stamps);' },
  { word: /\bslabs?(?![a-z])|Slabs?(?![a-z])/, use: 'window row', example: 'const slabLength = 1;' },
  { word: /\btwins?(?![a-z])|Twins?(?![a-z])/, use: 'CPU reference', example: '// CPU twin: walk.ts' },
  { word: /\b(?:go|goes)On\b/, use: 'checkpoint', example: 'goOn();' },
  { word: /\bdeaf(?:en|ened)?\b|Deaf/, use: 'unsubscribe', example: 'const deaf = onAbort(signal);' },
  { word: /unanimous/i, use: 'abort when all abort', example: 'unanimously(signals)' },
  { word: /\bdoomed\b|Doomed/, use: 'retired', example: 'isDoomed: boolean;' },
  { word: /\b(?:interface|class|type) Kept\b|: Kept\b|\bKept\[/, use: 'pooled buffer', example: 'interface Kept {' },
  { word: /\bshel(?:f|ves)\b|Shel(?:f|ves)(?![a-z])/, use: 'bases cache', example: "from './bases-shelf.js'" },
  { word: /\bwoven\b|\bweav(?:e|es|ing)\b/i, use: 'instrument', example: 'weave(commands)' },
  { word: /\bso-manieth\b/i, use: 'sequence number', example: "// The device's so-manieth." },
  { word: /\bwhomever\b/i, use: 'a named subject', example: '// Work, of whomever.' },
  { word: /\bnobody['’]s\b/i, use: 'a named subject', example: "// That is nobody's." },
  { word: /\b(?:is|are) its(?=[.,;:)]|\s*\*\/|$)/i, use: 'a verb', example: '// What is its, it computes.' },
  { word: /\bFront\b|\/front\.(?:js|ts)\b/, use: 'the engine that composes', example: 'class Front {' },
  { word: /\b(?:Surveyed)?Factors\b/, use: 'scalar vectors', example: 'SurveyedFactors[]' },
  { word: /\bfoldsScalars\b/, use: 'negatesScalars', example: 'curve.foldsScalars' },
  { word: /\bHostWalls\b|\bhostWalls\b/, use: 'host times', example: 'HostWalls' },
  {
    word: /\bWide(?:Adder|Kernel|Curve|Code|Field|Product|Sums|Text)\b|\bwide-[a-z]+\.(?:js|ts)\b/,
    use: 'wasm',
    example: 'class WideAdder {',
  },
  { word: /\binhabited\b/, use: 'finite-point count', example: 'readonly inhabited: number;' },
  { word: /\bbalance\b/, use: 'checksum', example: 'account.balance' },
  { word: /\bcompany\b|\bCompanions?\b|\bPart(?:y|ies)\b/, use: 'coalescing', example: 'interface Party {' },
  { word: /\bPATIENCE\b/, use: 'ageing', example: 'PATIENCE.normal' },
  { word: /\bentr(?:y|ies)\.handle\b/, use: 'point reference', example: 'entry.handle' },
];

/** First words of a comment that make a riddle of it. */
const RIDDLE = /^(?:What|Of|Who|Whose|Whom|So many|By what|So that)\b/;

/** A sentence of at most six words that begins with Of: it has no verb. */
const FRAGMENT = /(?:^|[.!?:]\s+)Of(?:\s+[^\s.]+){1,5}\.(?=\s|$)/;

const PROSE_COLUMNS = 100;
const MOST_FILE_LINES = 300;
const MOST_FUNCTION_LINES = 60;

/** A rule, and sources on which it is tried. */
interface Rule {
  readonly name: string;
  /** Texts in which the rule finds something, by path. */
  readonly broken: Readonly<Record<string, string>>;
  /** A source in which it finds nothing. */
  readonly kept: Source;
  /** Returns the lines that break the rule. */
  find(source: Source): readonly { readonly line: number; readonly hint: string }[];
}

const isDocument = ({ path }: Source): boolean => path.endsWith('.md');

const linesWith = (text: string, pattern: RegExp, hint: string) =>
  text.split('\n').flatMap((line, i) => (pattern.test(line) ? [{ line: i + 1, hint }] : []));

const rules: readonly Rule[] = [
  {
    name: 'names that were replaced stay away',
    broken: Object.fromEntries(replacedWords.map(({ example }, i) => [`src/word-${i}.ts`, example])),
    kept: { path: 'a.ts', text: '// A timestamp in front of factors; it was unsealable.\nconst digest = 1;' },
    find: ({ path, text }) =>
      replacedWords
        .filter(({ only }) => only?.test(path) ?? true)
        .flatMap(({ word, use }) => linesWith(text, word, `use "${use}" in place of ${word}`)),
  },
  {
    name: 'comments begin with a verb or a noun',
    broken: {
      'block.ts': '/** What has zeros only. */\nconst a = 1;',
      'tag.ts': '/**\n * Adds.\n *\n * @param a Of whom it is\n */\nconst b = (a: number) => a;',
      'line.mjs': 'const a = 1; // So many of them',
      'shader.wgsl': 'fn f() {}\n// Whose turn it is.\n// More of it.',
      'shell.sh': '#!/bin/sh\n# By what it is made.',
      'style.css': '/* Who is next */',
    },
    kept: {
      path: 'a.ts',
      text: '/** Returns what is left. */\nconst a = `// What is this`;\n// The sum.\n// Of all calls two are under way at any time.',
    },
    find: (source) =>
      isDocument(source)
        ? []
        : commentsOf(source).flatMap((comment) => {
            const prose = proseOf(comment);
            const tags = [...prose.matchAll(/@(?:param|returns|property)(?:\s+\{[^}]*\})?\s+(?:[\w.]+\s+)?/g)];
            const starts = [prose, ...tags.map(({ 0: tag, index }) => prose.slice(index + tag.length))];
            return starts.some((start) => RIDDLE.test(start))
              ? [{ line: comment.line, hint: `begins with "${prose.slice(0, 40)}"` }]
              : [];
          }),
  },
  {
    name: 'comments have whole sentences',
    broken: { 'a.ts': '/** Bits. Of a limb. */\nconst a = 1;', 'a.wgsl': '// Of the next task.' },
    kept: { path: 'a.ts', text: '/** Of a limb the low bits are read first, the others later. */\nconst a = 1;' },
    find: (source) =>
      isDocument(source)
        ? []
        : commentsOf(source).flatMap((comment) => {
            const found = FRAGMENT.exec(proseOf(comment));
            return found === null ? [] : [{ line: comment.line, hint: `"${found[0].trim()}" has no verb` }];
          }),
  },
  {
    name: `comments fit into ${PROSE_COLUMNS} columns`,
    broken: {
      'a.ts': `/**\n * ${'word '.repeat(25)}\n */\nconst a = 1;`,
      'a.wgsl': `// ${'word '.repeat(25)}`,
    },
    kept: {
      path: 'a.ts',
      text: [
        `// https://example.org/${'a'.repeat(100)}`,
        `/** @type {import('./${'a'.repeat(100)}')} */`,
        `const a = '${'word '.repeat(25)}';`,
      ].join('\n'),
    },
    find: (source) => {
      if (isDocument(source)) return [];
      const lines = source.text.split('\n');
      return commentsOf(source).flatMap(({ line, text }) =>
        text.split('\n').flatMap((_, i) => {
          const whole = (lines[line - 1 + i] ?? '').trimEnd();
          const isProse = /^\s*(?:\/\/|\/\*|\*|#|[A-Z{(`a-z])/.test(whole) && (i > 0 || /^\s*(?:\/|#)/.test(whole));
          const isUnbreakable = /https?:\/\/\S{40}|@(?:type|typedef|template|param|returns|property)\s+\{/.test(whole);
          return isProse && !isUnbreakable && [...whole].length > PROSE_COLUMNS
            ? [{ line: line + i, hint: `${[...whole].length} columns` }]
            : [];
        }),
      );
    },
  },
  {
    name: 'sources cite facts and papers, not chapters or issues of ours',
    broken: { 'a.ts': '// as DESIGN § 4 says', 'a.wgsl': '// see issue 32', 'b.ts': "const text = 'Issue #7';" },
    kept: { path: 'a.ts', text: '// GitHub issues are elsewhere; the issue is open' },
    find: (source) =>
      isDocument(source)
        ? []
        : [
            ...linesWith(source.text, /DESIGN(?:\.md)?\s*§/, 'say the fact, or cite the paper'),
            ...linesWith(source.text, /\bissues? #?\d+/i, 'say the fact'),
          ],
  },
];

/** Files without rules: this one has the replaced words as examples. */
const LEFT_OUT: readonly string[] = ['tests/unit/words.test.ts', 'tests/unit/rooms.test.ts'];

/** Folders without rules: results of measurements, and what tools write. */
const WRITTEN = /^(?:dev\/results|docs\/reference\/api|docs\/\.vitepress\/(?:cache|dist))\//;

const isText = (path: string): boolean => /\.(?:ts|mts|js|mjs|wgsl|sh|c|css|html|md)$/.test(path);

/** Files below a folder, or the file. */
const filesOf = (path: string): string[] => {
  if (!statSync(join(project, path)).isDirectory()) return [path];
  return readdirSync(join(project, path), { recursive: true, encoding: 'utf8' })
    .map((name) => `${path}/${name.replaceAll('\\', '/')}`)
    .filter((name) => isText(name) && !LEFT_OUT.includes(name) && !WRITTEN.test(name))
    .sort();
};

const read = (path: string): Source => ({ path, text: readFileSync(join(project, path), 'utf8') });

describe('the sources in plain words', () => {
  test.each(rules)('$name', ({ find }) => {
    const hits = CLEAN.flatMap(filesOf)
      .map(read)
      .flatMap((source) => find(source).map(({ line, hint }) => `${source.path}:${line} ${hint}`));
    expect(hits).toEqual([]);
  });

  test.each(
    rules.flatMap(({ name, broken, find }) =>
      Object.entries(broken).map(([path, text]) => ({ name, path, text, find })),
    ),
  )('$name: found in $path', ({ path, text, find }) => {
    expect(find({ path, text })).not.toEqual([]);
  });

  test.each(rules)('$name: nothing found in a plain source', ({ kept, find }) => {
    expect(find(kept)).toEqual([]);
  });

  test('a comment is found wherever it stands', () => {
    const template = '`$' + '{b /* two */}`';
    const text = `const a = [/* one */ ${template}, 'x // no', /\\/\\/ no/]; // three\n// four\n\n/** five */\nf();\n// six`;
    expect(commentsOf({ path: 'a.ts', text }).map(proseOf).sort()).toEqual(['five', 'one', 'six', 'three four', 'two']);
  });
});

/** Files and functions of src/ that are longer than the most, each with the reason. */
const LONG: Readonly<Record<string, string>> = {};

describe('sizes in src/', () => {
  test(`no file has more than ${MOST_FILE_LINES} lines, no function more than ${MOST_FUNCTION_LINES}`, () => {
    const long = filesOf('src')
      .filter((path) => path.endsWith('.ts'))
      .map(read)
      .flatMap(({ path, text }) => [
        ...(text.trimEnd().split('\n').length > MOST_FILE_LINES ? [path] : []),
        ...functionLines(path, text)
          .filter(({ lines }) => lines > MOST_FUNCTION_LINES)
          .map(({ name }) => `${path} ${name}`),
      ]);
    // one list equals the other, so that a line goes when its file or function has become short
    expect([...new Set(long)].sort()).toEqual(Object.keys(LONG).sort());
  });

  test('functions of every kind are measured, with their names', () => {
    const text = [
      'function one() {\n}',
      'const two = () => {\n\n};',
      'class A {\n  three() {\n\n\n  }\n  get #four() {\n    return 4;\n  }\n  constructor() {}\n}',
      'f(() => {\n  g();\n});',
      'const h = { five: function* () {} };',
    ].join('\n');
    expect(functionLines('a.ts', text)).toEqual([
      { name: 'one', lines: 2 },
      { name: 'two', lines: 3 },
      { name: 'three', lines: 4 },
      { name: '#four', lines: 3 },
      { name: 'constructor', lines: 1 },
      { name: 'f(…)', lines: 3 },
      { name: 'five', lines: 1 },
    ]);
  });
});

describe('docs/contributing/glossary.md', () => {
  const rows = read('docs/contributing/glossary.md')
    .text.split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
  const terms = rows.slice(1).map(([term = '']) => term);

  test('has a meaning, a place and a source for each term', () => {
    for (const row of rows) expect(row.map((cell) => cell.trim() !== '')).toEqual([true, true, true, true]);
    expect(terms.length).toBeGreaterThan(90);
  });

  test('is alphabetical, and has each term once', () => {
    const { compare } = new Intl.Collator('en');
    expect(terms).toEqual([...new Set(terms)].sort(compare));
  });

  test('names files that exist', () => {
    const paths = rows.flatMap(([, , where = '']) => [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
    const missing = paths.filter((path) => {
      const own = /^(?:wgsl|dev|tests|scripts)\//.test(path) ? path : `src/${path}`;
      return !existsSync(join(project, own));
    });
    expect(missing).toEqual([]);
  });

  test('has a line for each term that replaced a word', () => {
    const uses = replacedWords.map(({ use }) => use).filter((use) => !use.startsWith('a ') && !use.startsWith('the '));
    const others = ['abort when all abort', 'sequence number', 'unsubscribe', 'wasm', 'retired', 'scalar vectors'];
    expect(uses.filter((use) => !terms.includes(use) && !others.includes(use))).toEqual([]);
  });
});
