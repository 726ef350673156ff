/** `webgpu-msm verify`. */
import { openAnyKey } from '../circom/any-key.js';
import { openFile, readRange } from '../formats/source.js';
import { openFile as openDiskFile } from '../node.js';
import { readJson } from './json-files.js';
import type { Outcome } from './prove.js';
import type { Terminal } from './terminal.js';
import { verifyByJsonKey } from './verification-key.js';

/** Arguments of `verify`: paths of files. */
export interface VerifyArguments {
  readonly key: string;
  readonly proof: string;
  readonly public: string;
  readonly json?: boolean;
}

/** Letters with which a proving key begins. */
const MAGIC = 'zkey';

const isProvingKey = async (path: string): Promise<boolean> => {
  const file = openFile('key', await openDiskFile(path));
  const head = await readRange(file, 0, Math.min(MAGIC.length, file.byteLength));
  return new TextDecoder().decode(head) === MAGIC;
};

/** Verifies a proof by the points of a proving key. */
const verifyByZkey = async (
  path: string,
  { proof, publicSignals }: { readonly proof: unknown; readonly publicSignals: unknown },
  terminal: Terminal,
): Promise<boolean> => {
  const options = { backend: 'cpu', maxWorkers: 0, onWarning: terminal.warn } as const;
  const { key } = await openAnyKey(await openDiskFile(path), options, (progress) =>
    terminal.progress({ stage: 'key', part: progress.phase, ...progress, remainingMs: null }),
  );
  try {
    return await key.verify(proof, publicSignals);
  } finally {
    terminal.clear();
    key.destroy();
  }
};

/** Verifies a proof. A proof that is not valid has the exit code 1. */
export const verify = async (given: VerifyArguments, terminal: Terminal): Promise<Outcome> => {
  const [proof, publicSignals] = [await readJson(given.proof), await readJson(given.public)];
  const isValid = (await isProvingKey(given.key))
    ? await verifyByZkey(given.key, { proof, publicSignals }, terminal)
    : await verifyByJsonKey(await readJson(given.key), proof, publicSignals);
  const text = isValid ? 'The proof is valid.' : 'The proof is not valid.';
  return { output: `${given.json ? JSON.stringify({ isValid }) : text}\n`, exitCode: isValid ? 0 : 1 };
};
