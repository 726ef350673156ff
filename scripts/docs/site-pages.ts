/**
 * Pages of the docs site: the pages of the repository, its menu and sidebar, and the Markdown rules
 * that turn the pages, as they are read in the repository, into those of the site.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownRenderer } from 'vitepress';

export const inProject = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Folders of docs/ that hold no pages of the repository. */
const builtFolders = ['reference/api/', 'repository/', '.vitepress/', 'node_modules/'];

/** Returns the pages of the repository: README.md and docs/, without what is built into docs/. */
export const pagePaths = (project: string): string[] => [
  'README.md',
  ...readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && !builtFolders.some((folder) => path.startsWith(folder)))
    .sort()
    .map((path) => `docs/${path}`),
];

/** Folders of docs/ in the order of the menu, each with its pages in the order of the sidebar. */
const sections = [
  { folder: 'tutorials', text: 'Tutorials', pages: ['first-sum', 'prove-in-a-page'] },
  {
    folder: 'how-to',
    text: 'How-to',
    pages: [
      ...[
        'snarkjs',
        'prove-from-inputs',
        'command-line',
        'prove-groth16',
        'circom-witness',
        'set-up-a-key',
        'noble',
        'your-prover',
        'field-vectors',
        'files-and-encodings',
        'bundlers-workers-csp',
      ],
      ...['many-calls', 'tune', 'several-machines', 'report-a-gpu'],
    ],
  },
  {
    folder: 'reference',
    text: 'Reference',
    pages: ['options', 'encodings', 'curves', 'errors', 'failures', 'performance', 'knobs', 'modes', 'chips'],
  },
  {
    folder: 'explanation',
    text: 'Explanation',
    pages: ['how-it-works', 'correctness', 'security', 'how-it-is-measured'],
  },
  { folder: 'contributing', text: 'Contributing', pages: ['map', 'glossary', 'testing'] },
];

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: Item[];
}

