/**
 * Programs of circom 2.0 to 2.2. Values pass through a place of the program's memory, and signals are
 * named by the hash of their names.
 */
import { badArgument } from '../errors.js';
import { type SignalValues, WORDS } from './input-signals.js';
import { importsFor, ProgramError, type ProgramEvents, type ProgramInstance } from './program-instance.js';
import { type Hash, hashOf } from './signal-hash.js';

/** Functions that programs export. Those that may be missing came with later versions. */
interface Exports {
  getVersion(): number;
  getMinorVersion?(): number;
  getPatchVersion?(): number;
  /** Sets the state back. @param sanityCheck 1: checks more than constraints and assertions */
  init(sanityCheck: number): void;
  /** Computes the witness as soon as it has the last value. */
  setInputSignal(hashHigh: number, hashLow: number, index: number): void;
  /** Returns −1, or 0, for a name that no input has. Since 2.0.4. */
  getInputSignalSize?(hashHigh: number, hashLow: number): number;
  getInputSize(): number;
  getWitnessSize(): number;
  getFieldNumLen32(): number;
  /** Copies the prime to the shared place. */
  getRawPrime(): void;
  /** Copies a value of the witness to the shared place. */
  getWitness(index: number): void;
  readSharedRWMemory(word: number): number;
  writeSharedRWMemory(word: number, value: number): void;
  /** Address of the shared place. */
  getSharedRWMemoryStart?(): number;
  /** Returns the next character of a text, 0 at its end. */
  getMessageChar(): number;
  readonly memory?: WebAssembly.Memory;
}

/** Errors by the numbers that programs give them. */
const errors: Readonly<Record<number, string>> = {
  1: 'Signal not found',
  2: 'Too many signals set',
  3: 'Signal already set',
  4: 'Assert Failed',
  5: 'Not enough memory',
  6: 'Input signal array access exceeds the size',
};

/** Number of the error of an assertion or a constraint. */
const ASSERT_FAILED = 4;

/**
 * Loads a program.
 *
 * @param names that signals may have, for errors
 * @throws MsmError `bad-argument` for another version of circom
 */
export const openCircom2 = async (
  module: WebAssembly.Module,
  names: readonly string[],
  events: ProgramEvents,
): Promise<ProgramInstance> => {
  const runtime = new Runtime(events);
  const imports = importsFor(module, runtime.functions);
  const { exports } = await WebAssembly.instantiate(module, imports);
  runtime.exports = exports as unknown as Exports;
  return new Circom2(runtime.exports, runtime, names);
};

/** Functions that programs call: errors and lines of `log`. */
class Runtime {
  exports: Exports | null = null;
  readonly #events: ProgramEvents;
  #errors: string[] = [];
  #line: string[] = [];

  constructor(events: ProgramEvents) {
    this.#events = events;
  }

  get functions(): Readonly<Record<string, (...given: number[]) => void>> {
    return {
      exceptionHandler: (code = 0) => this.#fail(code),
      printErrorMessage: () => void this.#errors.push(this.#text()),
      writeBufferMessage: () => this.#write(this.#text()),
      showSharedRWMemory: () => this.#writeNumber(),
    };
  }

  /** Forgets what a witness before has written. */
  begin(): void {
    this.#errors = [];
    this.#line = [];
  }

  #fail(code: number): never {
    const name = errors[code] ?? `error ${code}`;
    throw new ProgramError([`${name}.`, ...this.#errors].join(' '), code === ASSERT_FAILED);
  }

  #text(): string {
    const { getMessageChar } = this.exports as Exports;
    let text = '';
    for (let char = getMessageChar(); char !== 0; char = getMessageChar()) text += String.fromCharCode(char);
    return text;
  }

  /** A line ends with a text of its own. */
  #write(text: string): void {
    if (text !== '\n') {
      this.#line.push(text);
      return;
    }
    const line = this.#line.join(' ');
    this.#line = [];
    this.#events.onLog(line);
  }

  #writeNumber(): void {
    const { readSharedRWMemory, getFieldNumLen32 } = this.exports as Exports;
    this.#line.push(String(numberOf(readSharedRWMemory, getFieldNumLen32())));
    // before 2.0.7 a log is one number, and nothing ends its line
    if (!this.#hasLines) this.#write('\n');
  }

  get #hasLines(): boolean {
    const { getMinorVersion, getPatchVersion } = this.exports as Exports;
    return (getMinorVersion?.() ?? 0) >= 1 || (getPatchVersion?.() ?? 0) >= 7;
  }
}

