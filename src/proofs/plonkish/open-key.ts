/** Opens keys of PLONK and FFLONK. */
import type { Bases, MsmEngine } from '../../api/engine.js';
import { assertNotAborted, badArgument, openUntilAborted } from '../../errors.js';
import type { FileSource } from '../../formats/source.js';
import type { PlonkZkey } from '../../formats/zkey.js';
import { openZkey } from '../../formats.js';
import { createMsmEngine } from '../../index.js';
import { readOptions } from '../../option-table.js';
import type { CallQueue } from '../../scheduling/call-queue.js';
import { type EngineOptions, type KeyOptions, keyOptions, keySettingsOf } from '../engine-options.js';
import { assertFinite, inSection } from '../in-section.js';
import { warnOfOldNode } from '../old-node.js';

/** A key's file, and the engine of its sums, which a loaded key destroys. */
export interface OpenedFile {
  readonly zkey: PlonkZkey;
  readonly g1: MsmEngine;
  readonly ofEngines: EngineOptions;
  /** Queue of the key's proofs. */
  readonly proofs: CallQueue;
  readonly signal: AbortSignal | undefined;
}

/** Opens a key of a proof system. @param load loads the key @throws errors of `openProvingKey` */
export const openKey = async <Key>(
  source: FileSource,
  options: KeyOptions,
  protocol: PlonkZkey['protocol'],
  load: (file: OpenedFile) => Promise<Key>,
): Promise<Key> => {
  const read = readOptions(keyOptions, options);
  const { signal } = read;
  const { ofEngines, proofs } = keySettingsOf(read);
  assertNotAborted(signal);
  const zkey = await openZkey(source, { onWarning: ofEngines.onWarning, signal });
  if (zkey.protocol !== protocol) {
    throw badArgument(
      `zkey is a key of ${zkey.protocol}; openProvingKey of webgpu-msm/${protocol} opens keys of ${protocol}`,
    );
  }
  const g1 = await openUntilAborted(createMsmEngine({ ...ofEngines, curve: zkey.curve }), signal);
  warnOfOldNode(zkey, g1, ofEngines);
  try {
    return await load({ zkey: zkey as PlonkZkey, g1, ofEngines, proofs, signal });
  } catch (error) {
    g1.destroy();
    throw error;
  }
};

/** Loads the first powers of τ. @throws MsmError as `loadBases`, naming the section */
export const loadPowers = async ({ zkey, g1, signal }: OpenedFile, section: number, count: number): Promise<Bases> => {
  const { ptau } = zkey.sections;
  const name = `${section} (ptau)`;
  const powers = await ptau.points(0, count);
  assertFinite({ ...ptau, name }, powers);
  const options = { label: 'ptau', encoding: ptau.encoding, ...(signal && { signal }) };
  return inSection(name, () => g1.loadBases(powers, options));
};
