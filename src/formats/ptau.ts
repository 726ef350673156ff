import { badArgument } from '../errors.js';
import { Fields, openSnarkjsFile, readSections, type SnarkjsFileOptions, sectionOf } from './binfile.js';
import type { PointSection } from './section.js';
import { pointsIn, readCurve, type SnarkjsCurve } from './snarkjs.js';
import type { FileSource } from './source.js';

/** The points of a `.ptau`, with n = 2^power. */
export interface PtauSections {
  /** τ^i·G1, 2n − 1 of them. */
  readonly tauG1: PointSection<'le-montgomery'>;
  /** τ^i·G2, n of them. */
  readonly tauG2: PointSection<'le-montgomery'>;
  /** α·τ^i·G1, n of them. */
  readonly alphaTauG1: PointSection<'le-montgomery'>;
  /** β·τ^i·G1, n of them. */
  readonly betaTauG1: PointSection<'le-montgomery'>;
  /** β·G2, one. */
  readonly betaG2: PointSection<'le-montgomery'>;
}

/** A `.ptau`: powers of tau. */
export interface Ptau {
  /** The curve, by the prime in the header. */
  readonly curve: SnarkjsCurve['name'];
  /** Circuits may have up to 2^power constraints. */
  readonly power: number;
  /** The power of the ceremony from which the file was cut. */
  readonly ceremonyPower: number;
  /** Its points. */
  readonly sections: PtauSections;
}

/** The newest version of the format. */
const NEWEST = 1;
/**
 * The largest two-adicity of the scalar fields of snarkjs's curves. No ceremony had that many
 * points.
 */
const MOST_POWER = 32;

/**
 * Opens a `.ptau` of snarkjs on BN254 or BLS12-381, prepared for the second phase or not. Reads its
 * headers, and no points. Ignores the Lagrange basis of a prepared file.
 *
 * @throws MsmError `bad-argument` naming the section, if the file is no `.ptau`, is cut off, or
 * contradicts its header
 * @example
 * ```ts
 * import { openPtau } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { sections } = await openPtau(await openFile('powers.ptau'));
 * const { curve, group, encoding } = sections.tauG1;
 * console.log(curve, group, encoding); // bn254 g1 le-montgomery
 * ```
 */
export const openPtau = async (source: FileSource, options: SnarkjsFileOptions = {}): Promise<Ptau> => {
  const { file, warn } = openSnarkjsFile('ptau', source, options);
  const sections = await readSections(file, 'ptau', NEWEST, warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const curve = readCurve(file, header);
  const power = header.u32();
  const ceremonyPower = header.u32();
  header.end();
  if (power > ceremonyPower || ceremonyPower > MOST_POWER) {
    throw badArgument(
      `ptau: the header says power ${power} of ${ceremonyPower}: the first must be at most the second, and the second at most ${MOST_POWER}`,
    );
  }
  const n = 2 ** power;
  const points = (id: number, name: string, count: number, group: 'g1' | 'g2') =>
    pointsIn(file, curve, sections, id, { name, group, count });
  return {
    curve: curve.name,
    power,
    ceremonyPower,
    sections: {
      tauG1: points(2, 'tauG1', 2 * n - 1, 'g1'),
      tauG2: points(3, 'tauG2', n, 'g2'),
      alphaTauG1: points(4, 'alphaTauG1', n, 'g1'),
      betaTauG1: points(5, 'betaTauG1', n, 'g1'),
      betaG2: points(6, 'betaG2', 1, 'g2'),
    },
  };
};
