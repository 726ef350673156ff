/** The terminal of the command: a line of progress, warnings, and the texts of failures. */
import type { CircuitProgress } from '../circom.js';
import { MsmError, type MsmErrorCode } from '../index.js';

/** Erases the line of a terminal, and returns to its start. */
const CLEAR = '\r\x1b[2K';

/** Characters of a bar. */
const BAR = 24;

/** Returns a bar and what is done in numbers, or the numbers alone where the end is unknown. */
const barOf = (done: number, total: number | null): string => {
  if (total === null) return String(done);
  const full = total === 0 ? BAR : Math.min(BAR, Math.floor((BAR * done) / total));
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${done} of ${total}`;
};

/** Writes to standard error, so that standard output has results alone. */
export class Terminal {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  #hasLine = false;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr) {
    this.#stream = stream;
  }

  /** Shows a bar on the last line of a terminal. Pipes and files get none. */
  readonly progress = ({ stage, part, done, total }: CircuitProgress): void => {
    if (!this.#stream.isTTY) return;
    this.#stream.write(`${CLEAR}${stage.padEnd('verification'.length)} ${barOf(done, total)} ${part}`);
    this.#hasLine = true;
  };

  /** Prints a warning, which begins with the name of the package. */
  readonly warn = (message: string): void => {
    this.clear();
    this.#stream.write(`warning: ${message}\n`);
  };

  /** Erases the line of progress. */
  clear(): void {
    if (this.#hasLine) this.#stream.write(CLEAR);
    this.#hasLine = false;
  }
}

/** Steps after failures whose messages do not name one. */
const remedies: Partial<Record<MsmErrorCode, string>> = {
  unsatisfied: 'Correct the inputs, or the circuit.',
  'no-webgpu': 'Install the package webgpu in the current folder (npm install webgpu), or use --backend cpu.',
  'unsupported-device': 'Use --backend cpu, or another version of Node.',
  'device-lost': 'Run the command again, or use --backend cpu.',
  'out-of-memory':
    'Raise --memory-limit where you set it; else close other programs, or use a machine with more memory.',
  internal: 'Please report this, with the command and the version.',
};

/** Texts for errors of the file system, by their codes. */
const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder; check the path',
  EACCES: 'permission is denied; check who may read or write it',
  EISDIR: 'this is a folder; name a file',
  ENOSPC: 'the disk is full; make room and run the command again',
};

/** Returns the text for a failure: what is wrong, and what to do. It has no stack. */
export const explainFailure = (error: unknown): string => {
  if (error instanceof MsmError) {
    const remedy = remedies[error.code];
    return `webgpu-msm: ${error.message}\n${remedy === undefined ? '' : `${remedy}\n`}`;
  }
  const { code, path, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : fileErrors[code];
  return `webgpu-msm: ${reason === undefined ? (message ?? String(error)) : `${path}: ${reason}`}\n`;
};
