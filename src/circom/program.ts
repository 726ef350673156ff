/**
 * Programs that compute witnesses: WebAssembly that circom 1 and 2 write beside a circuit. They are
 * compiled once. An instance serves one witness after the other, until one fails.
 */
import { badArgument, MsmError } from '../errors.js';
import { openCircom1 } from './circom1.js';
import { openCircom2 } from './circom2.js';
import { eraseSignals, readSignals, type SignalValues } from './input-signals.js';
import { ProgramError, type ProgramEvents, type ProgramInstance } from './program-instance.js';
import { createWtns } from './wtns-file.js';

/** A program that was not loaded yet. */
export interface CompiledProgram {
  readonly module: WebAssembly.Module;
  /** Pages of the memory that it imports; null if it brings its own, as those of circom 2. */
  readonly pages: number | null;
  /** Names that signals may have, those of inputs among them; empty if unknown. */
  readonly names: readonly string[];
}

/** Opens an instance of the version of circom that wrote the program. */
const openInstance = ({ module, pages, names }: CompiledProgram, events: ProgramEvents): Promise<ProgramInstance> =>
  pages === null ? openCircom2(module, names, events) : openCircom1(module, pages, events);

/** Functions that a program exports, by the version of circom that wrote it. */
const needed = {
  circom1: ['getFrLen', 'getNVars', 'getPRawPrime', 'getSignalOffset32', 'getWitnessBuffer', 'init', 'setSignal'],
  circom2: [
    ...['getFieldNumLen32', 'getInputSize', 'getMessageChar', 'getRawPrime', 'getVersion', 'getWitness'],
    ...['getWitnessSize', 'init', 'readSharedRWMemory', 'setInputSignal', 'writeSharedRWMemory'],
  ],
} as const;

/**
 * Compiles a program.
 *
 * @param names of signals, for errors
 * @throws MsmError `bad-argument` if it is no program of circom; `unsupported-device` where there is
 *   no WebAssembly
 */
export const compileProgram = async (bytes: Uint8Array, names: readonly string[] = []): Promise<CompiledProgram> => {
  if (typeof WebAssembly !== 'object') {
    throw new MsmError('unsupported-device', 'programs of circom need WebAssembly, which this platform does not have');
  }
  let module: WebAssembly.Module;
  try {
    module = await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
  } catch (cause) {
    throw new MsmError('bad-argument', `wasm: the file is no module that can be compiled: ${String(cause)}`, { cause });
  }
  const pages = WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory') ? importedPages(bytes) : null;
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const version = pages === null ? 'circom2' : 'circom1';
  const missing = needed[version].filter((name) => !exported.has(name));
  if (missing.length > 0) {
    throw badArgument(
      `wasm: the module does not export ${missing.join(', ')}; it must be the program that circom writes for a circuit`,
    );
  }
  return { module, pages, names };
};

/** Facts about a program. */
export type ProgramFacts = Pick<ProgramInstance, 'prime' | 'words' | 'values'>;

/** Computes witnesses, one after the other: a program computes without a pause. */
export class WitnessProgram {
  readonly facts: ProgramFacts;
  readonly #compiled: CompiledProgram;
  /** Receiver of log lines: the call that computes. */
  readonly #log: { to: ProgramEvents['onLog'] };
  /** An instance whose last witness was complete. Its state is set back at the next one. */
  #idle: ProgramInstance | null;

  private constructor(compiled: CompiledProgram, first: ProgramInstance, log: { to: ProgramEvents['onLog'] }) {
    this.#compiled = compiled;
    this.#idle = first;
    this.#log = log;
    const { prime, words, values } = first;
    this.facts = { prime, words, values };
  }

  /** Loads a program. @throws MsmError `bad-argument`, `out-of-memory` */
  static async open(compiled: CompiledProgram): Promise<WitnessProgram> {
    const log = { to: (_: string): void => undefined };
    return new WitnessProgram(compiled, await openInstance(compiled, { onLog: (line) => log.to(line) }), log);
  }

