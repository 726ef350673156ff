/** Files above 4 GiB, sparse on the disk, read by ranges. The oracle is the same file in memory. */
import { mkdtempSync, openAsBlob, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberToBytesLE } from '@noble/curves/utils.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileOnDisk } from '../../src/formats/disk-file.js';
import { type FileSource, type Groth16Zkey, openHalo2Params, openZkey } from '../../src/formats.js';
import { openFile } from '../../src/node.js';
import { sections } from '../support/failure-table.js';
import { snarkjsFiles } from '../support/snarkjs-files.js';
import { writeSparse } from '../support/sparse-file.js';

const { changed, closed, counted } = sections.files.rows;
const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-disk-'));
const pathOf = (name: string): string => join(folder, name);
let zkey: Uint8Array;
beforeAll(async () => {
  zkey = (await snarkjsFiles('bn128')).groth16;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const refusal = (message: string) =>
  expect.objectContaining({ code: 'bad-argument', message: expect.stringContaining(message) });

const pointsOf = async (source: FileSource): Promise<readonly Uint8Array[]> => {
  const { a, b2, h } = ((await openZkey(source)) as Groth16Zkey).sections;
  return Promise.all([a, b2, h].map((section) => section.points()));
};

describe('a key above 4 GiB', () => {
  test('is read by ranges, on both sides of the limit', async () => {
    writeSparse(pathOf('middle.zkey'), zkey, 2 ** 32, 3);
    const file = await openFile(pathOf('middle.zkey'));
    expect(file.byteLength).toBe(zkey.length + 12 + 2 ** 32);
    expect(await pointsOf(file)).toEqual(await pointsOf(zkey));
  });

  test.each([
    ['that Node counts modulo 2^32', Number.POSITIVE_INFINITY, counted.says],
    ['that may be cut off', 3, 'is it cut off, or a Blob of Node, which counts bytes modulo 2^32? openFile'],
  ])('as a Blob %s is refused, and the message says why', async (_, at, message) => {
    const path = pathOf(`blob-${at}.zkey`);
    writeSparse(path, zkey, 2 ** 32, at);
    await expect(openZkey(await openAsBlob(path))).rejects.toEqual(refusal(message));
  });

  test('as a Blob that is cut off is refused for that', async () => {
    const path = pathOf('cut.zkey');
    writeSparse(path, zkey, 2 ** 32, Number.POSITIVE_INFINITY);
    truncateSync(path, 2 ** 32 - 5);
    await expect(openZkey(await openAsBlob(path))).rejects.toEqual(refusal('are left: is it cut off?'));
  });
});

test('parameters of halo2 above 4 GiB are read by ranges, and a Blob of them is refused', async () => {
  const path = pathOf('kzg.params');
  writeFileSync(path, numberToBytesLE(25, 4));
  truncateSync(path, 4 + 2 * 2 ** 25 * 64 + 2 * 128);
  expect((await openHalo2Params(await openFile(path))).sections.g.count).toBe(2 ** 25);
  await expect(openHalo2Params(await openAsBlob(path))).rejects.toEqual(
    refusal(`it has 260: the file has 4294967556 bytes, and ${counted.says}`),
  );
});

describe('a file on a disk', () => {
  const path = pathOf('bytes');
  let isOpen = 0;
  const counting = {
    realpath,
    open: async (name: string, flags: 'r') => {
      const handle = await open(name, flags);
      isOpen++;
      const close = handle.close.bind(handle);
      return Object.assign(handle, { close: () => close().finally(() => isOpen--) });
    },
  };
  beforeAll(() =>
    writeFileSync(
      path,
      Uint8Array.from({ length: 256 }, (_, i) => i),
    ),
  );

  test('is open while it is read, and no longer', async () => {
    const file = await FileOnDisk.open(counting, path);
    expect(isOpen).toBe(0);
    const reads = [file.read(0, 2), file.read(254, 256), file.read(7, 7)];
    expect(await Promise.all(reads)).toEqual([Uint8Array.of(0, 1), Uint8Array.of(254, 255), new Uint8Array()]);
    expect(isOpen).toBe(0);
    await expect(file.read(255, 257)).rejects.toEqual(refusal('[255, 257) is not a range of its 256 bytes'));
    expect(await file.read(3, 4)).toEqual(Uint8Array.of(3));
    expect(isOpen).toBe(0);
  });

  test('is read to the end of a read that `close` finds, and no more after it', async () => {
    const file = await FileOnDisk.open(counting, path);
    const reading = file.read(0, 256);
    await file[Symbol.asyncDispose]();
    expect(await Promise.race([reading, 'pending'])).toHaveLength(256);
    expect(isOpen).toBe(0);
    await expect(file.read(0, 1)).rejects.toMatchObject({ code: closed.code, message: `${path} ${closed.says}` });
  });

  test('that changed is not read', async () => {
    const file = await FileOnDisk.open(counting, path);
    utimesSync(path, 1, 1);
    await expect(file.read(0, 1)).rejects.toEqual(refusal(changed.says));
    expect(isOpen).toBe(0);
  });

  test('is no folder, and is there', async () => {
    await expect(openFile(folder)).rejects.toEqual(refusal('is not a file'));
    await expect(openFile(pathOf('none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
