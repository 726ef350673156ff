/**
 * Readers of provers' files: the points of keys and reference strings, read in parts, for
 * `loadBases`.
 *
 * @module
 */

export type { SnarkjsFileOptions } from './formats/binfile.js';
export { type CachedKey, type KeyCache, type KeyCacheOptions, opfsCache } from './formats/key-cache.js';
export { type PackOptions, type PackResult, packZkey, unpackZkey } from './formats/pack-zkey.js';
export type { RootWorkers } from './formats/point-roots.js';
export {
  type AztecCrs,
  type GnarkSrs,
  type GnarkSrsOptions,
  type Halo2Params,
  openAztecCrs,
  openGnarkSrs,
  openHalo2Params,
  openPtau,
  type Ptau,
  type PtauSections,
} from './formats/reference-strings.js';
export type { Sink, WritableHandle } from './formats/sink.js';
export type { ChunkOptions, FileCurve, FileSource, PointSection, RandomAccess } from './formats/source.js';
export { type Groth16Sections, type Groth16Zkey, openZkey, type PlonkZkey, type Zkey } from './formats/zkey.js';
export type { Group, PagedBytes, PointEncoding } from './index.js';
