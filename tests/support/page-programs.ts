/** The programs in code blocks of README.md and of the pages in docs/. */
import { readFileSync } from 'node:fs';
import { inProject } from './run-script.js';

/** A code block of a page. */
export interface Program {
  /** Page with the block, and its first line there. */
  readonly place: string;
  readonly language: string;
  /** File name in a comment on the first line of the block; null if it has none. */
  readonly file: string | null;
  readonly text: string;
}

/** Returns the code blocks of a page in their order. */
export const programsOf = (page: string): Program[] => {
  const markdown = readFileSync(inProject(page), 'utf8');
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(({ 1: language = '', 2: text = '', index }) => ({
    place: `${page}:${markdown.slice(0, index).split('\n').length + 1}`,
    language,
    file: /^\/\/ (\S+\.\w+)\n/.exec(text)?.[1] ?? null,
    text,
  }));
};

/** Returns the only program of a page that contains a text. @throws Error if there is not one */
export const programWith = (page: string, text: string): string => {
  const found = programsOf(page).filter((program) => program.text.includes(text));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} programs with "${text}"`);
  return found[0]?.text as string;
};
