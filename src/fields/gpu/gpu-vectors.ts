/** Vectors on a GPU. */
import type { FieldRunRecord } from '../../api/fields.js';
import { MsmError } from '../../errors.js';
import { power } from '../../field/square-root.js';
import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector } from '../../msm/inputs/field-scalars.js';
import { ticketOf } from '../../scheduling/ticket.js';
import { CallContext } from '../../session/call-context.js';
import { CallClock } from '../../session/clock.js';
import type { Resident } from '../../session/resident.js';
import type { Executed, Session } from '../../session/session.js';
import { resized } from '../program/numbers.js';
import { numberBytesOf, type OpenField } from '../program/open-field.js';
import type { FieldStep } from '../program/steps.js';
import type { Matrix, Vector } from '../program/vector.js';
import type { Entries, ScaledNumbers, VectorBackend, VectorCall } from '../program/vector-backend.js';
import { emitCheck } from './check.js';
import { emitSteps, type Places } from './emit-steps.js';
import type { Emitter, Part } from './emitter.js';
import type { FieldJob, FieldOutcome, KnownKind } from './field-job.js';
import { fieldOperation, VECTORS } from './field-operation.js';
import { knownVectors } from './known-vectors.js';
import { boundRows, type PlacedMatrix, sortRows } from './matrix.js';
import { emitEnter, emitLeave } from './numbers.js';
import { Parts, type Place } from './parts.js';
import { type Placed, PlacedScalars } from './placed-scalars.js';
import { powerTables } from './powers.js';
import type { FieldSetup } from './setup.js';
import { type FilledBuffer, VectorBuffer } from './vector-buffer.js';

/** Powers for transforms of up to 2^logLength elements. */
interface PlacedPowers extends Placed {
  readonly logLength: number;
}

/** A vector on the device. */
interface PlacedVector extends Placed {
  /** Words of a single element, which came back with its run; null if they did not. */
  readonly value: Uint32Array | null;
}

/** Kinds of steps whose kernels have known answers. */
const knownKinds: Partial<Record<FieldStep['computation']['kind'], KnownKind>> = {
  ...{ ntt: 'transform', intt: 'transform' },
  ...{ prefixProduct: 'scan', evaluate: 'scan', divideByLinear: 'scan', invert: 'invert' },
};

/** Returns the results of one element, such as values of polynomials. Callers read them next. */
const valuesOf = (kept: ReadonlyMap<Vector, Place>): Vector[] => [...kept.keys()].filter(({ length }) => length === 1);

/** A run of a job. */
type Run = Executed<FieldOutcome, FieldSetup>;

/** Returns the buffer that a job left. */
const filledBy = ({ result, report }: Run): FilledBuffer => ({
  buffer: result.output as GPUBuffer,
  runner: (report as NonNullable<typeof report>).runner,
});

/** Returns the context of a call in a session. The engine's calls wait for each other before. */
const contextOf = ({ check, signal, priority = 'normal', onProgress }: VectorCall): CallContext =>
  new CallContext({
    ticket: { ...ticketOf(undefined), priority, signal, coalesced: [], exclusive: (work) => work() },
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
    this.trim();
    const { p, rootOfUnity, twoAdicity } = this.#field;
    const length = 2 ** (logLength - 1);
    const root = power(rootOfUnity, 1n << BigInt(twoAdicity - logLength), p);
    const place = { offset: 0, size: length * this.#session.setup.field.bytes };
    const job: FieldJob = {
      ...{ outputBytes: place.size, residents: [], kinds: new Set() },
      emit: (emit, output) => {
        // the product of another device may have another Montgomery form
        const { words, low } = powerTables(emit.setup.field, root, 1n, length);
        emit.combine({ ...(output as Part), ...place }, { b: emit.upload(words) }, { length, products: 2, low });
        return [];
      },
    };
    const buffer = await this.#fillAgain(job, call);
    this.#twiddles = { buffer, ...place, logLength };
    return this.#twiddles;
  }

  async execute(steps: readonly FieldStep[], call: VectorCall, verifies: boolean): Promise<FieldRunRecord> {
    const begun = performance.now();
    const lengths = steps.map(({ computation: { kind }, result }) =>
      kind === 'ntt' || kind === 'intt' ? result.length : 1,
    );
    const logLength = Math.log2(lengths.reduce((most, length) => Math.max(most, length), 1));
    const twiddles = logLength === 0 ? null : await this.#powers(logLength, { ...call, onProgress: undefined });
    const parts = new Parts();
    const kept = new Map<Vector, Place>();
    const residents = new Set<Resident>();
    const used = new Map<Vector, Placed>();
    const matrices = new Map<Matrix, PlacedMatrix>();
    const kinds = new Set<KnownKind>();
    for (const { computation, operands, result } of steps) {
      const kind = knownKinds[computation.kind];
      if (kind !== undefined) kinds.add(kind);
      if (result.isKept) kept.set(result, parts.take(result.length * this.#session.setup.field.bytes));
      for (const operand of operands)
        if (operand.state === 'resident') used.set(operand, this.#vectors.get(operand) as Placed);
      if (computation.kind === 'apply')
        matrices.set(computation.matrix, this.#matrices.get(computation.matrix) as PlacedMatrix);
    }
    for (const { buffer } of [...used.values(), ...matrices.values()]) residents.add(buffer);
    if (twiddles !== null) residents.add(twiddles.buffer);
    const placesIn = (emit: Emitter): Places => {
      const bound = ({ buffer, offset, size }: Placed): Part => emit.bind(buffer.buffer, offset, size);
      return {
        vector: (vector) => bound(used.get(vector) as Placed),
        matrix: (matrix) => boundRows(emit, matrices.get(matrix) as PlacedMatrix),
        twiddles: twiddles && { at: bound(twiddles), logLength: twiddles.logLength },
      };
    };
    const keptIn = (output: Part | null) => (vector: Vector) => ({
      ...(output as Part),
      ...(kept.get(vector) as Place),
    });
    const check = (emit: Emitter, output: Part | null) => emitCheck(emit, steps, placesIn(emit), keptIn(output));
    const isVerified = verifies && kept.size > 0;
    if (isVerified) kinds.add('scan');
    const job: FieldJob = {
      ...{ outputBytes: parts.bytes, residents: [...residents], kinds, check: isVerified ? check : undefined },
      emit: (emit, output) => {
        emitSteps(emit, steps, placesIn(emit), keptIn(output));
        return valuesOf(kept).map((vector) => emitLeave(emit, keptIn(output)(vector), 1, 1n));
      },
    };
    const done = kept.size === 0 ? await this.#execute(job, call) : await this.#keep(job, call, kept);
    const { setup, timeline } = done.report as NonNullable<typeof done.report>;
    const phases: Record<string, number> = {};
    for (const { name, ms } of timeline ?? []) phases[name] = (phases[name] ?? 0) + ms;
    const { products } = done.result;
    const ms = performance.now() - begun;
    const { product: arithmetic } = setup.field;
    return { on: 'gpu', arithmetic, operations: steps.length, products, ms, phases, verified: isVerified };
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
    this.#twiddles?.buffer.leave();
    this.#twiddles = null;
  }

  destroy(): void {
    this.#session.destroy();
    this.#vectors.clear();
    this.#matrices.clear();
    this.#twiddles = null;
  }
}
