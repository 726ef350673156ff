import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/**
 * Writes a binfile (iden3's container) with one more section, which is a hole in the file: neither
 * written nor stored.
 *
 * @param holeBytes the size of that section
 * @param before the sections that come before it
 */
export const writeSparse = (path: string, file: Uint8Array, holeBytes: number, before: number): void => {
  const numbers = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const count = numbers.getUint32(8, true);
  let end = 12;
  for (let i = 0; i < Math.min(before, count); i++) end += 12 + Number(numbers.getBigUint64(end + 4, true));
  const head = file.slice(0, end);
  new DataView(head.buffer).setUint32(8, count + 1, true);
  const hole = new DataView(new ArrayBuffer(12));
  hole.setUint32(0, 99, true);
  hole.setBigUint64(4, BigInt(holeBytes), true);
  const target = openSync(path, 'w');
  try {
    writeSync(target, head, 0, end, 0);
    writeSync(target, hole, 0, 12, end);
    ftruncateSync(target, end + 12 + holeBytes);
    writeSync(target, file, end, file.length - end, end + 12 + holeBytes);
  } finally {
    closeSync(target);
  }
};
