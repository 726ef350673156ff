/** Vectors on a GPU. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector } from '../../msm/inputs/scalars.js';
import { Call } from '../../scheduling/call.js';
import { inTimeSlices, TimeSlice } from '../../scheduling/time-slice.js';
import type { Executed, Session } from '../../session/session.js';
import { resized } from '../program/numbers.js';
import { numberBytesOf, type OpenField } from '../program/open-field.js';
import type { FieldStep } from '../program/operations.js';
import type { EngineTurns, Entries, ScaledNumbers, VectorBackend, VectorCall } from '../program/vector-backend.js';
import type { Matrix, Vector } from '../program/vectors.js';
import { emitEnter, emitLeave } from './combine.js';
import { type FieldSetup, type Part, Parts, type Place } from './emitter.js';
import {
  costsOf,
  type FieldJob,
  type FieldOutcome,
  fieldOperation,
  knownVectors,
  mostBytesOf,
  VECTORS,
} from './field-operation.js';
import { type PlacedMatrix, type PlacedPart, type SortedRows, sortRows } from './rows.js';
import {
  inputsOf,
  longestTransform,
  type PlacedPowers,
  placeOfPowers,
  powersJob,
  runJob,
  valuesOf,
} from './run-job.js';
import { type Placed, PlacedScalars } from './scalars.js';
import { type BufferSource, type FilledBuffer, VectorBuffer } from './vector-buffer.js';

/** A vector on the device. */
interface PlacedVector extends Placed {
  /** Words of a single element, which came back with its run; null if they did not. */
  readonly value: Uint32Array | null;
}

/** A run of a job. */
type Run = Executed<FieldOutcome, FieldSetup>;

/** Returns the buffer that a job left. */
const filledBy = ({ result, report }: Run): FilledBuffer => ({
  buffer: result.output as GPUBuffer,
  runner: (report as NonNullable<typeof report>).runner,
});

/**
 * Returns the context of a call in a session. The engine's calls wait for each other before. Events
 * of the GPU are not those of a sum that reads a vector.
 */
const contextOf = ({ check, ticket: { priority, since, deadline, signal }, onProgress }: VectorCall): Call =>
  new Call({ priority, since, deadline, signal, onProgress, assertUsable: check });

export class GpuVectors implements VectorBackend {
  readonly #field: OpenField;
  readonly #session: Session<FieldSetup>;
  readonly #vectors = new Map<Vector, PlacedVector>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();
  /** Powers for transforms up to `logLength`; null before the first. */
  #twiddles: PlacedPowers | null = null;
  #peak = 0;
  /** The device computes, not workers. */
  readonly workers = 0;
  /** The runner on which the conversion to scalars is tested. */
  #prepared: Runner | null = null;
  readonly #retains: boolean;

  /**
   * @param retains true to keep loaded numbers in main memory, so that vectors survive the loss of
   *   the device
   */
  constructor(field: OpenField, session: Session<FieldSetup>, retains: boolean) {
    this.#field = field;
    this.#session = session;
    this.#retains = retains;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    const used = this.#session.bytesOf(VECTORS);
    this.#peak = Math.max(this.#peak, used);
    return { used, peak: this.#peak };
  }

  has(vector: Vector): boolean {
    return this.#vectors.has(vector);
  }

  #execute(job: FieldJob, context: Call): Promise<Run> {
    return this.#session.execute(fieldOperation, job, context);
  }

