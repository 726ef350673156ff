/** Vectors of field engines as scalars of sums. */
import type { Ticket } from '../../scheduling/ticket.js';
import type { Resident } from '../../session/resident.js';
import type { Command, Slice } from '../../shaders/commands.js';

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
  /** Returns the command that converts a part. @param name of the vector's buffer in commands */
  convert(name: string, part: ScalarsPart): Command;
}

/** A vector of a field engine that a call uses. It stays until the call leaves it. */
export interface FieldScalars {
  readonly length: number;
  /** The vector on a GPU; null if the CPU has it. */
  readonly onDevice: DeviceVector | null;
  /**
   * Has the conversion on the GPU compute a known answer, once for each device.
   *
   * @param ticket of the call, for the queue of the vector's engine
   * @throws MsmError of `read`; `internal` where the device computes wrongly
   */
  prepare(ticket: Ticket): Promise<void>;
  /** Returns the scalars in main memory. @throws MsmError `aborted`, `destroyed`, `device-lost` */
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
