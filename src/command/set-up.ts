/** `webgpu-msm setup`: powers of tau and keys, contributions and beacons to both, and their verification. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { MsmError } from '../index.js';
import { openFile } from '../node.js';
import {
  applyBeacon,
  applyBeaconToPowers,
  type ContributionInput,
  contribute,
  contributeToChallenge,
  contributeToPowers,
  contributeToPowersChallenge,
  exportChallenge,
  exportPowersChallenge,
  exportVerificationKey,
  importPowersResponse,
  importResponse,
  type KeyContribution,
  type KeyVerdict,
  type NewKeyInput,
  type NewPowersInput,
  newKey,
  newPowers,
  preparePhase2,
  type SetupCurve,
  type SetupOptions,
  truncatePowers,
  verifyKey,
  verifyPowers,
} from '../setup.js';
import { writeJson } from './json-files.js';
import { backendOptions, type Outcome, type ProveArguments } from './prove.js';
import type { Terminal } from './terminal.js';

/** Where the randomness of an author comes from. The system's generator is part of it always. */
export const entropySources = ['prompt', 'stdin', 'random'] as const;

/** Arguments of steps that write a file. */
export interface WriteArguments extends Pick<ProveArguments, 'backend' | 'memoryLimit'> {
  /** Path of the result. */
  readonly out: string;
  readonly json?: boolean;
}

/** Arguments of `setup new`: paths of files. */
export interface NewArguments extends WriteArguments {
  readonly system: NewKeyInput['system'];
  readonly r1cs: string;
  readonly ptau: string;
}

/** Arguments of `setup ptau new`. */
export interface NewPowersArguments extends NewPowersInput, WriteArguments {}

/** Arguments of steps that make one file of another. */
export interface StepArguments extends WriteArguments {
  /** Path. */
  readonly file: string;
}

/** Arguments of `setup export`: paths of files. */
export interface ExportArguments {
  readonly zkey: string;
  readonly out: string;
}

/** Arguments of `setup contribute` and `setup ptau contribute`. */
export interface ContributeArguments extends StepArguments {
  readonly name?: string;
  readonly entropy?: (typeof entropySources)[number];
}

/** Arguments of `setup bellman contribute` and `setup ptau bellman contribute`. */
export interface RespondArguments extends Omit<ContributeArguments, 'name'> {
  readonly curve: SetupCurve;
}

/** Arguments of `setup bellman import` and `setup ptau bellman import`: paths of files. */
export interface ImportArguments extends StepArguments {
  readonly response: string;
  readonly name?: string;
}

/** Arguments of `setup beacon` and `setup ptau beacon`. */
export interface BeaconArguments extends StepArguments {
  readonly name?: string;
  readonly beacon: string;
  readonly iterations: number;
}

/** Arguments of `setup verify`: paths of files. */
export interface VerifyKeyArguments {
  readonly zkey: string;
  readonly ptau: string;
  readonly r1cs?: string;
  readonly initial?: string;
  readonly memoryLimit?: number;
  readonly json?: boolean;
}

/** Arguments of `setup ptau verify`. */
export interface VerifyPowersArguments extends Pick<VerifyKeyArguments, 'memoryLimit' | 'json'> {
  /** Path. */
  readonly file: string;
}

/** Returns the options of a call, with its progress on the terminal. */
const watched = (terminal: Terminal, { memoryLimit }: Pick<WriteArguments, 'memoryLimit'>) => ({
  onProgress: ({ phase, done, total }: { readonly phase: string; readonly done: number; readonly total: number }) =>
    terminal.progress({ stage: 'key', part: phase, done, total, remainingMs: null }),
  onWarning: terminal.warn,
  memoryLimit,
});

