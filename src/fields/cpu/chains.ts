/**
 * Chains of a run, for workers that share no memory: which steps form chains, in which order a run computes
 * them, and a chain as calls at the addresses of a worker's own memory.
 */
import { invert, mod } from '../../field/modulus.js';
import { wordsOfElement } from '../../wasm/points/kernel.js';
import type { VectorAt, VectorMemory } from '../../wasm/vectors/vector-kernel.js';
import type {
  CallList,
  ChainTask,
  PlacedWords,
  VectorChain,
  VectorModule,
} from '../../wasm/vectors/vector-messages.js';
import { type KernelCall, type Phase, writeCalls } from '../../wasm/vectors/vector-program.js';
import type { OpenField } from '../program/open-field.js';
import { type FieldStep, type Kind, operations } from '../program/operations.js';
import { type LiveStep, withEndings } from '../program/vector-backend.js';
import type { Vector } from '../program/vectors.js';
import { Arena, PlannedSpace } from './arena.js';
import { computeStep, tablesOf } from './cpu-operations.js';

/* The order of a run: steps alone, and chains side by side. */

/** Steps of which each but the first has one operand, the result of the step before, which nothing else reads. */
export type Chain = readonly [LiveStep, ...LiveStep[]];

/** Chains that need nothing of each other, and the vectors that end with the last of them. */
export interface RunPart {
  readonly chains: readonly [Chain, ...Chain[]];
  readonly ending: readonly Vector[];
}

/** Operations of one operand that only kernels compute. */
const linked: ReadonlySet<Kind> = new Set([
  ...(['ntt', 'intt', 'scale', 'scalePowers', 'slice', 'pad'] as const),
  ...(['evaluate', 'divideByLinear', 'prefixProduct'] as const),
]);

/** Returns the chains of steps; a step that is in no other is one by itself. */
const chainsOf = (steps: readonly FieldStep[]): FieldStep[][] => {
  const uses = new Map<Vector, number>();
  for (const { operands } of steps) for (const operand of operands) uses.set(operand, (uses.get(operand) ?? 0) + 1);
  const chains: FieldStep[][] = [];
  /** Chains that go on, by their last result. */
  const open = new Map<Vector, FieldStep[]>();
  for (const step of steps) {
    const before = linked.has(step.kind) ? open.get(step.operands[0] as Vector) : undefined;
    const chain = before ?? [];
    if (before === undefined) chains.push(chain);
    chain.push(step);
    const { result } = step;
    if (linked.has(step.kind) && !result.isKept && uses.get(result) === 1) open.set(result, chain);
  }
  return chains;
};

/**
 * Returns the parts of a run. Steps that no worker computes go first as soon as their operands are there, then
 * all long chains whose operands are there, the longest first.
 *
 * @param steps as the CPU executes them
 * @param msOf returns the estimated time of a step
 * @param isWorthSending returns whether a chain of so many ms is worth two messages
 */
export const partsOf = (
  steps: readonly FieldStep[],
  msOf: (step: FieldStep) => number,
  isWorthSending: (ms: number) => boolean,
): readonly RunPart[] => {
  const missing = new Set(steps.map(({ result }) => result));
  const isReady = ([first]: readonly FieldStep[]): boolean =>
    (first as FieldStep).operands.every((operand) => !missing.has(operand));
  const timed = chainsOf(steps).map((chain) => ({ chain, ms: chain.reduce((sum, step) => sum + msOf(step), 0) }));
  const isLong = ({ chain, ms }: (typeof timed)[number]): boolean =>
    isWorthSending(ms) && chain.every(({ kind }) => linked.has(kind));
  const [long, short] = [timed.filter(isLong), timed.filter((each) => !isLong(each))];
  const parts: FieldStep[][][] = [];
  const add = (chains: FieldStep[][]): void => {
    parts.push(chains);
    for (const { result } of chains.flat()) missing.delete(result);
  };
  while (long.length + short.length > 0) {
    const next = short.findIndex(({ chain }) => isReady(chain));
    if (next >= 0) {
      for (const { chain } of short.splice(next, 1)) add([chain]);
      continue;
    }
    const ready = long.filter(({ chain }) => isReady(chain)).sort((a, b) => b.ms - a.ms);
    for (const each of ready) long.splice(long.indexOf(each), 1);
    add(ready.map(({ chain }) => chain));
  }
  return withLives(parts);
};

/** Returns parts with the vectors that end with each step, or with the part where several chains read them. */
const withLives = (parts: readonly (readonly FieldStep[][])[]): readonly RunPart[] => {
  const live = withEndings(parts.flat(2), false)[Symbol.iterator]();
  return parts.map((chains) => {
    const heads = chains.map(([first]) => new Set((first as FieldStep).operands));
    const isShared = (vector: Vector): boolean => heads.filter((operands) => operands.has(vector)).length > 1;
    const lives = chains.map((chain) => chain.map(() => live.next().value as LiveStep));
    const ending = lives.flat().flatMap((each) => each.ending.filter(isShared));
    const own = lives.map((chain) =>
      chain.map(({ step, ending: all }) => ({ step, ending: all.filter((vector) => !isShared(vector)) })),
    );
    return { chains: own as unknown as readonly [Chain, ...Chain[]], ending };
  });
};

/* Chains as calls in a worker's memory. */

/** Bytes of the memory in which a worker computes chains, at most. */
const MOST_BYTES = 2 ** 27;

/** Bytes of tables that nothing reads any more, beside as many that are read. */
const IDLE_TABLE_BYTES = 2 ** 20;

