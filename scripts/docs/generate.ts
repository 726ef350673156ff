/**
 * node scripts/docs/generate.mjs --write
 *
 * Renews the generated text of README.md and docs/. With --check it writes nothing, and lists the
 * places that differ.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from '../builds.mjs';
import { command, flag, runCommand, UsageError } from '../command-line.js';
import { renewPages } from './pages.js';

const generate = command({
  usage: 'usage: node scripts/docs/generate.mjs --write | --check',
  options: {
    write: flag('renew the generated text of all pages'),
    check: flag('list the places that differ, and write nothing'),
  },
  notes: 'Exit code: 0 all pages are as generated · 1 a page differs, or has a marker that is wrong · 2 bad usage',
  async run({ write, check }) {
    if (write === check) throw new UsageError('give one of --write and --check');
    const { pages, problems } = await renewPages(project);
    if (write) for (const { path, found, text } of pages) if (text !== found) writeFileSync(join(project, path), text);
    const lines = [
      ...problems,
      ...pages.flatMap(({ path, problems: wrong, differences }) =>
        [...wrong, ...(write ? [] : differences)].map((each) => `${path}:${each}`),
      ),
    ];
    if (lines.length === 0) return;
    console.error(lines.join('\n'));
    if (!write) console.error('renew with: node scripts/docs/generate.mjs --write');
    process.exitCode = 1;
  },
});

await runCommand(generate);
