/**
 * Chains of operations on a vector for a worker that shares no memory: the vector comes and goes by transfer,
 * and the operations are calls of kernels as data, at addresses that the thread of the engine has planned. The
 * worker knows nothing of fields.
 */
import { createMemory, growMemory } from '../encoder/module.js';
import type { VectorExports } from './vector-loops.js';
import { runCalls } from './vector-program.js';

/** Words of 32 bits, and the address where they are written. */
export interface PlacedWords {
  readonly at: number;
  readonly words: readonly number[];
}

/** A module of vectors, and the words that its memory begins with. */
export interface VectorModule {
  readonly module: WebAssembly.Module;
  readonly constants: readonly PlacedWords[];
}

/** Numbers to write, and calls that read them. */
export interface CallList {
  readonly numbers: readonly PlacedWords[];
  /** From `writeCalls`. */
  readonly calls: Int32Array<ArrayBuffer>;
}

/** Bytes of the memory. */
interface Place {
  readonly at: number;
  readonly bytes: number;
}

/** A chain of operations. */
export interface VectorChain {
  readonly list: CallList;
  /** The vector that the chain begins with, and its result. */
  readonly input: Place;
  readonly output: Place;
}

/** Message by which a worker takes part in a round of chains; its chunks are the chains. */
export interface ChainTask {
  /** Bytes of memory that tables and chains take. */
  readonly bytes: number;
  /** What chains write, from here to the end of the memory. */
  readonly scratch: number;
  /** Lists that write tables, in order. Those of another generation are not valid any more. */
  readonly tables: { readonly generation: number; readonly lists: readonly CallList[] };
  readonly chains: readonly VectorChain[];
}

/** Results of chains, by their numbers. */
export interface ChainResults {
  readonly chunks: readonly number[];
  readonly results: readonly ArrayBuffer[];
}

/** Memory of a worker in which it computes chains. */
export class ChainWorker {
  readonly #memory: WebAssembly.Memory;
  readonly #exports: VectorExports;
  #tables = { generation: 0, written: 0 };

  private constructor(memory: WebAssembly.Memory, exports: VectorExports) {
    this.#memory = memory;
    this.#exports = exports;
  }

  /** @throws NoWasmMemory */
  static async open({ module, constants }: VectorModule): Promise<ChainWorker> {
    const end = Math.max(...constants.map(({ at, words }) => at + 4 * words.length));
    const memory = createMemory(end);
    const { exports } = await WebAssembly.instantiate(module, { host: { memory } });
    const worker = new ChainWorker(memory, exports as unknown as VectorExports);
    worker.#write(constants);
    return worker;
  }

  #write(numbers: readonly PlacedWords[]): void {
    const all = new Int32Array(this.#memory.buffer);
    for (const { at, words } of numbers) all.set(words, at / 4);
  }

  #run({ numbers, calls }: CallList): void {
    this.#write(numbers);
    runCalls(this.#exports, calls);
  }

  /** Begins a round. @throws NoWasmMemory */
  begin({ bytes, scratch, tables: { generation, lists }, chains }: ChainTask) {
    const missing = bytes - this.#memory.buffer.byteLength;
    if (missing > 0) growMemory(this.#memory, missing);
    if (this.#tables.generation !== generation) this.#tables = { generation, written: 0 };
    for (const list of lists.slice(this.#tables.written)) this.#run(list);
    this.#tables.written = lists.length;
    const chunks: number[] = [];
    const results: ArrayBuffer[] = [];
    return {
      add: (chunk: number, vector: ArrayBuffer): void => {
        const { list, input, output } = chains[chunk] as VectorChain;
        const source = new Uint8Array(vector);
        new Uint8Array(this.#memory.buffer).set(source, input.at);
        this.#run(list);
        chunks.push(chunk);
        results.push(this.#memory.buffer.slice(output.at, output.at + output.bytes));
        // both may be secret
        source.fill(0);
        this.#exports.clear(scratch, bytes - scratch);
      },
      settle: (): ChainResults => ({ chunks, results }),
      transfer: (): ArrayBuffer[] => results,
    };
  }
}
