/** Rules that turn the Markdown of the repository, as it is read there, into that of the site. */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Prefix of the pages that show files from outside docs/. */
export const REPOSITORY = 'repository/';

/** Returns the path of a file in the project. @param {string} path */
export const inProject = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Resolves a link of a page. Returns the file of the repository that it leads to; null for
 * addresses, anchors, and files that are missing.
 *
 * @param {string} page path of the page in the repository
 * @param {string} href
 */
export function linkedFile(page, href) {
  if (/^([a-z]+:|[/#])/i.test(href)) return null;
  const path = posix.join(posix.dirname(page), decodeURI(href.replace(/[?#].*$/, '')));
  return path.startsWith('..') || !existsSync(inProject(path)) ? null : path.replace(/\/$/, '');
}

/**
 * Returns the address in the site of a link; the same link where the site needs no other one.
 *
 * @param {string} page path of the page in the site
 * @param {string} href
 */
export function siteLink(page, href) {
  const isShown = page.startsWith(REPOSITORY);
  const from = isShown ? page.slice(REPOSITORY.length) : `docs/${page}`;
  const file = linkedFile(from, href);
  if (file === null || (file.startsWith('docs/') && !isShown)) return href;
  const hash = /#.*$/.exec(href)?.[0] ?? '';
  const name = file.replace(/\.md$/, '.html');
  if (file.startsWith('docs/')) return `/${name.slice('docs/'.length)}${hash}`;
  return `/${REPOSITORY}${name === file ? `${file}.html` : name}${hash}`;
}

/** @typedef {import('vitepress').MarkdownRenderer} MarkdownRenderer */

/** Leads links out of docs/ to pages that show the files. @param {MarkdownRenderer} md */
function rewriteLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', siteLink(env.relativePath, token.attrGet('href') ?? ''));
      }
    }
  });
}

/**
 * Makes tabs of code blocks that follow each other and have titles (```js [page.js]). In the
 * repository they are blocks below each other.
 *
 * @param {MarkdownRenderer} md
 */
function groupCode(md) {
  md.core.ruler.push('code-groups', (state) => {
    const { tokens } = state;
    /** @param {number} i */
    const isTitled = (i) => tokens[i]?.type === 'fence' && /\[.+\]/.test(tokens[i].info);
    const inGroup = () => out.at(-1)?.type === 'fence' && isOpen;
    let isOpen = false;
    /** @type {typeof tokens} */
    const out = [];
    for (const [i, token] of tokens.entries()) {
      const isFirst = isTitled(i) && isTitled(i + 1) && !inGroup();
      if (isFirst && tokens[i - 1]?.type !== 'container_code-group_open') {
        out.push(new state.Token('container_code-group_open', 'div', 1));
        isOpen = true;
      }
      out.push(token);
      if (isOpen && !isTitled(i + 1)) {
        out.push(new state.Token('container_code-group_close', 'div', -1));
        isOpen = false;
      }
    }
    state.tokens = out;
  });
}

/** Lets the keyboard scroll wide tables. @param {MarkdownRenderer} md */
function focusTables(md) {
  md.renderer.rules.table_open = () => '<table tabindex="0">';
}

/** Adds all rules. @param {MarkdownRenderer} md */
export function siteRules(md) {
  rewriteLinks(md);
  groupCode(md);
  focusTables(md);
}
