import { defineConfig } from 'vitest/config';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

export default defineConfig({
  plugins: [wgslTemplates()],
  test: {
    include: ['tests/**/*.test.ts'],
    environment: 'node',
    // Dawn is a native module that must be let go of: a process for each file, and it dies with the file.
    pool: 'forks',
    // The software adapter computes on every core there is; two files at once would only slow each other down.
    fileParallelism: false,
    tags: [
      { name: 'long', description: 'the second tier, `npm run test:all`; docs/architecture.md says what is in it' },
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
