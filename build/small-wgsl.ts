import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/** The spaces beside what is a token of its own, whatever stands next to it there. Braces are not: a third one would make another tag. */
const needless = / *([=+*,;:&|^!()]+) */g;
/** And beside what is one between two operands; a minus before a tag might become two. */
const between = /(?<=[\w)\]]) (-|->|%|<|>|<<|>>|<=|>=) (?=[\w(])/g;

const withoutSpaces = (line: string): string => line.trim().replace(needless, '$1').replace(between, '$1');

/**
 * A template of wgsl/ without what no GPU reads: comments, indentation, empty lines, spaces around operators. What it renders to stays the
 * same but for white space, as nothing is taken from between two words of a line, and lines stay lines.
 *
 * @throws Error where a comment holds a tag that reaches beyond it
 */
export const withoutComments = (template: string): string =>
  template
    .split('\n')
    .map((line) => {
      const at = line.indexOf('//');
      if (at === -1) return withoutSpaces(line);
      const comment = line.slice(at);
      if (/\{\{\s*[^\w{\s]/.test(comment))
        throw new Error(`a comment may name variables, and nothing else: ${comment}`);
      return withoutSpaces(line.slice(0, at));
    })
    .filter((line) => line !== '')
    .join('\n');

/** Shaders are shipped without comments. */
export const smallWgsl = (): Plugin => ({
  name: 'small-wgsl',
  // before vite's own reading of `?raw`
  enforce: 'pre',
  load(id) {
    const [path, query] = id.split('?');
    if (query !== 'raw' || !path?.endsWith('.wgsl')) return null;
    return `export default ${JSON.stringify(withoutComments(readFileSync(path, 'utf8')))};`;
  },
});
