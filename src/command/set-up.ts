/** `webgpu-msm setup`: new keys, contributions, beacons, and their verification. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { MsmError } from '../index.js';
import { openFile } from '../node.js';
import { applyBeacon, contribute, type KeyContribution, newKey, verifyKey } from '../setup.js';
import type { Outcome } from './prove.js';
import type { Terminal } from './terminal.js';

/** Where the randomness of an author comes from. The system's generator is part of it always. */
export const entropySources = ['prompt', 'stdin', 'random'] as const;

/** Arguments of `setup new`: paths of files. */
export interface NewArguments {
  readonly r1cs: string;
  readonly ptau: string;
  readonly out: string;
  readonly json?: boolean;
}

/** Arguments of `setup contribute`. */
export interface ContributeArguments {
  readonly zkey: string;
  readonly out: string;
  readonly name?: string;
  readonly entropy?: (typeof entropySources)[number];
  readonly json?: boolean;
}

/** Arguments of `setup beacon`. */
export interface BeaconArguments {
  readonly zkey: string;
  readonly out: string;
  readonly name?: string;
  readonly beacon: string;
  readonly iterations: number;
  readonly json?: boolean;
}

/** Arguments of `setup verify`: paths of files. */
export interface VerifyKeyArguments {
  readonly zkey: string;
  readonly ptau: string;
  readonly r1cs?: string;
  readonly initial?: string;
  readonly json?: boolean;
}

/** Returns the options of a call, with its progress on the terminal. */
const watched = (terminal: Terminal) => ({
  onProgress: ({ phase, done, total }: { readonly phase: string; readonly done: number; readonly total: number }) =>
    terminal.progress({ stage: 'key', part: phase, done, total, remainingMs: null }),
  onWarning: terminal.warn,
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Makes the first key of a circuit, as `snarkjs groth16 setup` does, and writes the same bytes. */
export const makeKey = async ({ r1cs, ptau, out, json }: NewArguments, terminal: Terminal): Promise<Outcome> => {
  const files = { r1cs: await openFile(r1cs), ptau: await openFile(ptau) };
  try {
    await newKey({ system: 'groth16', ...files }, { ...watched(terminal), sink: out });
  } finally {
    terminal.clear();
  }
  const { byteLength } = await openFile(out);
  return { output: json ? `${JSON.stringify({ byteLength })}\n` : '', exitCode: 0 };
};

/** Asks for randomness on a terminal, which shows none of it. @throws MsmError `aborted` if it is closed */
const ask = async (): Promise<string> => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  const ending = new AbortController();
  reader.once('close', () => ending.abort());
  process.stderr.write('Type random text, which is not shown, and Enter: ');
  try {
    return await reader.question('', { signal: ending.signal });
  } catch (cause) {
    throw new MsmError('aborted', 'no text was typed, so nothing was contributed', { cause });
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
};

/** Reads randomness from standard input. @throws MsmError `bad-argument` if there is none */
const readEntropy = async (): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const bytes = new Uint8Array(Buffer.concat(chunks));
  for (const chunk of chunks) chunk.fill(0);
  if (bytes.length > 0) return bytes;
  throw new MsmError('bad-argument', 'standard input has no bytes; pipe randomness into it, or use --entropy random');
};

/**
 * Contributes to a key, as `snarkjs zkey contribute` does. The randomness of the author is never a word
 * of the command line, which other users of the machine and the history of the shell see.
 */
export const contributeTo = async (given: ContributeArguments, terminal: Terminal): Promise<Outcome> => {
  const { zkey, out, name, entropy = process.stdin.isTTY ? 'prompt' : 'random', json } = given;
  const source = await openFile(zkey);
  const ofAuthor = { prompt: ask, stdin: readEntropy, random: async () => undefined };
  const bytes = await ofAuthor[entropy]();
  try {
    const { hash } = await contribute(source, { name, entropy: bytes }, { ...watched(terminal), sink: out });
    return hashOutcome(hash, json);
  } finally {
    if (bytes instanceof Uint8Array) bytes.fill(0);
    terminal.clear();
  }
};

/** Ends a ceremony by a beacon, as `snarkjs zkey beacon` does, and writes the same bytes. */
export const endByBeacon = async (given: BeaconArguments, terminal: Terminal): Promise<Outcome> => {
  const { zkey, out, name, beacon, iterations, json } = given;
  try {
    const options = { ...watched(terminal), sink: out };
    const { hash } = await applyBeacon(await openFile(zkey), { name, beacon, iterations }, options);
    return hashOutcome(hash, json);
  } finally {
    terminal.clear();
  }
};

const hashOutcome = (hash: Uint8Array, json: boolean | undefined): Outcome => ({
  output: json ? `${JSON.stringify({ hash: hex(hash) })}\n` : `Hash of the contribution: ${hex(hash)}\n`,
  exitCode: 0,
});

/** Verifies a key. One that is not valid has the exit code 1. */
export const verifyKeyFile = async (given: VerifyKeyArguments, terminal: Terminal): Promise<Outcome> => {
  const { r1cs, initial } = given;
  if ((r1cs === undefined) === (initial === undefined)) {
    throw new MsmError('bad-argument', 'setup verify needs either --r1cs or --initial');
  }
  const files = {
    zkey: await openFile(given.zkey),
    ptau: await openFile(given.ptau),
    ...(r1cs !== undefined && { r1cs: await openFile(r1cs) }),
    ...(initial !== undefined && { initial: await openFile(initial) }),
  };
  try {
    const { isValid, why, contributions } = await verifyKey(files, watched(terminal));
    const exitCode = isValid ? 0 : 1;
    if (given.json) {
      const listed = contributions.map(({ name, hash, beacon }) => ({
        ...{ name, hash: hex(hash) },
        beacon: beacon && { value: hex(beacon.bytes), iterations: beacon.iterations },
      }));
      return { output: `${JSON.stringify({ isValid, why, contributions: listed })}\n`, exitCode };
    }
    const verdict = isValid ? 'The key is valid.' : `The key is not valid: ${why}`;
    return { output: `${verdict}\n${contributions.map(lineOf).join('')}`, exitCode };
  } finally {
    terminal.clear();
  }
};

const lineOf = ({ name, hash, beacon }: KeyContribution, i: number): string =>
  `  ${i + 1}. ${titleOf({ name, iterations: beacon?.iterations ?? null })}: ${hex(hash)}\n`;

/** Returns the name of a contribution without what a terminal obeys, and whether it is a beacon. */
export const titleOf = (contribution: { readonly name: string | null; readonly iterations: number | null }): string => {
  const title = contribution.name?.replace(/\p{C}/gu, '') ?? 'without a name';
  return contribution.iterations === null ? title : `${title} (beacon, 2^${contribution.iterations} iterations)`;
};
