/**
 * The workers of the built package in programs of Node's and of Deno's; and that a program ends
 * which has nothing left to do, though its engine was not destroyed.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inProject } from '../support/run-script.js';
import { makePlace, type Place } from '../support/worker-place.js';
import { right, someWorkers } from '../support/workers-seen.js';

/**
 * Workers that had nothing to do would be let go of after 10 s (src/threads/pool.ts): it is not for
 * that that a program ends.
 */
const SOON_MS = 5000;

let place: Place;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => {
  if (place !== undefined) rmSync(place.folder, { recursive: true, force: true });
});

/** Runs a program; returns its output, and the time from the output to the end of the process. */
const run = async (
  command: string,
  args: readonly string[],
): Promise<{ outcome: Readonly<Record<string, unknown>>; lingeredMs: number; complaints: string }> => {
  const { stdout, stderr } = await promisify(execFile)(command, [...args], {
    cwd: place.folder,
    env: { ...process.env, DENO_DIR: join(place.folder, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
    timeout: 60_000,
  });
  const ended = Date.now();
  const { doneAt, ...outcome } = JSON.parse(stdout);
  return { outcome, lingeredMs: ended - doneAt, complaints: stderr };
};

const inDeno = (allowed: readonly string[]): ReturnType<typeof run> => {
  const flags = ['--no-config', '--no-lock', '--no-remote', '--no-prompt', ...allowed];
  return run(inProject('node_modules/.bin/deno'), ['run', ...flags, 'pages/program.js']);
};

describe('a program in Node', () => {
  it('computes with workers, and ends', async () => {
    const { outcome, lingeredMs, complaints } = await run(process.execPath, ['pages/program.js']);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, lost: [] });
    expect(complaints).toBe('');
    expect(lingeredMs).toBeLessThan(SOON_MS);
  });

  it('computes with workers in a thread, and ends', async () => {
    const start = "new (require('node:worker_threads').Worker)('./pages/program.js')";
    const { outcome, lingeredMs, complaints } = await run(process.execPath, ['-e', start]);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, lost: [] });
    expect(complaints).toBe('');
    expect(lingeredMs).toBeLessThan(SOON_MS);
  });

  it('computes with workers if a bundler left out their file', async () => {
    const outfile = join(place.folder, 'esbuild/program.mjs');
    const entryPoints = [join(place.folder, 'pages/program.js')];
    await esbuild({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
    const { outcome, lingeredMs, complaints } = await run(process.execPath, [outfile]);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, lost: [] });
    expect(complaints).toBe('');
    expect(lingeredMs).toBeLessThan(SOON_MS);
  });
});

describe('a program in Deno', () => {
  it('computes with workers if the package may be read, and ends', async () => {
    const { outcome, lingeredMs } = await inDeno(['--allow-read']);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, lost: [] });
    expect(lingeredMs).toBeLessThan(SOON_MS);
  });

  it('computes with workers from their text if reading is not allowed', async () => {
    const { outcome, lingeredMs } = await inDeno([]);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, lost: [] });
    expect(lingeredMs).toBeLessThan(SOON_MS);
  });
});
