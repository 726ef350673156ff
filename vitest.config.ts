import { defineConfig } from 'vitest/config';
import { builtWorker } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

export default defineConfig({
  plugins: [wgslTemplates(), builtWorker()],
  test: {
    include: ['tests/**/*.test.ts'],
    environment: 'node',
    // Dawn is a native module that must be let go of: a process for each file, and it dies with the file.
    pool: 'forks',
    // Half of what a test takes is one thread's: starting, compiling, BigInts of the oracle. Two files at a time take seven tenths of what one by one do.
    maxWorkers: 2,
    tags: [
      { name: 'long', description: 'the second tier, `npm run test:all`; docs/architecture.md says what is in it' },
    ],
    // a machine that has others to serve takes three times as long as it does alone
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
