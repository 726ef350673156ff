/** The pages of the repository: README.md and docs/, without what is built into docs/. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of docs/ that hold no pages of the repository. */
const builtFolders = ['reference/api/', '.vitepress/', 'node_modules/'];

export const pagePaths = (project: string): string[] => [
  'README.md',
  ...readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && !builtFolders.some((folder) => path.startsWith(folder)))
    .sort()
    .map((path) => `docs/${path}`),
];
