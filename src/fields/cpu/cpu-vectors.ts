/** Vectors on the CPU, in memory of WebAssembly, and the execution of the steps of a run. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { ANY_SIZE, type Pause } from '../../scheduling/turn-queue.js';
import { bytesOfVector, type VectorAt, type VectorMemory } from '../../wasm/vectors/vector-kernel.js';
import { type Phase, type Phases, type ProgramHost, runPhases } from '../../wasm/vectors/vector-program.js';
import { type FieldStep, type Kind, operations } from '../program/operations.js';
import {
  type Entries,
  type LiveStep,
  liveSteps,
  type ScaledNumbers,
  type VectorBackend,
  type VectorCall,
} from '../program/vector-backend.js';
import type { Matrix, Vector } from '../program/vectors.js';
import type { Arena } from './arena.js';
import { type Chain, ChainRecorder, type Counts, partsOf, type RunPart } from './chains.js';
import { computeStep, millisecondsOf } from './cpu-operations.js';
import { type PlacedMatrix, placeMatrix, releaseMatrix, sortEntries } from './rows.js';
import { LostWorker, type VectorThreads } from './vector-threads.js';

/** Runs `work` in turns of the event loop. */
const inTurns = async <Result>(
  work: Generator<void, Result>,
  { check }: VectorCall,
  slice = new TimeSlice(check),
): Promise<Result> => {
  try {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (slice.isOver) await slice.yield();
    }
  } finally {
    // lets the steps free what they hold
    work.return(undefined as Result);
  }
};

/** Work that is handed to threads at once ends after about so many ms, and keeps so much freed memory. */
const [MS_OF_A_BATCH, BYTES_OF_A_BATCH] = [100, 2 ** 26];

/** Outcome of a run. */
interface Outcome {
  /** Reason why this thread executed it again, alone; null: it did not. */
  readonly retried: string | null;
  /** Workers that took part. */
  readonly workers: number;
}

export class CpuVectors implements VectorBackend {
  readonly #arena: Arena;
  readonly #memory: VectorMemory;
  readonly #threads: VectorThreads | null;
  readonly #vectors = new Map<Vector, number>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();
  /** Records chains for workers; null until there are some, and where memory is shared. */
  #chains: ChainRecorder | null = null;

  /** @param threads that compute beside this one; null: none */
  constructor(arena: Arena, memory: VectorMemory, threads: VectorThreads | null) {
    this.#arena = arena;
    this.#memory = memory;
    this.#threads = threads;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    return { used: this.#arena.used, peak: this.#arena.peak };
  }

  get workers(): number {
    return this.#threads?.most ?? 0;
  }

  has(vector: Vector): boolean {
    return this.#vectors.has(vector);
  }

  async enter(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    const at = this.#arena.take(vector.length);
    try {
      await inTurns(this.#arena.memory.enter(at, words, scale), call);
    } catch (error) {
      this.#arena.release(at, vector.length);
      throw error;
    }
    words.fill(0);
    this.#vectors.set(vector, at);
  }

  async enterMatrix(matrix: Matrix, entries: Entries, call: VectorCall): Promise<void> {
    const sorted = await inTurns(sortEntries(entries), call);
    this.#matrices.set(matrix, await inTurns(placeMatrix(this.#arena, sorted, entries.scale), call));
  }

  async execute(steps: readonly FieldStep[], call: VectorCall): Promise<FieldRunRecord> {
    const begun = performance.now();
    const execution = new Execution(this.#arena, { vectors: this.#vectors, matrices: this.#matrices }, steps);
    let outcome: Outcome;
    try {
      outcome = await this.#execute(execution, call);
    } catch (error) {
      execution.abandon();
      throw error;
    }
    const { counts, phases } = execution;
    const { arithmetic } = this.#arena.memory.kernel;
    const ms = performance.now() - begun;
    return { on: 'cpu', arithmetic, operations: steps.length, ...counts, ...outcome, ms, phases, verified: true };
  }

  async #execute(execution: Execution, call: VectorCall): Promise<Outcome> {
    const threads = this.#threads;
    if (threads === null) return this.#alone(execution, call);
    const parts = this.#memory.shared === null ? execution.parts((ms) => threads.isWorthSending(ms)) : null;
    const most = threads.workersFor(parts === null ? execution.estimatedMs : execution.msOfChains(parts));
    if (most === 0) return this.#alone(execution, call);
    return threads.inTurn(call.ticket, (isFree, pause) => {
      if (!isFree) return this.#alone(execution, call);
      if (parts === null) return this.#together(execution, most, pause, call);
      return this.#byMessages(execution, parts, most, pause, call);
    });
  }

  /** Executes on this thread. */
  async #alone(execution: Execution, call: VectorCall): Promise<Outcome> {
    const slice = new TimeSlice(call.check);
    execution.begin(call.onProgress);
    for (const step of execution.steps()) {
      await call.pause();
      await this.#compute(execution, step, slice);
    }
    return { retried: null, workers: 0 };
  }

