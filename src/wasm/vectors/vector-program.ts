/**
 * Calls of vector kernels as data, so that threads which share a memory can divide them: a program
 * is phases one after the other, a phase is chunks in any order, a chunk is calls in order.
 *
 * Threads take chunks from a counter of the phase, and whoever ends the last chunk opens the next
 * phase. No thread waits for one that has not begun: a program ends however few take part. Calls
 * with fixed shares and a barrier were rejected, since a thread that starts late holds up the rest.
 */
import { nextTurn, type TimeSlice } from '../../scheduling/time-slice.js';
import { type KernelName, kernelParameters, type VectorExports } from './vector-loops.js';

/** Names of kernels by the numbers that programs have for them. */
const NAMES = Object.keys(kernelParameters) as KernelName[];

/** A call, and how often it is repeated, each time with arguments that are further by `steps`. */
export interface KernelCall {
  readonly name: KernelName;
  readonly parameters: readonly number[];
  readonly times: number;
  readonly steps: readonly number[] | null;
}

/** Work that threads divide, or that only the thread of the engine can do. */
export type Phase =
  | { readonly chunks: readonly (readonly KernelCall[])[] }
  /** Reads or writes the memory by other means than kernels. */
  | { readonly alone: () => void };

/** Yields the phases of a computation. Its memory is in use until the last one has ended. */
export type Phases = Generator<Phase, void>;

/**
 * Runs phases on this thread, in time slices.
 *
 * @throws what `slice` and the phases throw; the phases have then freed what they hold
 */
export const runPhases = async (
  memory: { run(each: KernelCall): void },
  phases: Phases,
  slice: TimeSlice,
): Promise<void> => {
  try {
    for (const phase of phases) {
      if ('alone' in phase) phase.alone();
      for (const chunk of 'chunks' in phase ? phase.chunks : []) {
        for (const each of chunk) {
          memory.run(each);
          if (slice.isOver) await slice.yield();
        }
      }
    }
  } finally {
    phases.return();
  }
};

export const call = (name: KernelName, ...parameters: readonly number[]): KernelCall => ({
  name,
  parameters,
  times: 1,
  steps: null,
});

/** Returns a call that is repeated with other arguments. @param steps added to them each time */
export const repeated = (
  times: number,
  name: KernelName,
  parameters: readonly number[],
  steps: readonly number[],
): KernelCall => ({ name, parameters, times, steps });

/** Returns a phase of one chunk, whose calls depend on each other. */
export const inOrder = (...calls: readonly KernelCall[]): Phase => ({ chunks: [calls] });

/** Returns a phase that cuts `length` elements in chunks of at most `grain`. */
export const cut = (
  length: number,
  grain: number,
  callsOf: (first: number, count: number) => readonly KernelCall[],
): Phase => {
  const chunks: (readonly KernelCall[])[] = [];
  for (let first = 0; first < length; first += grain) chunks.push(callsOf(first, Math.min(grain, length - first)));
  return { chunks };
};

/**
 * Calls a function with the words from `at` on. WebAssembly ignores arguments that a function does
 * not have: nine fixed ones take a tenth of the time of as many as it has, spread from an array.
 */
const invoke = (exports: VectorExports, name: KernelName, words: ArrayLike<number>, at: number): void => {
  const kernel = exports[name];
  const [a, b, c] = [words[at], words[at + 1], words[at + 2]];
  const [d, e, f] = [words[at + 3], words[at + 4], words[at + 5]];
  kernel(a, b, c, d, e, f, words[at + 6], words[at + 7], words[at + 8]);
};

/** Calls a function `times` times; each time its arguments are further by the words from `stepsAt` on. */
const repeat = (
  exports: VectorExports,
  name: KernelName,
  times: number,
  words: ArrayLike<number>,
  [at, stepsAt]: readonly [number, number],
): void => {
  const { length: count } = kernelParameters[name];
  const next = Array.from({ length: count }, (_, k) => words[at + k] as number);
  for (let i = 0; i < times; i++) {
    invoke(exports, name, next, 0);
    for (let k = 0; k < count; k++) next[k] = (next[k] as number) + (words[stepsAt + k] as number);
  }
};

