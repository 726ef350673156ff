import { writeFileSync } from 'node:fs';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';

/** Enough for three workers (src/plan/work.ts). */
const N = 8192;

/**
 * Writes a module that has points and scalars, enough of them that a call is worth workers.
 *
 * @returns their sum, as it is written in JSON
 */
export const writeLargeCase = (
  path: string,
): { readonly x: string; readonly y: string; readonly infinity: boolean } => {
  const { logs, bytes } = makeKnownBases(bn254G1, N, 41);
  const scalars = makeRandomScalars(bn254G1, N, 42);
  const decoded = (of: Uint8Array): string =>
    `Uint8Array.from(atob('${Buffer.from(of).toString('base64')}'), (letter) => letter.charCodeAt(0))`;
  const lines = [
    `export const points = ${decoded(bytes)};`,
    `export const scalars = ${decoded(encodeScalars(bn254G1, scalars))};`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { x, y, infinity } = expectedMsm(bn254G1, logs, scalars);
  return { x: String(x), y: String(y), infinity };
};
