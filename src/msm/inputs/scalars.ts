/** Scalars of sums: of a call, loaded to an engine, or vectors of a field engine. */

import type { Scalars } from '../../api/engine.js';
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { badArgument, MsmError, show } from '../../errors.js';
import type { Runner } from '../../gpu/runner.js';
import { dispose, inspect, notTheHandle, printed } from '../../handle.js';
import type { Call } from '../../scheduling/call.js';
import type { Ticket } from '../../scheduling/edf.js';
import type { Resident } from '../../session/operation.js';
import type { Command, Slice } from '../../shaders/kernel.js';
import { fullWorkload, type Surveyed, type SurveyedVector, survey, type TableShape } from '../plan/workload.js';

/* Scalar vectors of a call, and the bases that they multiply. */

/** How scalars are converted to little-endian bytes, in place, when their call has its turn. */
interface UnreadScalars {
  /** The scalars as numbers; null where `scalars` has them in another encoding. */
  readonly numbers: readonly bigint[] | null;
  /** Number of scalars converted so far. */
  done: number;
}

/** A scalar vector. Its scalar i multiplies the base `offset + i`. */
export interface ScalarVector {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly n: number;
  readonly offset: number;
  /** Absent if the caller gave little-endian bytes. */
  readonly unread?: UnreadScalars | undefined;
  /** Handle of the scalars; null if they were not loaded before. */
  readonly loaded: LoadedScalars | null;
  /** Vector of a field engine, which has the scalars; `scalars` is empty. */
  readonly computed?: FieldScalars;
}

/** Returns the scalars [from, to) of a vector, which are in main memory. */
export const rangeOf = (
  { scalars, offset, loaded }: ScalarVector,
  scalarBytes: number,
  from: number,
  to: number,
): ScalarVector => ({
  scalars: scalars.subarray(from * scalarBytes, to * scalarBytes),
  n: to - from,
  offset: offset + from,
  loaded: loaded?.part(from, to) ?? null,
});

/** Returns whether a vector in main memory has no scalar but 0. */
export const hasZerosAlone = ({ scalars }: ScalarVector): boolean => wordsOf(scalars).every((word) => word === 0);

/** A scalar vector and its survey. */
export interface SurveyedScalars extends SurveyedVector, Pick<ScalarVector, 'loaded'> {
  /** Vector on the device, which has the scalars; `scalars` is empty. */
  readonly onDevice?: DeviceVector;
}

/**
 * Surveys scalars, to plan by the result. Loaded scalars are surveyed once. Those on a device count
 * as scalars of full length.
 */
export const surveyScalars = (
  curve: CurveContext,
  { scalars, n, offset, loaded, computed }: ScalarVector,
  tables: TableShape,
  picks: boolean,
): SurveyedScalars => {
  const onDevice = computed?.onDevice ?? null;
  if (onDevice !== null) {
    return { load: fullWorkload(n, curve, tables), scalars, indices: null, offset, loaded, onDevice };
  }
  const look = () => survey(curve, scalars, tables, picks);
  // a survey depends on nothing else but the order, and one handle has one order
  const key = [curve.negatesScalars, picks, tables.count, tables.bits].join(' ');
  return { ...(loaded?.remembered(key, look) ?? look()), offset, loaded };
};

/** A handle of loaded scalars, or of a consecutive part of them. */
export class LoadedScalars implements Scalars {
  readonly length: number;
  readonly store: ScalarStore;
  /** Offset of the first scalar in the store, in bytes. */
  readonly start: number;
  readonly #scalarBytes: number;
  readonly #isPart: boolean;
  #isOver = false;
  /** Surveys of the scalars by key: engines that plan differently have different keys. */
  readonly #surveys = new Map<string, Surveyed>();

  constructor(store: ScalarStore, scalarBytes: number, start: number, length: number, isPart: boolean) {
    this.store = store;
    this.start = start;
    this.length = length;
    this.#scalarBytes = scalarBytes;
    this.#isPart = isPart;
  }

