/** Keys under a limit of main memory: files that are read in parts, and the least limit. */
import { expect } from 'vitest';
import type { ProveOptions } from '../../src/groth16.js';

/** A file that is read in parts, and the ranges that were read. */
export const countedFile = (bytes: Uint8Array) => {
  const reads: (readonly [from: number, to: number])[] = [];
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    reads.push([from, to]);
    return bytes.slice(from, to);
  };
  return { byteLength: bytes.length, read, reads };
};

export type FileInParts = ReturnType<typeof countedFile>;

/** Position and size of a section. */
export const placeOf = (file: Uint8Array, id: number): { readonly from: number; readonly to: number } => {
  const view = new DataView(file.buffer, file.byteOffset);
  for (let at = 12; ; ) {
    const to = at + 12 + Number(view.getBigUint64(at + 4, true));
    if (view.getUint32(at, true) === id) return { from: at + 12, to };
    at = to;
  }
};

/** Returns the least limit that a key can be opened with, which the error of a smaller one says. */
export const floorOf = async (open: (memoryLimit: number) => Promise<unknown>): Promise<number> => {
  const error: unknown = await open(1).catch((each: unknown) => each);
  expect(error).toMatchObject({ code: 'out-of-memory' });
  return Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
};

/** A key of any proof system. */
interface Proves {
  prove(witness: Uint8Array, options: ProveOptions): Promise<unknown>;
}

/** Expects that an abort ends a proof before its first part, and after each of the next ones. @param parts of a proof */
export const expectAborts = async (key: Proves, witness: Uint8Array, parts: number): Promise<void> => {
  for (let part = 0; part < parts; part++) {
    const controller = new AbortController();
    const proving = key.prove(witness, {
      signal: controller.signal,
      onProgress: ({ done }) => void (done === part && controller.abort('enough')),
    });
    if (part === 0) controller.abort('enough');
    await expect(proving).rejects.toMatchObject({ code: 'aborted' });
  }
};
