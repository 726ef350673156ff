/** The menu and the sidebar of the site, from the files in docs/. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { inProject } from './markdown-it.js';

/** Folders of docs/ in the order of the menu, each with its pages in the order of the sidebar. */
const sections = [
  { folder: 'tutorials', text: 'Tutorials', pages: ['first-sum', 'prove-in-a-page'] },
  {
    folder: 'how-to',
    text: 'How-to',
    pages: [
      ...[
        'snarkjs',
        'prove-groth16',
        'circom-witness',
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