/** Does a call, with its repetitions. */
export const runCall = (exports: VectorExports, { name, parameters, times, steps }: KernelCall): void => {
  if (steps === null) invoke(exports, name, parameters, 0);
  else repeat(exports, name, times, [...parameters, ...steps], [0, parameters.length]);
};

/* Calls in words. */

const wordsOfCall = ({ name, parameters, times, steps }: KernelCall): readonly number[] => [
  NAMES.indexOf(name),
  steps === null ? 0 : times,
  ...parameters,
  ...(steps ?? []),
];

/** Writes calls one after the other. */
export const writeCalls = (calls: readonly KernelCall[]): Int32Array<ArrayBuffer> =>
  Int32Array.from(calls.flatMap(wordsOfCall));

/** Does the calls in the words from `first` to `end`. */
export const runCalls = (exports: VectorExports, words: Int32Array, first = 0, end = words.length): void => {
  for (let at = first; at < end; ) {
    const name = NAMES[words[at] as number] as KernelName;
    const times = words[at + 1] as number;
    const { length: count } = kernelParameters[name];
    at += 2;
    if (times === 0) invoke(exports, name, words, at);
    else repeat(exports, name, times, words, [at, at + count]);
    at += times === 0 ? count : 2 * count;
  }
};

/* A program in words, which threads share. */

/** Chunk count of a phase that only the thread of the engine can do. */
const ALONE = -1;

/** Words of a phase in the table: its number of chunks, and where the places of its chunks are. */
const PHASE_WORDS = 2;

/** Words of the state before the counters of the phases: the open phase, and the threads in a chunk. */
const [OPEN, INSIDE, STATE_WORDS] = [0, 1, 2];

/** An open phase that no program has: threads leave. */
const ABORTED = 2 ** 30;

/** A program and its state, as workers are sent it. */
export interface SharedProgram {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly state: Int32Array<SharedArrayBuffer>;
}

const sharedWords = (length: number): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(4 * length));

/** Writes phases as a program. */
export const writeProgram = (phases: readonly Phase[]): SharedProgram => {
  const table: number[] = [];
  const places: number[] = [];
  const calls: number[] = [];
  for (const phase of phases) {
    table.push('alone' in phase ? ALONE : phase.chunks.length, places.length);
    if ('alone' in phase) continue;
    for (const chunk of phase.chunks) {
      places.push(calls.length);
      for (const each of chunk) calls.push(...wordsOfCall(each));
    }
  }
  places.push(calls.length);
  const firstPlace = 1 + table.length;
  const firstCall = firstPlace + places.length;
  const words = sharedWords(firstCall + calls.length);
  words[0] = phases.length;
  words.set(table, 1);
  words.set(
    places.map((place) => firstCall + place),
    firstPlace,
  );
  words.set(calls, firstCall);
  return { words, state: sharedWords(STATE_WORDS + 2 * phases.length) };
};

/** One thread's view of a program. */
class ProgramReader {
  readonly #words: Int32Array;
  readonly #state: Int32Array<SharedArrayBuffer>;
  readonly #exports: VectorExports;
  readonly phases: number;

  constructor({ words, state }: SharedProgram, exports: VectorExports) {
    this.#words = words;
    this.#state = state;
    this.#exports = exports;
    this.phases = words[0] as number;
  }

