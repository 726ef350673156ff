/** `fileStore` with concurrent writers, and in a folder where others may write. */
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStore } from '../../src/node.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('concurrent writes all arrive, through one store or several', async () => {
  const path = join(folder, 'store.json');
  const stores = [fileStore(path), fileStore(path), fileStore(join(folder, '.', 'store.json'))];
  const names = Array.from({ length: 30 }, (_, i) => `name ${i}`);
  await Promise.all(names.map((name, i) => (stores[i % 3] as (typeof stores)[0]).set(name, `text ${i}`)));
  const texts = await Promise.all(names.map((name) => fileStore(path).get(name)));
  expect(texts).toEqual(names.map((_, i) => `text ${i}`));
  expect(await readdir(folder)).toEqual(['store.json']);
});

test('a write that fails leaves nothing behind, and the next one works', async () => {
  const path = join(folder, 'store.json');
  const unwritable = {
    toJSON: () => {
      throw new Error('no text');
    },
  } as unknown as string;
  const [failed, fine] = await Promise.allSettled([
    fileStore(path).set('a', unwritable),
    fileStore(path).set('b', 'two'),
  ]);
  expect([failed?.status, fine?.status]).toEqual(['rejected', 'fulfilled']);
  expect(await readdir(folder)).toEqual(['store.json']);
  expect(await fileStore(path).get('b')).toBe('two');
});

test('a link that another user planted is not followed', async () => {
  const [path, victim] = [join(folder, 'store.json'), join(folder, 'victim')];
  await writeFile(victim, 'untouched');
  await symlink(victim, path);
  await symlink(victim, `${path}.${process.pid}`);
  await fileStore(path).set('a', 'one');
  expect(await readFile(victim, 'utf8')).toBe('untouched');
  expect(await fileStore(path).get('a')).toBe('one');
});
