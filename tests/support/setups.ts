/** Setups beside those of snarkjs: the same randomness, and the bytes of its files. */
import nodeCrypto from 'node:crypto';
import { expect, vi } from 'vitest';
import { memoryFile } from './proving.js';

export const quiet = { maxWorkers: 0 } as const;

/** A file of snarkjs's, and its bytes. */
export const made = async (make: (file: unknown) => Promise<unknown>): Promise<Uint8Array> => {
  const file = memoryFile() as { data?: Uint8Array };
  await make(file);
  return file.data as Uint8Array;
};

/** Has both libraries draw the same bytes from the system. */
export const drawSame = (seed: number): void => {
  const fill = <Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes => {
    const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < view.length; i++) view[i] = (seed * 31 + i * 7) & 0xff;
    return bytes;
  };
  vi.spyOn(nodeCrypto, 'randomFillSync').mockImplementation(fill as typeof nodeCrypto.randomFillSync);
  vi.spyOn(globalThis.crypto, 'getRandomValues').mockImplementation(fill as typeof crypto.getRandomValues);
};

/** Expects that bytes are equal, without printing thousands of them. */
export const expectSame = (ours: Uint8Array, theirs: Uint8Array): void => {
  const at = ours.findIndex((byte, i) => byte !== theirs[i]);
  expect({ length: ours.length, firstDifference: at }).toEqual({ length: theirs.length, firstDifference: -1 });
};
