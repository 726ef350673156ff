/** Transforms of ffjavascript, on one thread; in Node alone, as in ffjavascript.ts. */

import { builders, isTheirs } from './ffjavascript.js';
import type { TheirTransforms } from './transforms.js';

/** The used part of a scalar field of ffjavascript. */
interface TheirField {
  fft(buffer: Uint8Array): Promise<Uint8Array>;
  ifft(buffer: Uint8Array): Promise<Uint8Array>;
  batchToMontgomery(buffer: Uint8Array): Promise<Uint8Array>;
}

/** Opens the transforms of a curve's scalar field; null for curves that it does not have. */
export const makeFfjavascriptTransforms = async (curve: string): Promise<TheirTransforms<Uint8Array> | null> => {
  if (!isTheirs(curve)) return null;
  const name = 'ffjavascript';
  const module = (await import(/* @vite-ignore */ name)) as Record<
    string,
    (single: boolean) => Promise<{ readonly Fr: TheirField }>
  >;
  const built = await module[builders[curve]]?.(true);
  if (built === undefined) return null;
  const { Fr } = built;
  return {
    names: { ntt: 'fft', intt: 'ifft' },
    enter: (bytes) => Fr.batchToMontgomery(bytes),
    ntt: (buffer) => Fr.fft(buffer),
    intt: (buffer) => Fr.ifft(buffer),
  };
};
