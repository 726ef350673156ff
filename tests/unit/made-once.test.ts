/** Files that tests make once: by one process at a time, whatever becomes of it. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { madeOnce } from '../support/made-once.js';
import { sleep } from '../support/time.js';

/** The folder of a file and of what says that it is being made. */
let whole = '';
let made = 0;

const make = async (folder: string): Promise<void> => {
  made++;
  await sleep(30);
  writeFileSync(join(folder, 'file'), 'made');
};

/** Makes a file that no other run has. */
const call = async (work = make): Promise<string> => {
  const folder = await madeOnce('of-a-test', [], { pid: process.pid }, work);
  whole = dirname(folder);
  return readFileSync(join(folder, 'file'), 'utf8');
};

afterEach(() => {
  rmSync(whole, { recursive: true });
  expect(readdirSync(dirname(whole)).filter((name) => name.startsWith(basename(whole)))).toEqual([]);
  made = 0;
});

test('calls at once make a file once', async () => {
  expect(await Promise.all([call(), call(), call()])).toEqual(['made', 'made', 'made']);
  expect(made).toBe(1);
});

test('a call that fails hinders no other', async () => {
  const fail = (): Promise<void> => Promise.reject(new Error('no room'));
  await expect(call(fail)).rejects.toThrow('no room');
  expect(await call()).toBe('made');
});

test('a process that ended while it made a file hinders no other', async () => {
  await call();
  rmSync(whole, { recursive: true });
  writeFileSync(`${whole}.making`, String(spawnSync('true').pid));
  expect(await call()).toBe('made');
  expect(made).toBe(2);
});
