import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { builtWorker } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/** Folders of tests/, each a project: `npm test -- --project unit`. */
const rooms = ['unit', 'stages', 'engine', 'cpu', 'encodings', 'provers', 'resilience', 'package', 'tools'];

const inSharedProcess = { isolate: false, setupFiles: ['tests/support/fresh-modules.ts'] };

/** Tier that the command asks for; undefined for both. */
const tier = process.argv.find((argument) => argument.startsWith('--tagsFilter='))?.slice('--tagsFilter='.length);

/**
 * Rooms whose files share two processes: the first ones for the compiled kernels of their devices,
 * the others because a process of its own costs each file half a CPU second.
 */
const sharing = [
  ...['stages', 'engine', 'encodings', 'resilience'],
  ...(tier === '!long' ? ['unit', 'cpu', 'provers', 'tools'] : []),
];

/** Returns whether a file may have tests of the tier: half a second to import one that has none. */
const isOfTier = (path: string): boolean => {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  const isWhollyLong = text.includes('@module-tag long');
  if (tier === '!long') return !isWhollyLong;
  return tier === 'long' ? isWhollyLong || /'long'|describeCurves/.test(text) : true;
};

const filesOf = (room: string): string[] =>
  readdirSync(new URL(`tests/${room}`, import.meta.url))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `tests/${room}/${name}`)
    .filter(isOfTier);

const roomOf = (name: string) => ({
  extends: true as const,
  test: { name, include: filesOf(name), ...(sharing.includes(name) ? inSharedProcess : {}) },
});

/**
 * Rooms with devices as one project, unless the command names rooms: a process serves one project,
 * and every further pair of them compiles the same kernels and transforms the same sources again.
 */
const withDevices = sharing.filter((name) => name !== 'unit');
const shared = {
  extends: true as const,
  test: { name: 'shared', include: withDevices.flatMap(filesOf), ...inSharedProcess },
};

const isOfRooms = process.argv.some((argument) => argument.startsWith('--project'));

export default defineConfig({
  plugins: [wgslTemplates(), builtWorker()],
  test: {
    projects: isOfRooms
      ? rooms.map(roomOf)
      : [shared, ...rooms.filter((name) => !withDevices.includes(name)).map(roomOf)],
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
