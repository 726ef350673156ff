/** Proving keys of any proof system. */
import type { Progress } from '../api/calls.js';
import { notLoaded } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import type { Zkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import type { CircuitKey, ProveOptions, ProvingKeyOptions, VerifyOptions } from '../proofs/api.js';

/** A proof of any proof system, and the public values that it is verified with. */
export interface AnyProof {
  readonly proof: object;
  readonly publicSignals: string[];
}

/** A key of any proof system. */
export interface AnyKey extends CircuitKey {
  prove(witness: FileSource, options?: ProveOptions): Promise<AnyProof>;
  verify(proof: unknown, publicSignals: unknown, options?: VerifyOptions): Promise<boolean>;
}

/** Options of a key of any proof system. */
export interface AnyKeyOptions extends ProvingKeyOptions {
  /** Only Groth16 reports progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Opens a key of one proof system. */
export type OpenKey = (zkey: FileSource, options: AnyKeyOptions) => Promise<AnyKey>;

/** Functions that open keys, loaded with the first key of their system. */
export const keyOpeners: Readonly<Record<Zkey['protocol'], OpenKey>> = {
  groth16: async (...given) =>
    (await import('../groth16.js').catch(notLoaded('groth16'))).openProvingKey(...given) as Promise<AnyKey>,
  plonk: async (...given) =>
    (await import('../plonk.js').catch(notLoaded('plonk'))).openProvingKey(...given) as Promise<AnyKey>,
  fflonk: async (...given) =>
    (await import('../fflonk.js').catch(notLoaded('fflonk'))).openProvingKey(...given) as Promise<AnyKey>,
};

/** A key, with the name of its proof system. */
export interface NamedKey {
  readonly key: AnyKey;
  readonly protocol: Zkey['protocol'];
}

/**
 * Opens a key of the proof system that its header names.
 *
 * @param onProgress called when a section is loaded; keys of Groth16 alone say so
 * @throws MsmError as `openProvingKey`
 */
export const openAnyKey = async (
  source: FileSource,
  options: AnyKeyOptions,
  onProgress: (progress: Progress) => void,
): Promise<NamedKey> => {
  // the opener warns of the file again, so this one does not
  const { protocol } = await openZkey(source, { onWarning: () => undefined, signal: options.signal });
  const open = keyOpeners[protocol];
  if (protocol === 'groth16') return { key: await open(source, { ...options, onProgress }), protocol };
  return { key: await open(source, options), protocol };
};
