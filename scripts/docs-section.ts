import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from './builds.mjs';

/** Replaces the section that a command writes into a page of the docs. */
export function writeSection(page: string, command: string, text: string) {
  const [begin, end] = [`<!-- written by ${command} -->`, '<!-- end of what it wrote -->'];
  const path = join(project, page);
  const found = readFileSync(path, 'utf8');
  const [from, to] = [found.indexOf(begin), found.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${page} has no ${begin} … ${end}`);
  writeFileSync(path, `${found.slice(0, from)}${begin}\n\n${text}\n\n${found.slice(to)}`);
}
