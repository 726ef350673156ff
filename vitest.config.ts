import { defineConfig } from 'vitest/config';
import { builtWorker } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/** Folders of tests/, each a project: `npm test -- --project unit`. */
const rooms = ['unit', 'stages', 'engine', 'cpu', 'encodings', 'provers', 'resilience', 'package', 'tools'];

/** Rooms whose files share two processes, and so the compiled kernels of their devices. */
const sharing = ['stages', 'engine', 'encodings', 'resilience'];
const inSharedProcess = { isolate: false, setupFiles: ['tests/support/fresh-modules.ts'] };

export default defineConfig({
  plugins: [wgslTemplates(), builtWorker()],
  test: {
    projects: rooms.map((name) => ({
      extends: true,
      test: { name, include: [`tests/${name}/**/*.test.ts`], ...(sharing.includes(name) ? inSharedProcess : {}) },
    })),
    environment: 'node',
    // processes: Dawn is a native module that is unloaded only with its process
    pool: 'forks',
    // Half of a test's time runs on one thread: starting, compiling, BigInts of the oracle. Two
    // files at a time take 0.7 times as long as one after the other.
    maxWorkers: 2,
    tags: [
      {
        name: 'long',
        description: 'the second tier, `npm run test:all`; docs/contributing/testing.md says what is in it',
      },
    ],
    // long limits: a busy machine takes three times as long as an idle one
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