/** Returns the options of a call that writes a file. */
const writing = async (terminal: Terminal, given: WriteArguments) => ({
  ...watched(terminal, given),
  ...(await backendOptions(given.backend)),
  sink: given.out,
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Runs a step that writes a file, and tells its length. */
const written = async (
  given: WriteArguments,
  terminal: Terminal,
  step: (options: Awaited<ReturnType<typeof writing>>) => Promise<unknown>,
): Promise<Outcome> => {
  const options = await writing(terminal, given);
  try {
    await step(options);
  } finally {
    terminal.clear();
  }
  const { byteLength } = await openFile(given.out);
  return { output: given.json ? `${JSON.stringify({ byteLength })}\n` : '', exitCode: 0 };
};

/** Makes the first key of a circuit, as `snarkjs groth16 setup` and others do, and writes the same bytes. */
export const makeKey = async ({ system, r1cs, ptau, ...given }: NewArguments, terminal: Terminal): Promise<Outcome> => {
  const files = { r1cs: await openFile(r1cs), ptau: await openFile(ptau) };
  return written(given, terminal, (options) => newKey({ system, ...files }, options));
};

/** Makes powers of tau without a contribution, as `snarkjs powersoftau new` does. */
export const makePowers = ({ curve, power, ...given }: NewPowersArguments, terminal: Terminal): Promise<Outcome> =>
  written(given, terminal, (options) => newPowers({ curve, power }, options));

/** Prepares powers of tau for keys, as `snarkjs powersoftau prepare phase2` does. */
export const preparePowers = async ({ file, ...given }: StepArguments, terminal: Terminal): Promise<Outcome> => {
  const source = await openFile(file);
  return written(given, terminal, (options) => preparePhase2(source, options));
};

/** Shortens powers of tau, as `snarkjs powersoftau truncate` does for each size. */
export const shortenPowers = async (
  { file, power, ...given }: StepArguments & { readonly power: number },
  terminal: Terminal,
): Promise<Outcome> => {
  const source = await openFile(file);
  return written(given, terminal, (options) => truncatePowers(source, { power }, options));
};

/** Writes the verification key of a proving key, as `snarkjs zkey export verificationkey` does. */
export const writeVerificationKey = async ({ zkey, out }: ExportArguments, terminal: Terminal): Promise<Outcome> => {
  await writeJson(out, await exportVerificationKey(await openFile(zkey), { onWarning: terminal.warn }));
  return { output: '', exitCode: 0 };
};

/** Writes a file as a challenge, as `snarkjs zkey export bellman` and `powersoftau export challenge` do. */
export const writeChallenge = async (
  kind: CeremonyFile,
  { file, ...given }: StepArguments,
  terminal: Terminal,
): Promise<Outcome> => {
  const source = await openFile(file);
  return written(given, terminal, (options) => ceremonies[kind].exportChallenge(source, options));
};

/** Goes on with a response, as `snarkjs zkey import bellman` and `powersoftau import response` do. */
export const readResponse = async (
  kind: CeremonyFile,
  { file, response, name, ...given }: ImportArguments,
  terminal: Terminal,
): Promise<Outcome> => {
  const files = { source: await openFile(file), response: await openFile(response) };
  return written(given, terminal, (options) => ceremonies[kind].importResponse({ ...files, name }, options));
};

/** Contributes to a challenge, as `snarkjs zkey bellman contribute` and `powersoftau challenge contribute` do. */
export const respond = async (
  kind: CeremonyFile,
  { curve, ...given }: RespondArguments,
  terminal: Terminal,
): Promise<Outcome> =>
  contributeBy(
    (challenge, { entropy }, options) => ceremonies[kind].respond({ challenge, curve }, { entropy }, options),
    given,
    terminal,
  );

/** A response, and the file that its challenge was exported from. */
interface ResponseFiles extends Record<'source' | 'response', Awaited<ReturnType<typeof openFile>>> {
  readonly name: string | undefined;
}

/** Steps of a ceremony by the file that they go on with. */
const ceremonies = {
  zkey: {
    contribute,
    applyBeacon,
    exportChallenge,
    respond: contributeToChallenge,
    importResponse: ({ source: zkey, ...others }: ResponseFiles, options: SetupOptions) =>
      importResponse({ zkey, ...others }, options),
  },
  ptau: {
    contribute: contributeToPowers,
    applyBeacon: applyBeaconToPowers,
    exportChallenge: exportPowersChallenge,
    respond: contributeToPowersChallenge,
    importResponse: ({ source: ptau, ...others }: ResponseFiles, options: SetupOptions) =>
      importPowersResponse({ ptau, ...others }, options),
  },
} as const;

/** Kind of the file of a ceremony. */
export type CeremonyFile = keyof typeof ceremonies;

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

/** Contributes to a file, as `snarkjs zkey contribute` and `powersoftau contribute` do. */
export const contributeTo = (kind: CeremonyFile, given: ContributeArguments, terminal: Terminal): Promise<Outcome> =>
  contributeBy(ceremonies[kind].contribute, given, terminal);

/**
 * Contributes to a file by a step. The randomness of the author is never a word of the command line,
 * which other users of the machine and the history of the shell see.
 */
const contributeBy = async (
  contributeWith: (
    source: Awaited<ReturnType<typeof openFile>>,
    contribution: ContributionInput,
    options: SetupOptions,
  ) => Promise<{ readonly hash: Uint8Array }>,
  given: ContributeArguments,
  terminal: Terminal,
): Promise<Outcome> => {
  const { file, name, entropy = process.stdin.isTTY ? 'prompt' : 'random', json } = given;
  const source = await openFile(file);
  const options = await writing(terminal, given);
  const ofAuthor = { prompt: ask, stdin: readEntropy, random: async () => undefined };
  const bytes = await ofAuthor[entropy]();
  try {
    const { hash } = await contributeWith(source, { name, entropy: bytes }, options);
    return hashOutcome(hash, json);
  } finally {
    if (bytes instanceof Uint8Array) bytes.fill(0);
    terminal.clear();
  }
};

/** Ends a ceremony by a beacon, as the `beacon` of snarkjs does, and writes the same bytes. */
export const endByBeacon = async (kind: CeremonyFile, given: BeaconArguments, terminal: Terminal): Promise<Outcome> => {
  const { file, name, beacon, iterations, json } = given;
  const options = await writing(terminal, given);
  try {
    const { hash } = await ceremonies[kind].applyBeacon(await openFile(file), { name, beacon, iterations }, options);
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
    return verdictOutcome('The key is', await verifyKey(files, watched(terminal, given)), given.json);
  } finally {
    terminal.clear();
  }
};

/** Verifies powers of tau, prepared ones as well. Those that are not valid have the exit code 1. */
export const verifyPowersFile = async (given: VerifyPowersArguments, terminal: Terminal): Promise<Outcome> => {
  try {
    const verdict = await verifyPowers(await openFile(given.file), watched(terminal, given));
    return verdictOutcome('The powers are', verdict, given.json);
  } finally {
    terminal.clear();
  }
};

/** A verdict on a file with contributions. */
type Verdict = Pick<KeyVerdict, 'isValid' | 'why' | 'contributions'> & { readonly isPrepared?: boolean };

const verdictOutcome = (
  what: string,
  { isValid, why, contributions, isPrepared }: Verdict,
  json: boolean | undefined,
): Outcome => {
  const exitCode = isValid ? 0 : 1;
  if (json) {
    const listed = contributions.map(({ name, hash, beacon }) => ({
      ...{ name, hash: hex(hash) },
      beacon: beacon && { value: hex(beacon.bytes), iterations: beacon.iterations },
    }));
    return { output: `${JSON.stringify({ isValid, why, isPrepared, contributions: listed })}\n`, exitCode };
  }
  const verdict = isValid ? `${what} valid.` : `${what} not valid: ${why}`;
  return { output: `${verdict}\n${contributions.map(lineOf).join('')}`, exitCode };
};

const lineOf = ({ name, hash, beacon }: KeyContribution, i: number): string =>
  `  ${i + 1}. ${titleOf({ name, iterations: beacon?.iterations ?? null })}: ${hex(hash)}\n`;

/** Returns the name of a contribution without what a terminal obeys, and whether it is a beacon. */
export const titleOf = (contribution: { readonly name: string | null; readonly iterations: number | null }): string => {
  const title = contribution.name?.replace(/\p{C}/gu, '') ?? 'without a name';
  return contribution.iterations === null ? title : `${title} (beacon, 2^${contribution.iterations} iterations)`;
};