const numberOf = (wordAt: (word: number) => number, words: number): bigint => {
  let number = 0n;
  for (let i = words - 1; i >= 0; i--) number = (number << 32n) | BigInt(wordAt(i) >>> 0);
  return number;
};

class Circom2 implements ProgramInstance {
  readonly prime: bigint;
  readonly words: number;
  readonly values: number;
  readonly #exports: Exports;
  readonly #runtime: Runtime;
  readonly #names: readonly string[];

  constructor(exports: Exports, runtime: Runtime, names: readonly string[]) {
    this.#names = names;
    const version = exports.getVersion();
    if (version !== 2) throw badArgument(`wasm: the program is of circom ${version}; there are programs of 1 and 2`);
    this.#exports = exports;
    this.#runtime = runtime;
    this.words = exports.getFieldNumLen32();
    if (this.words > WORDS) {
      throw badArgument(
        `wasm: the field has numbers of ${this.words} words of 32 bits; at most ${WORDS} are supported`,
      );
    }
    exports.getRawPrime();
    this.prime = numberOf(exports.readSharedRWMemory, this.words);
    this.values = exports.getWitnessSize();
  }

  run(signals: readonly SignalValues[]): void {
    const hashed = signals.map((signal) => ({ signal, hash: hashOf(signal.name) }));
    for (const { signal, hash } of hashed) this.#assertFits(signal, hash);
    this.#assertComplete(signals);
    const { init, setInputSignal, writeSharedRWMemory } = this.#exports;
    this.#runtime.begin();
    init(0);
    for (const { signal, hash } of hashed) {
      for (let i = 0; i < signal.count; i++) {
        for (let j = 0; j < this.words; j++) writeSharedRWMemory(j, signal.words[i * WORDS + j] as number);
        setInputSignal(hash.high, hash.low, i);
      }
    }
  }

  /** @throws MsmError `bad-argument` if no input has the name, or if it takes another number of values */
  #assertFits({ name, count }: SignalValues, { high, low }: Hash): void {
    const size = this.#exports.getInputSignalSize?.(high, low);
    if (size === undefined) return;
    if (size < 0 || (size === 0 && count > 0)) throw badArgument(`input.${name} is not an input signal of the circuit`);
    if (count !== size) {
      throw badArgument(
        `input.${name} has ${count} values, but the signal takes ${size}: too ${count < size ? 'few' : 'many'}`,
      );
    }
  }

  #assertComplete(signals: readonly SignalValues[]): void {
    const size = this.#exports.getInputSize();
    const count = signals.reduce((sum, each) => sum + each.count, 0);
    if (count >= size) return;
    const given = new Set(signals.map(({ name }) => name));
    const missing = [...this.#inputs()]
      .filter(({ name }) => !given.has(name))
      .map(({ name, size: own }) => `${name} (${own})`);
    const which = missing.length === 0 ? 'signals are missing' : `it lacks ${missing.join(', ')}`;
    throw badArgument(`input has ${count} values, but the input signals of the circuit take ${size}: ${which}`);
  }

  /** Yields the inputs among the names, and how many values they take. */
  *#inputs(): Generator<{ readonly name: string; readonly size: number }> {
    const { getInputSignalSize, getInputSize } = this.#exports;
    let left = getInputSize();
    for (const name of this.#names) {
      // the names of inputs come before most of the others
      if (left === 0 || getInputSignalSize === undefined) return;
      const { high, low } = hashOf(name);
      const size = getInputSignalSize(high, low);
      if (size <= 0) continue;
      left -= size;
      yield { name, size };
    }
  }

  copyTo(into: Uint32Array): void {
    const { values, words } = this;
    const { getWitness, readSharedRWMemory, getSharedRWMemoryStart, memory } = this.#exports;
    if (memory === undefined || getSharedRWMemoryStart === undefined) {
      for (let i = 0; i < values; i++) {
        getWitness(i);
        for (let j = 0; j < words; j++) into[i * words + j] = readSharedRWMemory(j);
      }
      return;
    }
    // eight calls a value less
    const shared = new Uint32Array(memory.buffer, getSharedRWMemoryStart(), words);
    for (let i = 0; i < values; i++) {
      getWitness(i);
      for (let j = 0; j < words; j++) into[i * words + j] = shared[j] as number;
    }
  }
}
