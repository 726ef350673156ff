/**
 * Programs of circom 1. They compute in a memory that they import, in which a number is a word, a
 * word of flags, and the words of a long number. The word at address 0 is the end of what is in use.
 */
import { badArgument, MsmError } from '../errors.js';
import { invert, readWords } from '../field/modulus.js';
import { type SignalValues, WORDS } from './input-signals.js';
import { importsFor, ProgramError, type ProgramEvents, type ProgramInstance } from './program-instance.js';
import { hashOf } from './signal-hash.js';

/** Functions that programs export. */
interface Exports {
  /** Returns the bytes of a number in memory. */
  getFrLen(): number;
  getNVars(): number;
  /** Returns the address of the prime. */
  getPRawPrime(): number;
  init(sanityCheck: number): void;
  /** Writes where the values of a signal begin. */
  getSignalOffset32(into: number, component: number, hashHigh: number, hashLow: number): void;
  setSignal(component: number, subcomponent: number, signal: number, number: number): void;
  /** Writes all values, and returns their address. */
  getWitnessBuffer(): number;
}

/** Numbers of errors: a constraint and an assertion that do not hold, and a name that no signal has. */
const [NOT_EQUAL, NOT_ASSERTED, NO_SIGNAL] = [7, 9, 3];

/** Flags of a number: in its words, and in Montgomery form. */
const LONG = 0x80000000;
const MONTGOMERY = 0x40000000;

/** Bytes before the words of a long number. */
const HEAD_BYTES = 8;

/** Loads a program with the smallest memory that it takes. @throws MsmError `out-of-memory` */
export const openCircom1 = async (
  module: WebAssembly.Module,
  pages: number,
  { onLog }: ProgramEvents,
): Promise<ProgramInstance> => {
  let memory: WebAssembly.Memory;
  try {
    memory = new WebAssembly.Memory({ initial: pages });
  } catch (cause) {
    throw new MsmError('out-of-memory', `wasm: the program needs a memory of ${pages} pages of 64 KiB`, { cause });
  }
  let program: Circom1 | null = null;
  const functions = {
    error: (code: number, ...given: number[]) => fail(memory, code, given),
    // a program of circom 1 logs one number a line
    log: (at: number) => onLog(String((program as unknown as Circom1).numberAt(at))),
  };
  const { exports } = await WebAssembly.instantiate(module, importsFor(module, functions as never, memory));
  program = new Circom1(exports as unknown as Exports, memory);
  return program;
};

/** Ends a program. Its other texts may have values of the witness, which no error shows. */
const fail = (memory: WebAssembly.Memory, code: number, [text = 0, , second = 0, third = 0]: number[]): never => {
  if (code === NO_SIGNAL) throw new ProgramError('Signal not found', false);
  const place = code === NOT_EQUAL ? third : code === NOT_ASSERTED ? second : 0;
  const where = place === 0 ? '' : ` ${textAt(memory, place)}`;
  throw new ProgramError(`${textAt(memory, text)}${where}`, code === NOT_EQUAL || code === NOT_ASSERTED);
};

const textAt = ({ buffer }: WebAssembly.Memory, at: number): string => {
  const bytes = new Uint8Array(buffer, at);
  return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
};

class Circom1 implements ProgramInstance {
  readonly prime: bigint;
  readonly words: number;
  readonly values: number;
  readonly #exports: Exports;
  readonly #words: Uint32Array;
  /** 2^-(64·n) for numbers of n words of 64 bits, which Montgomery form multiplies. */
  readonly #fromMontgomery: bigint;
  /** The end of what is in use before a witness. */
  readonly #free: number;

  constructor(exports: Exports, { buffer }: WebAssembly.Memory) {
    this.#exports = exports;
    this.#words = new Uint32Array(buffer);
    this.words = (exports.getFrLen() - HEAD_BYTES) / 4;
    if (this.words > WORDS) {
      throw badArgument(
        `wasm: the field has numbers of ${this.words} words of 32 bits; at most ${WORDS} are supported`,
      );
    }
    this.prime = readWords(this.#words, exports.getPRawPrime() / 4, this.words);
    this.values = exports.getNVars();
    this.#free = this.#words[0] as number;
    this.#fromMontgomery = invert(2n ** BigInt(32 * this.words), this.prime);
  }

  run(signals: readonly SignalValues[]): void {
    const { init, getSignalOffset32, setSignal } = this.#exports;
    this.#words[0] = this.#free;
    // checks constraints, and that each signal is set once: no other function says what is missing
    init(1);
    const place = this.#allocate(HEAD_BYTES);
    const number = this.#allocate(HEAD_BYTES + 4 * this.words);
    for (const { name, count, words } of signals) {
      const { high, low } = hashOf(name);
      try {
        getSignalOffset32(place, 0, high, low);
      } catch {
        throw badArgument(`input.${name} is not an input signal of the circuit`);
      }
      const first = this.#words[place / 4] as number;
      for (let i = 0; i < count; i++) {
        this.#write(number / 4, words.subarray(i * WORDS, (i + 1) * WORDS));
        setSignal(0, 0, first + i, number);
      }
    }
  }

  copyTo(into: Uint32Array): void {
    const at = this.#exports.getWitnessBuffer() / 4;
    into.set(this.#words.subarray(at, at + this.values * this.words));
    this.#words[0] = this.#free;
  }

  #allocate(bytes: number): number {
    const at = this.#words[0] as number;
    this.#words[0] = at + bytes;
    return at;
  }

  /** Returns the number at an address. */
  numberAt(address: number): bigint {
    const at = address / 4;
    const [short, flags] = [this.#words[at] as number, this.#words[at + 1] as number];
    if ((flags & LONG) === 0) return (BigInt(short | 0) + this.prime) % this.prime;
    const long = readWords(this.#words, at + HEAD_BYTES / 4, this.words);
    return (flags & MONTGOMERY) === 0 ? long : (long * this.#fromMontgomery) % this.prime;
  }

  /** Writes a number in the form that programs give it: short from −2^31 to 2^31 − 1. */
  #write(at: number, words: Uint32Array): void {
    const isShort = (words[0] as number) < 2 ** 31 && words.every((word, i) => i === 0 || word === 0);
    const number = at + HEAD_BYTES / 4;
    this.#words.set(words.subarray(0, this.words), number);
    this.#words.set(isShort ? [words[0] as number, 0] : [0, LONG], at);
    if (isShort) return;
    const below = this.prime - readWords(this.#words, number, this.words);
    if (below <= 2n ** 31n) this.#words.set([Number(2n ** 32n - below), 0], at);
  }
}
