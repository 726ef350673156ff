/** Compact keys as callers make them. The code that packs is loaded by the first use. */
import { notLoaded } from '../errors.js';
import { isCompact, openCompact } from './compact-source.js';
import type { Opening, PackOptions, PackResult } from './compact-writer.js';
import { CHUNK_BYTES, COMPACT_MAGIC, type FileSource, openFile } from './source.js';
import { fileOf, openZkey } from './zkey.js';

export type { PackOptions, PackResult } from './compact-writer.js';

/**
 * Packs a `.zkey` into a compact key, which `openProvingKey`, `openCircuit` and `accelerate` take as
 * the `.zkey`. Each chunk is unpacked again; what would differ is kept as it is, so that
 * `unpackZkey` returns the same bytes from any file.
 *
 * @throws MsmError `bad-argument` if the file is no `.zkey`, or is a compact key; `unsupported-device`
 *   without WebAssembly; `aborted`; errors of the sink
 * @example
 * ```ts
 * import { packZkey } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { zkeyBytes, compactBytes } = await packZkey(await openFile('circuit.zkey'), {
 *   sink: 'circuit.compact.zkey',
 * });
 * console.log(compactBytes < zkeyBytes); // true
 * ```
 */
export const packZkey = async (zkey: FileSource, options: PackOptions = {}): Promise<PackResult> =>
  (await import('./compact-writer.js').catch(notLoaded('compact-writer'))).pack(opening, zkey, options);

/**
 * Writes the `.zkey` that a compact key came from, byte by byte the same.
 *
 * @throws MsmError `bad-argument` if the file is no compact key, is damaged, or does not give the
 *   `.zkey` whose hash it has; otherwise as `packZkey`
 * @example
 * ```ts
 * import { packZkey, unpackZkey } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const packed = await packZkey(await openFile('circuit.zkey'));
 * const unpacked = packed.bytes && (await unpackZkey(packed.bytes));
 * console.log(unpacked?.sha256 === packed.sha256); // true
 * ```
 */
export const unpackZkey = async (compact: FileSource, options: PackOptions = {}): Promise<PackResult> =>
  (await import('./compact-writer.js').catch(notLoaded('compact-writer'))).unpack(opening, compact, options);

const opening: Opening = {
  ...{ openFile, openZkey, fileOf, isCompact, openCompact },
  ...{ magic: COMPACT_MAGIC, chunkBytes: CHUNK_BYTES },
};
