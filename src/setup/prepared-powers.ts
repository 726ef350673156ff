/**
 * Powers of tau that are prepared for the second phase: a `.ptau` with the Lagrange points of each
 * domain up to its size, from the smallest, in sections 12 to 15.
 */
import { badArgument } from '../errors.js';
import { openSnarkjsFile, readSections, sectionOf } from '../formats/binfile.js';
import { openOrigin } from '../formats/file-origin.js';
import { type FileOrigin, readRange } from '../formats/source.js';
import type { KeyFile } from '../formats/zkey.js';
// From the entry, so that the build leaves in formats.js what both share.
import { openPtau, type Ptau } from '../formats.js';
import { type Groups, openGroups } from './groups.js';
import type { RunOptions } from './run.js';

const sectionIds = { tauG1: 12, tauG2: 13, alphaTauG1: 14, betaTauG1: 15 } as const;

/** A kind of Lagrange points: L_i(τ) times the generator, and times α or β. */
export type LagrangeKind = keyof typeof sectionIds;

export interface PreparedPowers {
  readonly groups: Groups;
  readonly ptau: Ptau;
  /** Reads the Lagrange points of a domain, x‖y of each. */
  lagrange(kind: LagrangeKind, domainSize: number): Promise<Uint32Array<ArrayBuffer>>;
  /** Reads bytes behind the last power of τ in G1, as far as the file has them. */
  behindPowers(bytes: number): Promise<Uint8Array>;
}

/** Powers of tau, and the file that they are in. */
export interface OpenPowers extends KeyFile {
  readonly ptau: Ptau;
  readonly groups: Groups;
}

/** Opens powers of tau. @throws MsmError `bad-argument` */
export const openPowers = async (origin: FileOrigin, { signal, onWarning }: RunOptions): Promise<OpenPowers> => {
  const source = await openOrigin('ptau', origin, { signal, inParts: true });
  const ptau = await openPtau(source, { signal, onWarning });
  const { file } = openSnarkjsFile('ptau', source, { signal, onWarning });
  const sections = await readSections(file, 'ptau', 1, () => undefined);
  return { ptau, file, sections, groups: await openGroups(ptau.curve) };
};

/** Opens prepared powers of tau. @throws MsmError `bad-argument` */
export const openPreparedPowers = async (source: FileOrigin, options: RunOptions): Promise<PreparedPowers> => {
  const { ptau, file, sections, groups } = await openPowers(source, options);
  if (!sections.has(sectionIds.tauG1)) {
    throw badArgument('ptau: section 12 (Lagrange points) is missing: prepare the file for the second phase first');
  }
  return {
    groups,
    ptau,
    async lagrange(kind, domainSize) {
      const id = sectionIds[kind];
      const { at, byteLength } = sectionOf(file, sections, id, kind);
      const { pointBytes } = kind === 'tauG2' ? groups.g2 : groups.g1;
      const from = (domainSize - 1) * pointBytes;
      const to = from + domainSize * pointBytes;
      if (to > byteLength) {
        throw badArgument(`ptau: section ${id} (${kind}) has no points of a domain of ${domainSize}`);
      }
      // aligned
      return new Uint32Array((await readRange(file, at + from, at + to)).slice().buffer);
    },
    async behindPowers(bytes) {
      const { at, byteLength } = sectionOf(file, sections, 2, 'tauG1');
      const from = at + byteLength;
      const read = await file.read(from, Math.min(file.byteLength, from + bytes));
      const padded = new Uint8Array(bytes);
      padded.set(read);
      return padded;
    },
  };
};

/** Returns the size of the domain for some rows. */
export const domainOf = (rows: number, leastPower = 1): number => 2 ** Math.max(leastPower, Math.ceil(Math.log2(rows)));

/**
 * Returns the size of the domain for some rows.
 *
 * @throws MsmError `bad-argument` if the powers of tau are too few
 */
export const domainFor = (rows: number, { ptau }: PreparedPowers, leastPower = 1): number => {
  const size = domainOf(rows, leastPower);
  if (size <= 2 ** ptau.power) return size;
  throw badArgument(
    `ptau: the circuit needs a domain of 2^${Math.log2(size)}, and the file has powers up to 2^${ptau.power}`,
  );
};