  /** Returns whether `given` is a handle. A proxy or an heir of a handle is none. */
  static is(given: unknown): given is LoadedScalars {
    return typeof given === 'object' && given !== null && #isOver in given;
  }

  get byteLength(): number {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    return this.store.isPlaced && !this.#isOver ? this.length * this.#scalarBytes : 0;
  }

  /** @throws MsmError `destroyed` */
  assertAlive(): void {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    const { label, isDestroyed } = this.store;
    if (isDestroyed) throw new MsmError('destroyed', `the scalars '${label}' were destroyed; load them again`);
    if (this.#isOver) throw new MsmError('destroyed', `a part of the scalars '${label}' was destroyed; take it again`);
  }

  /** @throws MsmError `destroyed` */
  get bytes(): Uint8Array<ArrayBuffer> {
    this.assertAlive();
    return this.store.bytes.subarray(this.start, this.start + this.length * this.#scalarBytes);
  }

  subarray(from = 0, to = this.length): Scalars {
    if (!Number.isInteger(from) || !Number.isInteger(to) || from < 0 || to < from || to > this.length) {
      throw badArgument(
        `from and to must be integers, 0 ≤ from ≤ to ≤ length = ${this.length}, got ${show(from)} and ${show(to)}`,
      );
    }
    this.assertAlive();
    return this.part(from, to);
  }

  /** Does the work of `subarray` for a running call, even if the handle was destroyed meanwhile. */
  part(from: number, to: number): LoadedScalars {
    return new LoadedScalars(this.store, this.#scalarBytes, this.start + from * this.#scalarBytes, to - from, true);
  }

  /** Returns the survey with this key; calls `look` only the first time. */
  remembered(key: string, look: () => Surveyed): Surveyed {
    const known = this.#surveys.get(key) ?? look();
    this.#surveys.set(key, known);
    return known;
  }

  destroy(): void {
    if (!LoadedScalars.is(this)) throw notTheHandle();
    this.#isOver = true;
    this.#surveys.clear();
    if (!this.#isPart) this.store.destroy();
  }

  [dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'Scalars';
  }

  [inspect](): object {
    const { length, byteLength } = this;
    return printed('Scalars', { label: this.store.label, length, byteLength });
  }
}

/** Scalars that several MSMs use: in main memory, and in a buffer on one device. */
export class ScalarStore implements Resident {
  readonly label: string;
  readonly order: bigint;
  /** Always false: the audit of decompose compares the scalars with those sent in every run. */
  readonly isSuspect = false;
  readonly noun = 'scalars';
  readonly canConfirm = false;
  #bytes: Uint8Array<ArrayBuffer>;
  #isDestroyed = false;
  #home: { readonly runner: Runner; readonly buffer: GPUBuffer } | null = null;

  /** @param bytes little-endian scalars; the store owns them */
  constructor(curve: CurveContext, bytes: Uint8Array<ArrayBuffer>, label: string) {
    this.order = curve.order;
    this.#bytes = bytes;
    this.label = label;
  }

  /** The scalars; empty once they are destroyed. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** True while the scalars are on a device. */
  get isPlaced(): boolean {
    return this.#home !== null && this.bufferOn(this.#home.runner) !== null;
  }

  /**
   * Returns the buffer of the scalars on the runner's device, whichever engine uploaded it; null if
   * there is none.
   */
  bufferOn({ device }: Runner): GPUBuffer | null {
    if (this.#home === null) return null;
    const { runner, buffer } = this.#home;
    return runner.device === device && !runner.isLost && runner.ledger.has(buffer) ? buffer : null;
  }

  async confirm(): Promise<boolean> {
    return true;
  }

  /** Uploads the scalars unless they are on the device. Frees the buffer if they were destroyed. */
  async bring(runner: Runner, call: Call): Promise<void> {
    if (this.bufferOn(runner) !== null || this.bytes.length === 0) return;
    this.#leave();
    const wait = { checkpoint: () => call.checkpoint(), ticket: undefined };
    const { length } = this.bytes;
    const buffer = await runner.createResident('scalars', this.label, length, wait, this.bytes);
    if (this.#isDestroyed) runner.ledger.destroy(buffer);
    else this.#home = { runner, buffer };
  }

  /** Frees the copy on the device, which may be wrong. The copy in main memory is right. */
  suspect(): void {
    this.#leave();
  }

  /**
   * Does nothing: a running call keeps the scalars in main memory after the handle is destroyed.
   */
  assertAlive(): void {}

  destroy(): void {
    this.#leave();
    this.#isDestroyed = true;
    this.#bytes = new Uint8Array();
  }

  #leave(): void {
    this.#home?.runner.ledger.destroy(this.#home.buffer);
    this.#home = null;
  }
}

/* Vectors of field engines as scalars of sums. */

/** A part of a vector, and where its scalars and their digest go. */
export interface ScalarsPart {
  /** Index of the first element. */
  readonly first: number;
  readonly length: number;
  /** Slice for the scalars of a batch. */
  readonly out: Slice;
  /** Index of the first scalar in `out`. */
  readonly firstOut: number;
  /** Index of the vector in the batch. */
  readonly vector: number;
  /** Index of the base that the first scalar multiplies. */
  readonly firstBase: number;
  /** First word of the digest among the accounts. */
  readonly account: number;
}

/** A vector on a GPU. */
export interface DeviceVector extends Resident {
  isOn(device: GPUDevice): boolean;
  /**
   * Has the conversion compute a known answer, once for each device.
   *
   * @param ticket of the call, for the queue of the vector's engine
   * @throws MsmError `aborted`, `destroyed`, `device-lost`; `internal` where the device computes wrongly
   */
  prepare(ticket: Ticket): Promise<void>;
  /** Returns the command that converts a part. @param name of the vector's buffer in commands */
  convert(name: string, part: ScalarsPart): Command;
}

/** A vector of a field engine that a call uses. It stays until the call leaves it. */
export interface FieldScalars {
  readonly length: number;
  /** The vector on a GPU; null if the CPU has it. */
  readonly onDevice: DeviceVector | null;
  /**
   * Returns the scalars in main memory.
   *
   * @param ticket of the call, for the queue of the vector's engine
   * @throws MsmError `aborted`, `destroyed`, `device-lost`
   */
  read(ticket: Ticket): Promise<Uint8Array<ArrayBuffer>>;
  /** Notes that the call has ended. */
  leave(): void;
}

/** A vector whose elements calls may take as scalars. */
export interface ScalarsSource {
  /** Prime of the field. */
  readonly p: bigint;
  /** Number of elements. */
  readonly length: number;
  /** @param name of the argument, for errors @throws MsmError `bad-argument`, `destroyed` */
  hold(name: string): FieldScalars;
}

/** The sources of all vectors of field engines. */
export const sourcesOfVectors = new WeakMap<object, ScalarsSource>();

/** Returns true if a vector of a field engine is among the scalars of a call. */
export const hasComputed = (vectors: readonly ScalarVector[]): boolean =>
  vectors.some(({ computed }) => computed !== undefined);

/**
 * Calls `work` with vectors in main memory, to which those of field engines are read back in the
 * turns of their engines. The copies are overwritten afterwards.
 */
export const inMainMemory = async <Result>(
  vectors: readonly ScalarVector[],
  call: Call,
  work: (vectors: readonly ScalarVector[]) => Promise<Result>,
): Promise<Result> => {
  const copies: Uint8Array[] = [];
  try {
    const read: ScalarVector[] = [];
    for (const { computed, ...vector } of vectors) {
      if (computed === undefined) {
        read.push(vector);
        continue;
      }
      const scalars = await computed.read(call);
      copies.push(scalars);
      read.push({ ...vector, scalars });
    }
    call.checkpoint();
    return await work(read);
  } finally {
    for (const copy of copies) copy.fill(0);
  }
};