  /** Computes the witness of inputs as their owner writes them. @throws as `readSignals` and `compute` */
  async witness(input: unknown, onLog: ProgramEvents['onLog']): Promise<Uint8Array<ArrayBuffer>> {
    const signals = readSignals(input, this.facts.prime);
    try {
      return await this.compute(signals, onLog);
    } finally {
      eraseSignals(signals);
    }
  }

  /**
   * Computes a witness.
   *
   * @param onLog takes each line that the circuit logs; its errors are passed on
   * @returns a `.wtns` file, the same bytes as snarkjs writes
   * @throws MsmError `unsatisfied` if an assertion or a constraint of the circuit does not hold;
   *   `bad-argument` for signals that the circuit does not have or that lack values, and for a
   *   program that ends in an error of WebAssembly
   */
  async compute(signals: readonly SignalValues[], onLog: ProgramEvents['onLog']): Promise<Uint8Array<ArrayBuffer>> {
    // an instance that failed has the state of its failure, and no function sets all of it back
    const idle = this.#idle;
    this.#idle = null;
    const instance = idle ?? (await openInstance(this.#compiled, { onLog: (line) => this.#log.to(line) }));
    // no wait from here on, so that no other call logs here
    this.#log.to = onLog;
    try {
      instance.run(signals);
      const { prime, words, values } = instance;
      const file = createWtns(prime, words, values);
      instance.copyTo(file.values);
      this.#idle = instance;
      return file.bytes;
    } catch (error) {
      throw explain(error);
    }
  }
}

/** Returns the public error for a failure of a program; errors of the caller's `onLog` as they are. */
const explain = (error: unknown): unknown => {
  if (error instanceof ProgramError) {
    const { message, isUnsatisfied } = error;
    return isUnsatisfied
      ? new MsmError('unsatisfied', `input: the values do not satisfy the circuit: ${message}`)
      : badArgument(`wasm: the program stopped: ${message}`);
  }
  const isTrap = error instanceof WebAssembly.RuntimeError;
  // the stack of WebAssembly is that of JavaScript
  const isDeep = error instanceof RangeError || (error as Error | null)?.name === 'InternalError';
  if (!isTrap && !isDeep) return error;
  return new MsmError('bad-argument', `wasm: the program ended in an error of WebAssembly: ${String(error)}`, {
    cause: error,
  });
};

/* The memory that a program of circom 1 imports. */

/** Section of imports; kinds of imports. WebAssembly Core Specification, section 5.5.5. */
const IMPORTS = 2;
const [FUNCTION, TABLE, MEMORY] = [0, 1, 2];

/** Bytes of the letters and the version with which a module begins. */
const HEADER_BYTES = 8;

/** Reads numbers of a module that is known to be valid. */
class ModuleReader {
  readonly #bytes: Uint8Array;
  at = HEADER_BYTES;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  /** LEB128, section 5.2.2. */
  u32(): number {
    for (let [value, factor] = [0, 1]; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  /** Skips a vector of bytes, such as a name. */
  skip(): void {
    const length = this.u32();
    this.at += length;
  }

  /** Returns the least size of a memory or table, and skips the greatest. */
  limits(): number {
    const hasMost = this.byte() % 2 === 1;
    const least = this.u32();
    if (hasMost) this.u32();
    return least;
  }
}

/** Returns the least pages of the memory that a valid module imports. */
const importedPages = (bytes: Uint8Array): number => {
  const reader = new ModuleReader(bytes);
  while (reader.byte() !== IMPORTS) reader.skip();
  reader.u32();
  for (let left = reader.u32(); left > 0; left--) {
    reader.skip();
    reader.skip();
    const kind = reader.byte();
    if (kind === MEMORY) return reader.limits();
    if (kind === FUNCTION) reader.u32();
    else if (kind === TABLE) {
      reader.byte();
      reader.limits();
    } else reader.at += 2;
  }
  throw badArgument('wasm: the module imports no memory');
};