function titleOf(path: string) {
  const title = /^# (.*)$/m.exec(readFileSync(inProject(`docs/${path}.md`), 'utf8'))?.[1] ?? path;
  return title.replaceAll(/[`\\]/g, '').replace(/<.*/, '');
}

/** Returns the pages of a folder: the known ones in order, then the others. */
function pagesOf(folder: string, known: readonly string[] = []) {
  const path = inProject(`docs/${folder}`);
  if (!existsSync(path)) return [];
  const found = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && entry.name !== 'index.md')
    .map(({ name }) => name.slice(0, -3))
    .sort();
  return [...known.filter((name) => found.includes(name)), ...found.filter((name) => !known.includes(name))];
}

const itemsOf = (folder: string, known: readonly string[] = []): Item[] =>
  pagesOf(folder, known).map((name) => ({ text: titleOf(`${folder}/${name}`), link: `/${folder}/${name}` }));

const { exports } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));

/**
 * The entries of the package, as the pages of the API are named. That for service workers exports
 * what the others do.
 */
export const entries = [
  'index',
  ...Object.keys(exports)
    .filter((path) => !['.', './package.json', './service-worker'].includes(path))
    .map((path) => path.slice('./'.length))
    .sort(),
];

/** Returns the item of an entry: its functions first, then its types. */
const entryItem = (name: string): Item => ({
  text: name === 'index' ? 'webgpu-msm' : `webgpu-msm/${name}`,
  link: `/reference/api/${name}/`,
  collapsed: true,
  items: ['functions', 'variables', 'classes', 'interfaces', 'type-aliases'].flatMap((kind) =>
    itemsOf(`reference/api/${name}/${kind}`),
  ),
});

export const sidebar = (): Item[] =>
  sections.map(({ folder, text, pages }) => ({
    text,
    ...(folder === 'contributing' && { link: '/contributing/map', collapsed: true }),
    items: [
      ...itemsOf(folder, pages),
      ...(folder === 'reference'
        ? [{ text: 'API', link: '/reference/api/', collapsed: true, items: entries.map(entryItem) }]
        : []),
      ...(folder === 'contributing'
        ? [
            {
              text: 'Decisions',
              link: '/contributing/decisions/',
              collapsed: true,
              items: itemsOf('contributing/decisions'),
            },
          ]
        : []),
    ],
  }));

/** Returns the menu: the first page of each section, and the bench. */
export const menu = () => [
  ...sections.flatMap(({ folder, text, pages }) => {
    const [first] = pagesOf(folder, pages);
    return first === undefined ? [] : [{ text, link: `/${folder}/${first}`, activeMatch: `^/${folder}/` }];
  }),
  { text: 'Bench', link: '/bench/index.html', target: '_self' },
];

/** Prefix of the pages that show files from outside docs/. */
export const REPOSITORY = 'repository/';

/**
 * Resolves a link of a page. Returns the file of the repository that it leads to; null for
 * addresses, anchors, and files that are missing.
 *
 * @param page path of the page in the repository
 */
function linkedFile(page: string, href: string) {
  if (/^([a-z]+:|[/#])/i.test(href)) return null;
  const path = posix.join(posix.dirname(page), decodeURI(href.replace(/[?#].*$/, '')));
  return path.startsWith('..') || !existsSync(inProject(path)) ? null : path.replace(/\/$/, '');
}

/**
 * Returns the address in the site of a link; the same link where the site needs no other one.
 *
 * @param page path of the page in the site
 */
function siteLink(page: string, href: string) {
  const isShown = page.startsWith(REPOSITORY);
  const from = isShown ? page.slice(REPOSITORY.length) : `docs/${page}`;
  const file = linkedFile(from, href);
  if (file === null || (file.startsWith('docs/') && !isShown)) return href;
  const hash = /#.*$/.exec(href)?.[0] ?? '';
  const name = file.replace(/\.md$/, '.html');
  if (file.startsWith('docs/')) return `/${name.slice('docs/'.length)}${hash}`;
  return `/${REPOSITORY}${name === file ? `${file}.html` : name}${hash}`;
}

/** Leads links out of docs/ to pages that show the files. */
function rewriteLinks(md: MarkdownRenderer) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', siteLink(env.relativePath, token.attrGet('href') ?? ''));
      }
    }
  });
}

/**
 * Returns the title of a code block: [page.js] after its language, or the name of a file in the
 * comment of its first line; null without a title.
 */
function codeTitleOf(token: { type: string; info: string; content: string } | undefined) {
  if (token?.type !== 'fence') return null;
  const { info, content } = token;
  const name = /\[(.+)\]/.exec(info) ?? /^(?:\/\/|#|<!--) ([\w.-]+\.\w+)\b/.exec(content);
  return name?.[1] ?? (info === 'html' ? 'index.html' : null);
}

/**
 * Makes tabs of code blocks that have titles and follow each other. In the repository they stand
 * below each other.
 */
function groupCode(md: MarkdownRenderer) {
  md.core.ruler.push('code-groups', (state) => {
    const { tokens, Token } = state;
    let isOpen = false;
    state.tokens = tokens.flatMap((token, i) => {
      const title = codeTitleOf(token);
      const hasNext = title !== null && codeTitleOf(tokens[i + 1]) !== null;
      const begins = hasNext && !isOpen && tokens[i - 1]?.type !== 'container_code-group_open';
      const ends = isOpen && !hasNext;
      if (begins || isOpen) token.info = `${token.info.replace(/\[.*/, '').trim()} [${title}]`;
      isOpen = begins || (isOpen && hasNext);
      return [
        ...(begins ? [new Token('container_code-group_open', 'div', 1)] : []),
        token,
        ...(ends ? [new Token('container_code-group_close', 'div', -1)] : []),
      ];
    });
  });
}

/** Lets wide tables and indented code blocks scroll on their own, also by keyboard. */
function scrollWideBlocks(md: MarkdownRenderer) {
  const { rules } = md.renderer;
  rules.table_open = () => '<table tabindex="0">';
  rules.code_block = (...given) => {
    const [tokens, i] = given;
    Object.assign(tokens[i] ?? {}, { info: 'txt' });
    return rules.fence?.(...given) ?? '';
  };
}

export function siteRules(md: MarkdownRenderer) {
  rewriteLinks(md);
  groupCode(md);
  scrollWideBlocks(md);
}

/** Size above which a file is cut, in characters. */
const LIMIT = 40_000;

const linksOf = (text: string) => [...text.matchAll(/\]\(\s*<?([^)\s>]+)/g)].map(([, href]) => String(href));

function contentOf(path: string) {
  const file = inProject(path);
  if (statSync(file).isDirectory()) {
    const list = readdirSync(file).sort();
    const entries = list.map((name) => `- [${name}](${path.split('/').at(-1)}/${name})`);
    return `# ${path}/\n\n${entries.join('\n')}\n`;
  }
  const text = readFileSync(file, 'utf8');
  if (path.endsWith('.md')) return text;
  const cut = text.length > LIMIT ? `The first ${LIMIT} characters of the file.\n\n` : '';
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return `# ${path}\n\n${cut}${fence}${extname(path).slice(1)}\n${text.slice(0, LIMIT)}\n${fence}\n`;
}

/** Returns the files that the pages link to, and those that these link to. */
export function shownFiles() {
  const shown = new Map<string, string>();
  const pages = pagePaths(inProject('.'))
    .slice(1)
    .map((path) => ({ path, content: readFileSync(inProject(path), 'utf8') }));
  for (const { path: page, content } of pages) {
    for (const href of linksOf(content)) {
      const path = linkedFile(page, href);
      if (path === null || path === '' || path.startsWith('docs/') || shown.has(path)) continue;
      shown.set(path, contentOf(path));
      pages.push({ path, content: shown.get(path) ?? '' });
    }
  }
  return [...shown].map(([path, content]) => ({ path: path.replace(/\.md$/, ''), content }));
}
