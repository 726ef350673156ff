/** Vectors on a GPU. */
import type { FieldPlan, FieldRunRecord } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector } from '../../msm/inputs/field-scalars.js';
import { CallContext } from '../../session/call-context.js';
import { CallClock } from '../../session/clock.js';
import type { Executed, Session } from '../../session/session.js';
import { resized } from '../program/numbers.js';
import { numberBytesOf, type OpenField } from '../program/open-field.js';
import type { FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import type { Entries, ScaledNumbers, VectorBackend, VectorCall } from '../program/vector-backend.js';
import type { Part } from './emitter.js';
import type { FieldJob, FieldOutcome } from './field-job.js';
import { fieldOperation, VECTORS } from './field-operation.js';
import { knownVectors } from './known-vectors.js';
import { type PlacedMatrix, sortRows } from './matrix.js';
import { emitEnter, emitLeave } from './numbers.js';
import { Parts, type Place } from './parts.js';
import { longestTransform, type PlacedPowers, placeOfPowers, powersJob } from './placed-powers.js';
import { type Placed, PlacedScalars } from './placed-scalars.js';
import { costsOf } from './plan-run.js';
import { type RunJob, runJob, valuesOf } from './run-job.js';
import type { FieldSetup } from './setup.js';
import { type FilledBuffer, VectorBuffer } from './vector-buffer.js';

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
const contextOf = ({ check, ticket: { priority, since, deadline, signal }, onProgress }: VectorCall): CallContext =>
  new CallContext({
    ticket: { priority, since, deadline, signal, coalesced: [], exclusive: (work) => work() },
    clock: new CallClock(),
    onProgress,
    assertUsable: check,
  });

export class GpuVectors implements VectorBackend {
  readonly #field: OpenField;
  readonly #session: Session<FieldSetup>;
  readonly #vectors = new Map<Vector, PlacedVector>();
  readonly #matrices = new Map<Matrix, PlacedMatrix>();
  /** Powers for transforms up to `logLength`; null before the first. */
  #twiddles: PlacedPowers | null = null;
  #peak = 0;
  /** The runner on which the conversion to scalars is tested. */
  #prepared: Runner | null = null;

  constructor(field: OpenField, session: Session<FieldSetup>) {
    this.#field = field;
    this.#session = session;
  }

  get memory(): { readonly used: number; readonly peak: number } {
    const used = this.#session.bytesOf(VECTORS);
    this.#peak = Math.max(this.#peak, used);
    return { used, peak: this.#peak };
  }

  has(vector: Vector): boolean {
    return this.#vectors.has(vector);
  }

  #execute(job: FieldJob, call: VectorCall): Promise<Run> {
    return this.#session.execute(fieldOperation, job, contextOf(call));
  }

  /** Runs a job that leaves a buffer. @param users of the buffer */
  async #fill(job: FieldJob, call: VectorCall, users: number): Promise<[VectorBuffer, Run]> {
    const done = await this.#execute(job, call);
    this.#peak = Math.max(this.#peak, this.memory.used);
    return [new VectorBuffer(filledBy(done), users), done];
  }

  /** Runs a job that leaves a buffer, and runs it again after a loss of the device. */
  async #fillAgain(job: FieldJob, call: VectorCall): Promise<VectorBuffer> {
    const fill = async (context: CallContext): Promise<FilledBuffer> =>
      filledBy(await this.#session.execute(fieldOperation, job, context));
    const buffer = new VectorBuffer(await fill(contextOf(call)), 1, fill);
    this.#peak = Math.max(this.#peak, this.memory.used);
    return buffer;
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
    const [buffer] = await this.#fill(job, call, 1);
    this.#vectors.set(vector, { buffer, ...place, value: null });
  }

  async enterMatrix(matrix: Matrix, { words, scale, row, column }: Entries, call: VectorCall): Promise<void> {
    const parts = new Parts();
    const { field } = this.#session.setup;
    const perNumber = numberBytesOf(this.#field) / 4;
    const sorted = sortRows(matrix.rows, row, column, words, perNumber);
    const values = parts.take(Math.max(1, matrix.entries) * field.bytes);
    const indices = [sorted.columns, ...sorted.levels].map((list) => ({
      list,
      place: parts.take(Math.max(4, list.byteLength)),
    }));
    const job: FieldJob = {
      ...{ outputBytes: parts.bytes, residents: [], kinds: new Set() },
      emit: (emit, output) => {
        const at = output as Part;
        for (const { list, place } of indices) emit.uploadTo({ ...at, ...place }, list);
        if (matrix.entries > 0)
          emitEnter(emit, resized(sorted.words, perNumber, field.words), scale, { ...at, ...values });
        return [];
      },
    };
    const buffer = await this.#fillAgain(job, call);
    const [columns, ...levels] = indices.map(({ place }) => ({ buffer: '', ...place }));
    this.#matrices.set(matrix, {
      ...{ buffer, entries: matrix.entries, values: { buffer: '', ...values }, columns: columns as Part },
      levels: levels.map((starts, k) => ({ starts, sums: (sorted.levels[k] as Uint32Array).length - 1 })),
    });
  }

  /** Returns powers for transforms of 2^logLength elements, which are made if there are too few. */
  async #powers(logLength: number, call: VectorCall): Promise<PlacedPowers> {
    const known = this.#twiddles;
    if (known !== null && known.logLength >= logLength) return known;
    this.#dropPowers();
    const place = placeOfPowers(logLength, this.#session.setup.field.bytes);
    const job = powersJob(this.#field, logLength, place);
    const buffer = await this.#fillAgain(job, call);
    this.#twiddles = { buffer, ...place, logLength };
    return this.#twiddles;
  }

  async execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldRunRecord> {
    const begun = performance.now();
    const logLength = longestTransform(steps);
    const twiddles = logLength === 0 ? null : await this.#powers(logLength, { ...call, onProgress: undefined });
    const { job, kept } = this.#runJob(steps, twiddles, verifies);
    const done = kept.size === 0 ? await this.#execute(job, call) : await this.#keep(job, call, kept);
    const { setup, timeline, dispatches, submits } = done.report as NonNullable<typeof done.report>;
    const phases: Record<string, number> = {};
    for (const { name, ms } of timeline ?? []) phases[name] = (phases[name] ?? 0) + ms;
    const { products, passes } = done.result;
    const ms = performance.now() - begun;
    const { product: arithmetic } = setup.field;
    const counts = { operations: steps.length, products, passes, dispatches, submits };
    return { on: 'gpu', arithmetic, ...counts, retried: done.retried, ms, phases, verified: job.check !== undefined };
  }

  #runJob(steps: readonly FieldStep[], twiddles: PlacedPowers | null, verifies: boolean): RunJob {
    const placed = { vectors: this.#vectors, matrices: this.#matrices, twiddles };
    return runJob(steps, placed, this.#session.setup.field.bytes, verifies);
  }

  async plan(steps: readonly FieldStep[], _: VectorCall, verifies: boolean): Promise<FieldPlan> {
    const logLength = longestTransform(steps);
    const known = this.#twiddles;
    const { field } = this.#session.setup;
    const isKnown = logLength === 0 || (known !== null && known.logLength >= logLength);
    const twiddles = isKnown ? known : { ...placeOfPowers(logLength, field.bytes), logLength, buffer: null };
    const { job, kept } = this.#runJob(steps, twiddles, verifies);
    const tables = isKnown ? null : powersJob(this.#field, logLength, twiddles as PlacedPowers);
    const hasTimestamps = this.#session.device.features.has('timestamp-query');
    const planned = costsOf(job, tables, this.#session.view(), hasTimestamps);
    const replaced = isKnown ? 0 : (known?.size ?? 0);
    const keptBytes = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
    return { on: 'gpu', operations: steps.length, ...planned, bytes: planned.bytes - replaced, keptBytes };
  }

  /** Runs a job, and keeps vectors in the buffer that it leaves. */
  async #keep(job: FieldJob, call: VectorCall, kept: ReadonlyMap<Vector, Place>): Promise<Run> {
    const [buffer, done] = await this.#fill(job, call, kept.size);
    const values = new Map(valuesOf(kept).map((vector, k) => [vector, done.result.data[k] as Uint32Array]));
    for (const [vector, place] of kept) {
      this.#vectors.set(vector, { buffer, ...place, value: values.get(vector)?.slice() ?? null });
    }
    return done;
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
    const { result } = await this.#execute(job, call);
    const [data] = result.data;
    if (data === undefined) throw new MsmError('internal', 'no vector came back');
    words.set(resized(data, perElement, perNumber));
  }

  onDevice(vector: Vector, assertUsable: () => void): DeviceVector {
    return new PlacedScalars(this.#vectors.get(vector) as Placed, () => this.#session.setup, assertUsable);
  }

  get hasPrepared(): boolean {
    return this.#prepared === this.#session.runner;
  }

  async prepareScalars(call: VectorCall): Promise<void> {
    const known = (setup: FieldSetup) => knownVectors(setup, new Set(['scalars']));
    this.#prepared = await this.#session.test(fieldOperation, known, contextOf(call));
  }

  release(handle: Vector | Matrix): void {
    const placed = this.#vectors.get(handle as Vector) ?? this.#matrices.get(handle as Matrix);
    placed?.buffer.leave();
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
    this.#vectors.clear();
    this.#matrices.clear();
    this.#twiddles = null;
  }
}
