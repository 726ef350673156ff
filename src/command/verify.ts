/** `webgpu-msm verify`. */
import { openFile, readRange } from '../formats/source.js';
import { openZkey } from '../formats.js';
import { openFile as openDiskFile } from '../node.js';
import { readVerificationKey } from '../verifiers/exported-key.js';
import { verifyByJsonKey } from '../verifiers/json-key.js';
import { readJson } from './json-files.js';
import type { Outcome } from './prove.js';
import type { Terminal } from './terminal.js';

/** Arguments of `verify`: paths of files. */
export interface VerifyArguments {
  readonly key: string;
  readonly proof: string;
  readonly public: string;
  readonly json?: boolean;
}

/** Letters with which a proving key begins. */
const MAGIC = 'zkey';

/** Reads a verification key: out of a proving key, whose points are not loaded, or from JSON. */
const readKey = async (path: string, { warn }: Terminal): Promise<unknown> => {
  const disk = await openDiskFile(path);
  const head = await readRange(openFile('key', disk), 0, Math.min(MAGIC.length, disk.byteLength));
  if (new TextDecoder().decode(head) !== MAGIC) return readJson(path);
  return readVerificationKey(await openZkey(disk, { onWarning: warn }));
};

/** Verifies a proof. A proof that is not valid has the exit code 1. */
export const verify = async (given: VerifyArguments, terminal: Terminal): Promise<Outcome> => {
  const [proof, publicSignals] = [await readJson(given.proof), await readJson(given.public)];
  const isValid = await verifyByJsonKey(await readKey(given.key, terminal), proof, publicSignals);
  const text = isValid ? 'The proof is valid.' : 'The proof is not valid.';
  return { output: `${given.json ? JSON.stringify({ isValid }) : text}\n`, exitCode: isValid ? 0 : 1 };
};