  /** Computes a step on this thread. */
  async #compute(execution: Execution, step: RunningStep, slice: TimeSlice): Promise<void> {
    const begun = performance.now();
    await runPhases(this.#memory, step.phases, slice);
    execution.end(step, performance.now() - begun);
  }

  /**
   * Executes with workers that share no memory: each computes whole chains. Operands stay in memory until a
   * chain has come back, so that this thread can compute those of lost workers.
   */
  async #byMessages(
    execution: Execution,
    parts: readonly RunPart[],
    workers: number,
    pause: Pause,
    call: VectorCall,
  ): Promise<Outcome> {
    const slice = new TimeSlice(call.check);
    const participants = new Set<number>();
    let retried: string | null = null;
    try {
      execution.begin(call.onProgress);
      for (const { chains, ending } of parts) {
        await call.pause();
        await pause(ANY_SIZE);
        const outcome = chains.length > 1 ? await this.#sendChains(execution, chains, workers, slice) : null;
        if (outcome === null) for (const chain of chains) await this.#computeChain(execution, chain, slice);
        for (const worker of outcome?.workers ?? []) participants.add(worker);
        retried ??= outcome?.lost ?? null;
        execution.free(ending);
      }
      return { retried, workers: participants.size };
    } catch (error) {
      // one thread takes steps in the order of the caller, and may have room
      if (!(error instanceof MsmError) || error.code !== 'out-of-memory') throw error;
      execution.abandon();
      return this.#alone(execution.again(), call);
    }
  }

  async #computeChain(execution: Execution, chain: Chain, slice: TimeSlice): Promise<void> {
    for (const step of execution.steps(chain)) await this.#compute(execution, step, slice);
  }

  /** Computes chains on all threads. @returns null if workers have no room for them */
  async #sendChains(execution: Execution, chains: readonly Chain[], workers: number, slice: TimeSlice) {
    this.#chains ??= new ChainRecorder(this.#arena.field, this.#memory);
    const recorded = this.#chains.record(chains);
    if (recorded === null) return null;
    const chainAt = (index: number): Chain => chains[index] as Chain;
    const outcome = await (this.#threads as VectorThreads).computeChains(this.#chains.setup, recorded.task, workers, {
      vectorOf: (index) => {
        const { at, length } = execution.inputOf(chainAt(index));
        return this.#memory.elementsAt(at, length);
      },
      compute: (index) => this.#computeChain(execution, chainAt(index), slice),
      between: () => (slice.isOver ? slice.yield() : undefined),
    });
    for (const { chunks, results } of outcome.results) {
      for (const [i, index] of chunks.entries()) {
        const words = new Uint32Array(results[i] as ArrayBuffer);
        execution.adopt(chainAt(index), words, recorded.counts[index] as Counts);
        words.fill(0);
        if (slice.isOver) await slice.yield();
      }
    }
    return outcome;
  }

  /**
   * Executes with workers, in batches: the phases of some steps are recorded, and then computed.
   * After the loss of a worker the vectors move to memory where it cannot write, and this thread
   * executes all steps again; vectors from before the run are as they were.
   *
   */
  async #together(execution: Execution, workers: number, pause: Pause, call: VectorCall): Promise<Outcome> {
    const threads = this.#threads as VectorThreads;
    const arena = this.#arena;
    const participants = new Set<number>();
    arena.threads = 1 + workers;
    try {
      execution.begin(call.onProgress);
      let batch = new Batch();
      const compute = async (): Promise<void> => {
        if (batch.phases.length > 0) {
          const took = await threads.compute(this.#memory, batch.phases, workers, batch.host(execution, call));
          for (const worker of took) participants.add(worker);
        }
        this.#memory.endBatch();
        batch = new Batch();
      };
      for (const step of execution.steps()) {
        if (batch.isEmpty) {
          await call.pause();
          await pause(ANY_SIZE);
          this.#memory.beginBatch();
        }
        batch.add(step);
        if (batch.ms > MS_OF_A_BATCH || this.#memory.lateBytes > BYTES_OF_A_BATCH) await compute();
      }
      await compute();
      return { retried: null, workers: participants.size };
    } catch (error) {
      // a table may be half written
      arena.tables.clear();
      this.#memory.endBatch();
      const isLost = error instanceof LostWorker;
      // one thread frees each vector after its last use, and may have room
      const lacksRoom = error instanceof MsmError && error.code === 'out-of-memory';
      if (!isLost && !lacksRoom) throw error;
      arena.threads = 1;
      if (isLost) await this.#memory.move();
      execution.abandon();
      return { ...(await this.#alone(execution.again(), call)), retried: isLost ? error.message : null };
    } finally {
      arena.threads = 1;
    }
  }

  async plan(steps: readonly FieldStep[], call: VectorCall): Promise<FieldPlan> {
    const planned = this.#arena.planned();
    const { used } = planned;
    const vectors = new Map(this.#vectors);
    const execution = new Execution(planned, { vectors, matrices: this.#matrices }, steps);
    const slice = new TimeSlice(call.check);
    for (const step of execution.steps()) {
      for (const _ of step.phases) if (slice.isOver) await slice.yield();
      execution.end(step, 0);
    }
    const kept = steps.filter(({ result }) => result.isKept);
    const keptBytes = kept.reduce((sum, { result }) => sum + bytesOfVector(planned.memory.kernel, result.length), 0);
    return { on: 'cpu', operations: steps.length, ...execution.counts, bytes: planned.peak - used, keptBytes };
  }

  async leave(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    await inTurns(this.#arena.memory.leave(words, this.#vectors.get(vector) as number, scale), call);
  }

  onDevice(): null {
    return null;
  }

  release(handle: Vector | Matrix): void {
    const at = this.#vectors.get(handle as Vector);
    if (at !== undefined) this.#arena.release(at, (handle as Vector).length);
    this.#vectors.delete(handle as Vector);
    const placed = this.#matrices.get(handle as Matrix);
    if (placed !== undefined) releaseMatrix(this.#arena, placed);
    this.#matrices.delete(handle as Matrix);
  }

  trim(): void {
    this.#arena.tables.clear();
  }

  destroy(): void {
    for (const handle of [...this.#vectors.keys(), ...this.#matrices.keys()]) this.release(handle);
    this.trim();
    const setup = this.#memory.shared ?? this.#chains?.setup;
    if (setup !== undefined) this.#threads?.forget(setup);
  }
}

/** Places of vectors and matrices in memory. */
interface Places {
  readonly vectors: Map<Vector, VectorAt>;
  readonly matrices: ReadonlyMap<Matrix, PlacedMatrix>;
}

/** Executes steps one after the other. Vectors are freed after their last use, unless kept. */
class Execution {
  readonly #arena: Arena;
  readonly #places: Places;
  readonly #steps: readonly LiveStep[];
  readonly phases: Record<string, number> = {};
  #onProgress: VectorCall['onProgress'];
  /** Steps that have ended. */
  #ended = 0;
  /** Work so far; the CPU dispatches nothing. */
  readonly counts = { products: 0, passes: 0, dispatches: 0, submits: 0 };

  constructor(arena: Arena, places: Places, steps: readonly FieldStep[]) {
    this.#arena = arena;
    this.#places = places;
    this.#steps = liveSteps(steps, arena.field.p, false);
  }

  /** Estimated time on one thread, in ms. */
  get estimatedMs(): number {
    return this.#steps.reduce((sum, { step }) => sum + this.#msOf(step), 0);
  }

  #msOf(step: FieldStep): number {
    return millisecondsOf(step, this.#places.matrices, this.#arena.field.p);
  }

  begin(onProgress: VectorCall['onProgress']): void {
    this.#onProgress = onProgress;
    this.#ended = 0;
    this.#report(0);
  }

  #report(done: number): void {
    this.#onProgress?.({ phase: 'vectors', done, total: this.#steps.length });
  }

  /**
   * Yields each step with its phases. The vectors that end with a step are freed when the next one
   * is asked for. Between two steps nothing refers to a table, so that other runs may make and free
   * some.
   */
  *steps(steps = this.#steps): Generator<RunningStep> {
    for (const live of steps) {
      yield {
        kind: live.step.kind,
        ms: this.#msOf(live.step),
        phases: this.#compute(live),
      };
      this.free(live.ending);
    }
  }

  /** Frees vectors that have ended, unless they are kept. */
  free(ending: readonly Vector[]): void {
    for (const vector of ending) if (!vector.isKept) this.#free(vector);
  }

  /** Notes the end of a step. */
  end({ kind }: Pick<RunningStep, 'kind'>, ms: number): void {
    this.phases[kind] = (this.phases[kind] ?? 0) + ms;
    this.#report(++this.#ended);
  }

  /** Returns the parts of the run for workers that share no memory. */
  parts(isWorthSending: (ms: number) => boolean): readonly RunPart[] {
    const steps = this.#steps.map(({ step }) => step);
    return partsOf(steps, (step) => this.#msOf(step), isWorthSending);
  }

  /** Estimated time, on one thread, of chains that threads compute side by side. */
  msOfChains(parts: readonly RunPart[]): number {
    const chains = parts.flatMap((part) => (part.chains.length > 1 ? part.chains : []));
    return chains.flat().reduce((sum, { step }) => sum + this.#msOf(step), 0);
  }

  /** Returns the vector that a chain begins with. */
  inputOf([{ step }]: Chain): { readonly at: VectorAt; readonly length: number } {
    const [operand] = step.operands as [Vector];
    return { at: this.#at(operand), length: operand.length };
  }

  /** Takes over the result of a chain that a worker has computed. @throws MsmError `out-of-memory` */
  adopt(chain: Chain, words: Uint32Array, { products, passes }: Counts): void {
    this.counts.products += products;
    this.counts.passes += passes;
    for (const each of chain) {
      this.free(each.ending);
      this.end(each.step, 0);
    }
    const { step, ending } = chain.at(-1) as LiveStep;
    const { result } = step;
    if (!result.isKept && ending.includes(result)) return;
    const at = this.#arena.take(result.length);
    this.#places.vectors.set(result, at);
    this.#arena.memory.putWords(at, words);
  }

  /** Returns the same execution from the beginning. */
  again(): Execution {
    for (const key of Object.keys(this.phases)) delete this.phases[key];
    Object.assign(this.counts, { products: 0, passes: 0 });
    return this;
  }

  #free(vector: Vector): void {
    const at = this.#places.vectors.get(vector);
    if (at === undefined) return;
    this.#places.vectors.delete(vector);
    this.#arena.release(at, vector.length);
  }

  /** Frees what a run that did not end has computed. */
  abandon(): void {
    for (const { step } of this.#steps) if (step.result.state === 'recorded') this.#free(step.result);
  }

  #at(vector: Vector): VectorAt {
    const at = this.#places.vectors.get(vector);
    if (at === undefined) throw new Error('a vector is used before it is computed');
    return at;
  }

  *#compute({ step: { kind, parameters, operands, result }, ending }: LiveStep): Phases {
    const { vectors, matrices } = this.#places;
    const from = operands.map((operand) => this.#at(operand));
    // the memory of an operand which nothing else uses, or new memory
    const over =
      operations[kind].result === 'inPlace'
        ? operands.find((operand) => !operand.isKept && ending.includes(operand))
        : undefined;
    const to = over === undefined ? this.#arena.take(result.length) : this.#at(over);
    if (over !== undefined) vectors.delete(over);
    vectors.set(result, to);
    const lengths = operands.map(({ length }) => length);
    const { products, passes } = yield* computeStep(kind, {
      arena: this.#arena,
      p: this.#arena.field.p,
      matrices,
      parameters,
      from,
      a: from[0] as VectorAt,
      lengths,
      to,
      length: result.length,
    });
    this.counts.products += products;
    this.counts.passes += passes;
  }
}

/** A step that is being computed. */
interface RunningStep {
  readonly kind: Kind;
  /** Estimated time on one thread. */
  readonly ms: number;
  readonly phases: Phases;
}

/** Recorded steps that threads compute together. */
class Batch {
  readonly phases: Phase[] = [];
  readonly #steps: { readonly step: RunningStep; readonly end: number }[] = [];
  ms = 0;

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  add(step: RunningStep): void {
    this.phases.push(...step.phases);
    this.#steps.push({ step, end: this.phases.length });
    this.ms += step.ms;
  }

  /** Returns what the engine's thread does between chunks: it notes the ends of steps. */
  host(execution: Execution, { check }: VectorCall): Pick<ProgramHost, 'between' | 'onPhase'> {
    const slice = new TimeSlice(check);
    let next = 0;
    let since = performance.now();
    return {
      between: () => (slice.isOver ? slice.yield() : undefined),
      onPhase: (ended) => {
        for (let each = this.#steps[next]; each !== undefined && each.end <= ended + 1; each = this.#steps[++next]) {
          const now = performance.now();
          execution.end(each.step, now - since);
          since = now;
        }
      },
    };
  }
}