  /** Returns a buffer that was filled. @param source null: a loss of the device is final */
  #keptIn(done: Run, users: number, source: BufferSource | null): VectorBuffer {
    this.#peak = Math.max(this.#peak, this.memory.used);
    return new VectorBuffer(filledBy(done), users, source);
  }

  /** Runs a job that leaves a buffer, and runs it again after a loss of the device. */
  async #fill(job: FieldJob, context: Call, forget?: () => void): Promise<VectorBuffer> {
    const fill = async (again: Call): Promise<FilledBuffer> => filledBy(await this.#execute(job, again));
    return this.#keptIn(await this.#execute(job, context), 1, { fill, ...(forget && { forget }) });
  }

  async enter(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    const parts = new Parts();
    const { field } = this.#session.setup;
    const place = parts.take(vector.length * field.bytes);
    const elements = resized(words, numberBytesOf(this.#field) / 4, field.words);
    const job: FieldJob = {
      ...{ outputBytes: parts.bytes, residents: [], kinds: new Set() },
      emit: (emit, output) => {
        emitEnter(emit, elements, scale, { ...(output as Part), ...place });
        return [];
      },
    };
    const forget = (): void => {
      for (const each of [words, elements]) each.fill(0);
    };
    const buffer = await this.#fill(job, contextOf(call), forget);
    if (!this.#retains) buffer.forget();
    this.#vectors.set(vector, { buffer, ...place, value: null });
  }

  async enterMatrix(matrix: Matrix, entries: Entries, call: VectorCall): Promise<void> {
    const sizes = {
      perNumber: numberBytesOf(this.#field) / 4,
      elementBytes: this.#session.setup.field.bytes,
      mostBytes: mostBytesOf(this.#session.view().limits),
    };
    const sorted = await inTimeSlices(sortRows(entries, sizes), new TimeSlice(() => call.check()));
    const parts: PlacedPart[] = [];
    try {
      for (const each of sorted) parts.push(await this.#enterRows(each, entries.scale, call));
    } catch (error) {
      for (const { buffer } of parts) buffer.leave();
      throw error;
    }
    this.#matrices.set(matrix, { rows: matrix.rows, parts });
  }

  /** Loads some rows of a matrix into a buffer. */
  async #enterRows(sorted: SortedRows, scale: bigint, call: VectorCall): Promise<PlacedPart> {
    const { first, rows, levels, columns, valueIndices, values: words } = sorted;
    const parts = new Parts();
    const { field } = this.#session.setup;
    const perNumber = numberBytesOf(this.#field) / 4;
    const values = parts.take((words.length / perNumber) * field.bytes);
    const indices = [columns, valueIndices, ...levels].map((list) => ({
      list,
      place: parts.take(Math.max(4, list.byteLength)),
    }));
    const job: FieldJob = {
      ...{ outputBytes: parts.bytes, residents: [], kinds: new Set() },
      emit: (emit, output) => {
        const at = output as Part;
        for (const { list, place } of indices) emit.uploadTo({ ...at, ...place }, list);
        emitEnter(emit, resized(words, perNumber, field.words), scale, { ...at, ...values });
        return [];
      },
    };
    const buffer = await this.#fill(job, contextOf(call));
    const [atColumns, atValues, ...atLevels] = indices.map(({ place }) => ({ buffer: '', ...place }));
    return {
      ...{ buffer, first, rows, entries: columns.length, values: { buffer: '', ...values } },
      ...{ columns: atColumns as Part, valueIndices: atValues as Part },
      levels: atLevels.map((starts, k) => ({ starts, sums: (levels[k] as Uint32Array).length - 1 })),
    };
  }

  /** Returns powers for transforms of 2^logLength elements, which are made if there are too few. */
  async #powers(logLength: number, context: Call): Promise<PlacedPowers> {
    const known = this.#twiddles;
    if (known !== null && known.logLength >= logLength) return known;
    this.#dropPowers();
    const place = placeOfPowers(logLength, this.#session.setup.field.bytes);
    const job = powersJob(this.#field, logLength, place);
    const buffer = await this.#fill(job, context);
    this.#twiddles = { buffer, ...place, logLength };
    return this.#twiddles;
  }

  async execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldRunRecord> {
    const begun = performance.now();
    const logLength = longestTransform(steps);
    const inputs = inputsOf(steps, { vectors: this.#vectors, matrices: this.#matrices });
    const compute = async (context: Call, quiet: Call) => {
      const twiddles = logLength === 0 ? null : await this.#powers(logLength, quiet);
      const { job, kept } = runJob({
        steps,
        inputs,
        twiddles,
        elementBytes: this.#session.setup.field.bytes,
        verifies,
      });
      return { job, kept, done: await this.#execute(job, context) };
    };
    const { job, kept, done } = await compute(contextOf(call), contextOf({ ...call, onProgress: undefined }));
    const fill = async (context: Call): Promise<FilledBuffer> =>
      filledBy((await compute(context, context.detached())).done);
    if (kept.size > 0) this.#keep(done, kept, { fill });
    const { setup, timeline, dispatches, submits } = done.report as NonNullable<typeof done.report>;
    const phases: Record<string, number> = {};
    for (const { name, ms } of timeline ?? []) phases[name] = (phases[name] ?? 0) + ms;
    const { products, passes } = done.result;
    const ms = performance.now() - begun;
    const { product: arithmetic } = setup.field;
    const counts = { operations: steps.length, products, passes, dispatches, submits };
    return {
      on: 'gpu',
      arithmetic,
      ...counts,
      workers: 0,
      retried: done.retried,
      ms,
      phases,
      verified: job.check !== undefined,
    };
  }

  async plan(steps: readonly FieldStep[], _: VectorCall, verifies: boolean): Promise<FieldPlan> {
    const logLength = longestTransform(steps);
    const known = this.#twiddles;
    const { field } = this.#session.setup;
    const isKnown = logLength === 0 || (known !== null && known.logLength >= logLength);
    const twiddles = isKnown ? known : { ...placeOfPowers(logLength, field.bytes), logLength, buffer: null };
    const inputs = inputsOf(steps, { vectors: this.#vectors, matrices: this.#matrices });
    const { job, kept } = runJob({ steps, inputs, twiddles, elementBytes: this.#session.setup.field.bytes, verifies });
    const tables = isKnown ? null : powersJob(this.#field, logLength, twiddles as PlacedPowers);
    const hasTimestamps = this.#session.device.features.has('timestamp-query');
    const planned = costsOf(job, tables, this.#session.view(), hasTimestamps);
    const replaced = isKnown ? 0 : (known?.size ?? 0);
    const keptBytes = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
    return { on: 'gpu', operations: steps.length, ...planned, bytes: planned.bytes - replaced, keptBytes };
  }

  /** Keeps vectors in the buffer that a run left. */
  #keep(done: Run, kept: ReadonlyMap<Vector, Place>, source: BufferSource): void {
    const buffer = this.#keptIn(done, kept.size, source);
    const values = new Map(valuesOf(kept).map((vector, k) => [vector, done.result.data[k] as Uint32Array]));
    for (const [vector, place] of kept) {
      this.#vectors.set(vector, { buffer, ...place, value: values.get(vector)?.slice() ?? null });
    }
  }

  async leave(vector: Vector, { words, scale }: ScaledNumbers, call: VectorCall): Promise<void> {
    const { buffer, offset, size, value } = this.#vectors.get(vector) as PlacedVector;
    const { words: perElement } = this.#session.setup.field;
    const perNumber = numberBytesOf(this.#field) / 4;
    if (value !== null && scale === 1n) {
      words.set(resized(value, perElement, perNumber));
      return;
    }
    const job: FieldJob = {
      ...{ outputBytes: 0, residents: [buffer], kinds: new Set() },
      emit: (emit) => [emitLeave(emit, emit.bind(buffer.buffer, offset, size), vector.length, scale)],
    };
    const { result } = await this.#execute(job, contextOf(call));
    const [data] = result.data;
    if (data === undefined) throw new MsmError('internal', 'no vector came back');
    words.set(resized(data, perElement, perNumber));
  }

  onDevice(vector: Vector, { assertUsable, inTurn }: EngineTurns): DeviceVector {
    return new PlacedScalars(this.#vectors.get(vector) as Placed, {
      assertUsable,
      setup: () => this.#session.setup,
      prepare: async (ticket) => {
        if (this.#prepared !== this.#session.runner) await inTurn(ticket, (call) => this.#prepareScalars(call));
      },
      bring: (buffer, ticket) =>
        inTurn(ticket, (call) => {
          const context = contextOf(call);
          const bring = async (runner: Runner): Promise<void> => {
            // another sum may have brought it meanwhile
            if (buffer.bufferOn(runner) === null) await buffer.bring(runner, context);
          };
          return this.#session.place(bring, context);
        }),
    });
  }

  /** Has the conversion to scalars compute a known answer, once for each device. */
  async #prepareScalars(call: VectorCall): Promise<void> {
    const known = (setup: FieldSetup) => knownVectors(setup, new Set(['scalars']));
    this.#prepared = await this.#session.test(fieldOperation, known, contextOf(call));
  }

  release(handle: Vector | Matrix): void {
    this.#vectors.get(handle as Vector)?.buffer.leave();
    for (const { buffer } of this.#matrices.get(handle as Matrix)?.parts ?? []) buffer.leave();
    this.#vectors.delete(handle as Vector);
    this.#matrices.delete(handle as Matrix);
  }

  trim(): void {
    this.#dropPowers();
    void this.#session.trim();
  }

  #dropPowers(): void {
    this.#twiddles?.buffer?.leave();
    this.#twiddles = null;
  }

  destroy(): void {
    this.#session.destroy();
    for (const { buffer } of this.#vectors.values()) buffer.forget();
    this.#vectors.clear();
    this.#matrices.clear();
    this.#twiddles = null;
  }
}
