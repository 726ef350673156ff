/** Finds the files outside docs/ that the pages link to, and shows them as pages. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { inProject, linkedFile } from './markdown-it.js';

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

/** Returns the pages of docs/, without those that show other files. */
const docsPages = () =>
  readdirSync(inProject('docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/^(repository|reference\/api)\//.test(path))
    .map((path) => `docs/${path}`);

/** Returns the files that the pages link to, and those that these link to. */
export function shownFiles() {
  const shown = new Map<string, string>();
  const pages = docsPages().map((path) => ({ path, content: readFileSync(inProject(path), 'utf8') }));
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
