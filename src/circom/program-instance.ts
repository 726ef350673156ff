/** A program of circom that is loaded, and what it reports while it runs. */
import type { SignalValues } from './input-signals.js';

/** A program that is loaded, whichever version of circom wrote it. */
export interface ProgramInstance {
  /** Prime of its field. */
  readonly prime: bigint;
  /** Words of 32 bits of a value. */
  readonly words: number;
  /** Number of values of a witness, with the constant 1. */
  readonly values: number;
  /**
   * Computes the witness and keeps it.
   *
   * @throws MsmError for wrong inputs, before the computation; `ProgramError`; and whatever
   *   WebAssembly throws
   */
  run(signals: readonly SignalValues[]): void;
  /** Copies the witness. @param into one word after the other, least significant first */
  copyTo(into: Uint32Array): void;
}

/** Reports of a running program. */
export interface ProgramEvents {
  /** Takes a line that the circuit logs. Its errors end the computation. */
  readonly onLog: (line: string) => void;
}

/** Why a program stopped, as its runtime says it. */
export class ProgramError extends Error {
  /** Whether the inputs are at fault: an assertion or a constraint does not hold. */
  readonly isUnsatisfied: boolean;

  constructor(message: string, isUnsatisfied: boolean) {
    super(message);
    this.isUnsatisfied = isUnsatisfied;
  }
}

/** Returns the imports that a module asks for; functions that circom has no name for do nothing. */
export const importsFor = (
  module: WebAssembly.Module,
  functions: Readonly<Record<string, (...given: number[]) => void>>,
  memory?: WebAssembly.Memory,
): WebAssembly.Imports => {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    const members = imports[from] ?? {};
    imports[from] = members;
    if (kind === 'function') members[name] = functions[name] ?? (() => undefined);
    if (kind === 'memory' && memory !== undefined) members[name] = memory;
  }
  return imports;
};
