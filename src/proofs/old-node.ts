/** Advice to those who prove in a Node whose WebAssembly is slow. */

import type { MsmEngine } from '../api/engine.js';
import { warnBy } from '../errors.js';

/** Domain from which on proofs take long enough for another Node to matter. */
const LEAST_DOMAIN = 2 ** 12;

/** `(f64x2) → f64x2.relaxed_madd`, the instruction of the fastest arithmetic, as a module. */
const MADD = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b, 0x7b, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20, 0x01, 0x20, 0x02, 0xfd, 0x87, 0x02, 0x0b],
];

/** Returns the major version of Node, if its WebAssembly has no relaxed SIMD; else null. */
const oldNode = (): number | null => {
  const { process } = globalThis as { process?: { versions?: Readonly<Record<string, string | undefined>> } };
  const { node, bun, deno } = process?.versions ?? {};
  if (node === undefined || bun !== undefined || deno !== undefined || typeof WebAssembly !== 'object') return null;
  return WebAssembly.validate(Uint8Array.from(MADD)) ? null : Number.parseInt(node, 10);
};

let hasWarned = false;

/**
 * Warns once that a newer Node proves faster, when the CPU is to prove with a large key in an old
 * one.
 *
 * @param engine the engine of the key's G1
 */
export const warnOfOldNode = (
  { domainSize }: { readonly domainSize: number },
  { backends }: Pick<MsmEngine, 'backends'>,
  { onWarning }: { readonly onWarning?: ((message: string) => void) | undefined },
): void => {
  if (hasWarned || domainSize < LEAST_DOMAIN || backends[0] !== 'cpu') return;
  const version = oldNode();
  if (version === null) return;
  hasWarned = true;
  warnBy(
    onWarning,
    `WebAssembly of Node ${version} lacks fused multiply-adds, with which proofs take about a third of the CPU time. Use Node 24, or 22.`,
  );
};
