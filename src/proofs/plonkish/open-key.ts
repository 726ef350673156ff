/** Opens keys of PLONK and FFLONK. */
import type { MsmEngine } from '../../api/engine.js';
import type { Bases } from '../../api/handles.js';
import { assertNotAborted, badArgument } from '../../errors.js';
import type { FileSource } from '../../formats/source.js';
import type { PlonkZkey } from '../../formats/zkey.js';
import { openZkey } from '../../formats.js';
import { createMsmEngine } from '../../index.js';
import { readOptions } from '../../option-table.js';
import { type EngineOptions, engineOptionsOf, type KeyOptions, keyOptions } from '../engine-options.js';
import { inSection } from '../in-section.js';

/** A key's file, and the engine of its sums, which a loaded key destroys. */
export interface OpenedFile {
  readonly zkey: PlonkZkey;
  readonly g1: MsmEngine;
  readonly ofEngines: EngineOptions;
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
  const ofEngines = engineOptionsOf(read);
  assertNotAborted(signal);
  const zkey = await openZkey(source);
  if (zkey.protocol !== protocol) {
    throw badArgument(
      `zkey is a key of ${zkey.protocol}; openProvingKey of webgpu-msm/${protocol} opens keys of ${protocol}`,
    );
  }
  const g1 = await createMsmEngine({ ...ofEngines, curve: zkey.curve });
  try {
    return await load({ zkey: zkey as PlonkZkey, g1, ofEngines, signal });
  } catch (error) {
    g1.destroy();
    throw error;
  }
};

/** Loads the first powers of τ. @throws MsmError as `loadBases`, naming the section */
export const loadPowers = async ({ zkey, g1, signal }: OpenedFile, section: number, count: number): Promise<Bases> => {
  const { ptau } = zkey.sections;
  const powers = await ptau.points(0, count);
  const options = { label: 'ptau', encoding: ptau.encoding, ...(signal && { signal }) };
  return inSection(`${section} (ptau)`, () => g1.loadBases(powers, options));
};
