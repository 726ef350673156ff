/** Rules that turn the Markdown of the repository, as it is read there, into that of the site. */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownRenderer } from 'vitepress';

/** Prefix of the pages that show files from outside docs/. */
export const REPOSITORY = 'repository/';

export const inProject = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Resolves a link of a page. Returns the file of the repository that it leads to; null for
 * addresses, anchors, and files that are missing.
 *
 * @param page path of the page in the repository
 */
export function linkedFile(page: string, href: string) {
  if (/^([a-z]+:|[/#])/i.test(href)) return null;
  const path = posix.join(posix.dirname(page), decodeURI(href.replace(/[?#].*$/, '')));
  return path.startsWith('..') || !existsSync(inProject(path)) ? null : path.replace(/\/$/, '');
}

/**
 * Returns the address in the site of a link; the same link where the site needs no other one.
 *
 * @param page path of the page in the site
 */
export function siteLink(page: string, href: string) {
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
function titleOf(token: { type: string; info: string; content: string } | undefined) {
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
      const title = titleOf(token);
      const hasNext = title !== null && titleOf(tokens[i + 1]) !== null;
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