const ALIGNMENT = 64;

/** Memory of a worker that is planned here: numbers which are entered are recorded. */
class RecordedSpace extends PlannedSpace {
  #numbers: PlacedWords[] = [];

  constructor(memory: VectorMemory) {
    super(memory, 0, ALIGNMENT * Math.ceil(memory.kernel.end / ALIGNMENT));
  }

  override *enter(to: VectorAt, words: Uint32Array, scale: bigint): Generator<void> {
    const { field, wordBytes } = this.kernel;
    const perNumber = wordBytes / 4;
    const factor = field.r * (scale === 1n ? 1n : invert(scale, field.p));
    for (let i = 0; i * perNumber < words.length; i++) {
      const number = words.subarray(i * perNumber, (i + 1) * perNumber);
      const value = number.reduceRight((sum, word) => (sum << 32n) + BigInt(word), 0n);
      this.#numbers.push({
        at: to + i * this.elementBytes,
        words: wordsOfElement(field, mod(value * factor, field.p)),
      });
    }
  }

  /** Returns the numbers and calls of phases that only kernels compute. */
  record<Result>(phases: Generator<Phase, Result>): { readonly list: CallList; readonly result: Result } {
    this.#numbers = [];
    const calls: KernelCall[] = [];
    for (;;) {
      const { done, value } = phases.next();
      if (done) return { list: { numbers: this.#numbers, calls: writeCalls(calls) }, result: value };
      if ('alone' in value) throw new Error('a worker cannot compute this operation');
      for (const chunk of value.chunks) calls.push(...chunk);
    }
  }
}

/** Products and passes of a chain. */
export interface Counts {
  readonly products: number;
  readonly passes: number;
}

/** Records chains for the workers of one engine, whose tables it knows. */
export class ChainRecorder {
  readonly #field: OpenField;
  readonly #memory: VectorMemory;
  #space: RecordedSpace;
  #arena: Arena;
  #tables: { readonly generation: number; readonly lists: CallList[] } = { generation: 0, lists: [] };
  /** The module; the same object each time, since workers prepare themselves with it once. */
  readonly setup: VectorModule;

  constructor(field: OpenField, memory: VectorMemory) {
    this.#field = field;
    this.#memory = memory;
    this.#space = new RecordedSpace(memory);
    this.#arena = new Arena(field, this.#space, Number.POSITIVE_INFINITY);
    const constants = [...memory.kernel.constants].map(([at, words]) => ({ at, words }));
    this.setup = { module: memory.module, constants };
  }

  /** Forgets tables: workers make them again, in the same memory. */
  #forgetTables(): void {
    this.#space = new RecordedSpace(this.#memory);
    this.#arena = new Arena(this.#field, this.#space, Number.POSITIVE_INFINITY);
    this.#tables = { generation: this.#tables.generation + 1, lists: [] };
  }

  /** Returns the task of workers, and the work of each chain; null if they would take too much memory. */
  record(chains: readonly Chain[]): { readonly task: ChainTask; readonly counts: readonly Counts[] } | null {
    const { used, bytes } = this.#space;
    if (bytes > 2 * used + IDLE_TABLE_BYTES) this.#forgetTables();
    for (const { step } of chains.flat()) this.#recordTables(step);
    const { bytes: scratch, used: usedByTables } = this.#space;
    const { made } = this.#arena.tables;
    let end = scratch;
    const recorded = chains.map((chain) => {
      const one = this.#recordChain(chain);
      end = Math.max(end, this.#space.bytes);
      this.#space.rewind(scratch, usedByTables);
      return one;
    });
    if (this.#arena.tables.made > made || end > MOST_BYTES) {
      this.#forgetTables();
      return null;
    }
    const { generation, lists } = this.#tables;
    const task = {
      bytes: end,
      scratch,
      tables: { generation, lists: [...lists] },
      chains: recorded.map(({ as }) => as),
    };
    return { task, counts: recorded.map(({ counts }) => counts) };
  }

  #sizeOf({ parameters, operands, result }: FieldStep) {
    const lengths = operands.map(({ length }) => length);
    return { p: this.#field.p, matrices: new Map(), parameters, lengths, length: result.length };
  }

  #recordTables(step: FieldStep): void {
    const { made } = this.#arena.tables;
    const { list } = this.#space.record(tablesOf(step.kind, this.#arena, this.#sizeOf(step) as never));
    if (this.#arena.tables.made > made) this.#tables.lists.push(list);
  }

  #recordChain(chain: Chain): { readonly as: VectorChain; readonly counts: Counts } {
    const { length } = chain[0].step.operands[0] as Vector;
    const bytes = this.#arena.bytes;
    const input = this.#arena.take(length);
    const { list, result } = this.#space.record(this.#phases(chain, input));
    const output = { at: result.at, bytes: (chain.at(-1) as LiveStep).step.result.length * bytes };
    return { as: { list, input: { at: input, bytes: length * bytes }, output }, counts: result.counts };
  }

  *#phases(chain: Chain, input: VectorAt) {
    const arena = this.#arena;
    const counts = { products: 0, passes: 0 };
    let at = input;
    for (const { step } of chain) {
      const to = operations[step.kind].result === 'inPlace' ? at : arena.take(step.result.length);
      const placed = { ...this.#sizeOf(step), arena, from: [at], a: at, to };
      const { products, passes } = yield* computeStep(step.kind, placed as never);
      counts.products += products;
      counts.passes += passes;
      at = to;
    }
    return { at, counts };
  }
}
