/**
 * node scripts/docs/generate.mjs --write
 *
 * Renews the generated text of README.md and docs/. With --check it writes nothing, and lists the
 * places that differ.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../builds.mjs';
import { flag, parseCommand, runCommand, UsageError } from '../command-line.mjs';
import { withTypeScript } from './load.mjs';

const command = {
  usage: 'usage: node scripts/docs/generate.mjs --write | --check | --list',
  options: {
    write: flag('renew the generated text of all pages'),
    check: flag('list the places that differ, and write nothing'),
    list: flag('list the names of all blocks, and the pages that have them'),
  },
  notes: 'Exit code: 0 all pages are as generated · 1 a page differs, or has a marker that is wrong · 2 bad usage',
};

await runCommand(command, async () => {
  const { write, check, list } = parseCommand(command);
  if ([write, check, list].filter(Boolean).length !== 1) throw new UsageError('give one of --write, --check, --list');
  /** @type {import('./pages.js').RenewedPages & Pick<typeof import('./pages.js'), 'reportLines'>} */
  const { pages, unused, problems, reportLines } = await withTypeScript(async (importModule) => {
    /** @type {typeof import('./pages.js')} */
    const { renewPages, reportLines } = await importModule('scripts/docs/pages.ts');
    return { ...(await renewPages(project)), reportLines };
  });
  if (list) {
    for (const { path, names } of pages) for (const name of names) console.log(`${name}  ${path}`);
    for (const name of unused) console.log(`${name}  (no page)`);
    return;
  }
  if (write) for (const { path, found, text } of pages) if (text !== found) writeFileSync(join(project, path), text);
  const wrong = write ? pages.map((page) => ({ ...page, differences: [] })) : pages;
  const lines = [...problems, ...reportLines(wrong)];
  if (lines.length === 0) return;
  console.error(lines.join('\n'));
  if (!write) console.error('renew with: node scripts/docs/generate.mjs --write');
  process.exitCode = 1;
});