  /** The open phase; `phases` or more at the end. */
  get open(): number {
    return Atomics.load(this.#state, OPEN);
  }

  isAlone(phase: number): boolean {
    return this.#words[1 + PHASE_WORDS * phase] === ALONE;
  }

  /** Takes a chunk of the open phase and does it. @returns false if none was left */
  doChunk(phase: number): boolean {
    const chunks = this.#words[1 + PHASE_WORDS * phase] as number;
    if (chunks === ALONE) return false;
    Atomics.add(this.#state, INSIDE, 1);
    try {
      // after an abort no chunk may begin
      if (this.open !== phase) return true;
      const chunk = Atomics.add(this.#state, STATE_WORDS + 2 * phase, 1);
      if (chunk >= chunks) return false;
      this.#run(phase, chunk);
      if (Atomics.add(this.#state, STATE_WORDS + 2 * phase + 1, 1) === chunks - 1) this.end(phase);
      return true;
    } finally {
      Atomics.sub(this.#state, INSIDE, 1);
    }
  }

  #run(phase: number, chunk: number): void {
    const words = this.#words;
    const firstPlace = 1 + PHASE_WORDS * this.phases;
    const place = firstPlace + (words[2 + PHASE_WORDS * phase] as number) + chunk;
    runCalls(this.#exports, words, words[place] as number, words[place + 1] as number);
  }

  /** Opens the next phase. */
  end(phase: number): void {
    Atomics.compareExchange(this.#state, OPEN, phase, phase + 1);
    Atomics.notify(this.#state, OPEN);
  }

  abort(): void {
    Atomics.store(this.#state, OPEN, ABORTED);
    Atomics.notify(this.#state, OPEN);
  }

  /** Threads in the middle of a chunk. */
  get inside(): number {
    return Atomics.load(this.#state, INSIDE);
  }

  /** Waits until another phase is open, or for some milliseconds. Pages forbid it on their thread. */
  wait(phase: number, ms: number): void {
    Atomics.wait(this.#state, OPEN, phase, ms);
  }

  /** As `wait`, and the event loop goes on; where the platform cannot, one turn of it. */
  async waitAsync(phase: number, ms: number): Promise<void> {
    const { waitAsync } = Atomics as {
      waitAsync?(
        words: Int32Array,
        index: number,
        value: number,
        ms: number,
      ): { readonly async: boolean; readonly value: unknown };
    };
    if (waitAsync === undefined) {
      await nextTurn();
      return;
    }
    const changed = Promise.resolve(waitAsync(this.#state, OPEN, phase, ms).value);
    // the timer keeps Node's process alive, which ends while nothing but `waitAsync` is pending
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      void changed.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Milliseconds after which a waiting thread looks again whether it is still wanted. */
const WAIT_MS = 1000;

/** Does chunks of a program on a worker, until it ends. */
export const runOnWorker = (program: SharedProgram, exports: VectorExports): void => {
  const reader = new ProgramReader(program, exports);
  for (let phase = reader.open; phase < reader.phases; phase = reader.open) {
    while (reader.doChunk(phase) && reader.open === phase);
    if (reader.open === phase) reader.wait(phase, WAIT_MS);
  }
};

/** Callbacks of the engine's thread between chunks. */
export interface ProgramHost {
  /** Called after each chunk; ends the program by throwing. */
  between(): Promise<void> | void;
  /** Called in turns of the event loop while others compute; ends the program by throwing. */
  waits(): Promise<void>;
  /** Called when a phase has ended. */
  onPhase(ended: number): void;
}

/** Milliseconds between two turns of a thread that waits for the chunks of others. */
const TURN_MS = 5;

/** Turns of the event loop in which threads have to leave an aborted program. */
const TURNS_TO_LEAVE = 200;

/**
 * Does chunks of a program on the thread of an engine, until it ends.
 *
 * @throws what `host` throws, when no other thread computes any more, or with `isStuck` of `left`
 *   set, if some thread stays in a chunk
 */
export const runOnHost = async (
  phases: readonly Phase[],
  program: SharedProgram,
  exports: VectorExports,
  host: ProgramHost,
  left: { isStuck: boolean },
): Promise<void> => {
  const reader = new ProgramReader(program, exports);
  let seen = 0;
  try {
    for (let phase = reader.open; phase < reader.phases; phase = reader.open) {
      for (; seen < phase; seen++) host.onPhase(seen);
      const open = phases[phase] as Phase;
      if ('alone' in open) {
        open.alone();
        reader.end(phase);
      } else if (!reader.doChunk(phase)) {
        await reader.waitAsync(phase, TURN_MS);
        await host.waits();
        continue;
      }
      await host.between();
    }
    for (; seen < phases.length; seen++) host.onPhase(seen);
  } catch (error) {
    reader.abort();
    for (let turns = 0; reader.inside > 0 && turns < TURNS_TO_LEAVE; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    left.isStuck = reader.inside > 0;
    throw error;
  }
};
