/** Verification keys in the JSON of snarkjs, from proving keys. */
import { openOrigin } from '../formats/file-origin.js';
import type { FileOrigin } from '../formats/source.js';
// From the entry, so that the build leaves in formats.js what both share.
import { openZkey } from '../formats.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { exportVerificationKey as keyOf } from '../verifiers/exported-key.js';
import { type RunOptions, runRows } from './run.js';

/** A verification key: the JSON of snarkjs's `verification_key.json`. Numbers are decimal strings. */
export interface VerificationKey {
  /** The proof system. */
  readonly protocol: 'groth16' | 'plonk' | 'fflonk';
  /** The curve, by snarkjs's name. */
  readonly curve: 'bn128' | 'bls12381';
  /** Number of public signals. */
  readonly nPublic: number;
  /** Points and numbers of the proof system, by snarkjs's names. */
  readonly [member: string]: unknown;
}

const optionTable = {
  of: 'exportVerificationKey',
  rows: { signal: runRows.signal, onWarning: runRows.onWarning },
} as const satisfies OptionTable<Pick<RunOptions, 'signal' | 'onWarning'>>;

/**
 * Returns the verification key of a proving key of any proof system, as snarkjs's
 * `zKey.exportVerificationKey` does.
 *
 * @throws MsmError `bad-argument` naming the section; `aborted`
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { exportVerificationKey } from 'webgpu-msm/setup';
 *
 * const key = await exportVerificationKey(await openFile('circuit.zkey'));
 * console.log(key.protocol, key.curve); // groth16 bn128
 * ```
 */
export const exportVerificationKey = async (
  zkey: FileOrigin,
  given: Pick<RunOptions, 'signal' | 'onWarning'> = {},
): Promise<VerificationKey> => {
  const { signal, onWarning } = readOptions(optionTable, given);
  const file = await openOrigin('zkey', zkey, { signal, inParts: true });
  const opened = await openZkey(file, { signal, onWarning });
  return (await keyOf(opened, signal)) as VerificationKey;
};
