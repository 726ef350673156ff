/**
 * Readers of provers' files: the points of keys and reference strings, read in parts, for
 * `loadBases`.
 *
 * @module
 */

export { type AztecCrs, openAztecCrs } from './formats/aztec.js';
export type { SnarkjsFileOptions } from './formats/binfile.js';
export { type GnarkSrs, type GnarkSrsOptions, openGnarkSrs } from './formats/gnark.js';
export { type Halo2Params, openHalo2Params } from './formats/halo2.js';
export { openPtau, type Ptau, type PtauSections } from './formats/ptau.js';
export type { ChunkOptions, FileCurve, PointSection } from './formats/section.js';
export type { FileSource, RandomAccess } from './formats/source.js';
export { type Groth16Sections, type Groth16Zkey, openZkey, type PlonkZkey, type Zkey } from './formats/zkey.js';
export type { Group, PagedBytes, PointEncoding } from './index.js';
