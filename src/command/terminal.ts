/** The terminal of the command: a line of progress, warnings, and the texts of failures. */
import type { CircuitProgress } from '../circom.js';
import { MsmError, type MsmErrorCode } from '../index.js';

/** Erases the line of a terminal, and returns to its start. */
const CLEAR = '\r\x1b[2K';

/** Writes to standard error, so that standard output has results alone. */
export class Terminal {
  readonly #stream: NodeJS.WriteStream = process.stderr;
  #hasLine = false;

  /** Shows progress on the last line of a terminal. Pipes and files get none. */
  readonly progress = ({ stage, part, done, total }: CircuitProgress): void => {
    if (!this.#stream.isTTY) return;
    this.#stream.write(`${CLEAR}${stage}: ${part} ${total === null ? done : `${done} of ${total}`}`);
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
  'out-of-memory': 'Close other programs, or use a machine with more memory.',
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
