/** Messages between a circuit and its workers. Each call has a number, by which its messages are told apart. */
import type { TurnOptions } from '../api/calls.js';
import { MsmError, type MsmErrorCode } from '../errors.js';
import type { CachePlace } from '../formats/cache-folder.js';
import type { KeyFacts, KeyOptions } from './circuit-parts.js';
import type { SignalValues } from './input-signals.js';
import type { CompiledProgram } from './program.js';

/** Engine options that a worker can be sent. */
export type SentEngineOptions = Omit<
  KeyOptions,
  'device' | 'deviceOf' | 'gpu' | 'createWorker' | 'onEvent' | 'onWarning' | 'cache'
>;

/** Calls of a worker. */
export type WorkerCall =
  | { readonly name: 'program'; readonly program: CompiledProgram }
  | { readonly name: 'compute'; readonly signals: readonly SignalValues[] }
  | {
      readonly name: 'key';
      readonly zkey: SentFile;
      /** The cache of keys that the worker opens. */
      readonly cache: CachePlace | null;
      readonly engines: SentEngineOptions;
      /** The default of `memoryLimit` here: the navigator of a worker does not say all that one of a page says. */
      readonly defaultLimit: number;
    }
  | {
      readonly name: 'prove';
      readonly witness: Uint8Array<ArrayBuffer>;
      readonly options: TurnOptions & { readonly verifyProof: boolean };
    }
  | { readonly name: 'verify'; readonly proof: unknown; readonly publicSignals: unknown };

/** The file of a key, as a worker gets it. */
export type SentFile =
  | { readonly from: 'blob'; readonly blob: Blob }
  /** A file that is read by messages. */
  | { readonly from: 'reads'; readonly byteLength: number; readonly version: string }
  /** A file that arrives by messages, once; `byteLength` is null if nobody says it. */
  | { readonly from: 'pieces'; readonly byteLength: number | null }
  /** A key in the cache. */
  | { readonly from: 'cache'; readonly id: string };

/** Result of the call `key`. */
export interface OpenedKey {
  readonly facts: KeyFacts;
  /** Id of a key that came in pieces, if the cache keeps it. */
  readonly cachedAs: string | null;
}

export type ToCircuitWorker =
  | { readonly say: 'call'; readonly id: number; readonly call: WorkerCall }
  /** Ends a call, if its stage hears messages. */
  | { readonly say: 'abort'; readonly id: number }
  /** Has the worker end its calls, destroy what is open, and say `closed`. */
  | { readonly say: 'close' }
  /** Answers `read` and `next`; null if reading failed. */
  | { readonly say: 'bytes'; readonly read: number; readonly bytes: Uint8Array<ArrayBuffer> | null };

export type FromCircuitWorker =
  /** The worker has loaded. */
  | { readonly say: 'ready' }
  | { readonly say: 'result'; readonly id: number; readonly value: unknown }
  | { readonly say: 'error'; readonly id: number; readonly error: SentError }
  | {
      readonly say: 'part';
      readonly id: number;
      readonly part: string;
      readonly done: number;
      readonly total: number;
    }
  /** Lines that the circuit logged, in their order. */
  | { readonly say: 'log'; readonly id: number; readonly lines: readonly string[] }
  | { readonly say: 'warning'; readonly message: string }
  | { readonly say: 'closed' }
  /** Asks for the next piece of the key, which has no bytes behind the last one. */
  | { readonly say: 'next'; readonly read: number }
  /** Asks for the bytes [from, to) of the key. */
  | { readonly say: 'read'; readonly read: number; readonly from: number; readonly to: number };

/** Message of the error of a read that failed, for which the circuit puts the error of its source. */
export const UNREAD = 'zkey: the file could not be read';

/** An error as it is sent: a clone of an error lacks its code. */
interface SentError {
  /** null for what is no `MsmError`. */
  readonly code: MsmErrorCode | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

export const sendError = (error: unknown): SentError => {
  if (!(error instanceof MsmError)) return { code: null, message: String(error), retryAfterMs: null };
  const { code, message, retryAfterMs } = error;
  return { code, message, retryAfterMs };
};

export const receiveError = ({ code, message, retryAfterMs }: SentError): MsmError =>
  code === null
    ? new MsmError('internal', `the worker of the circuit failed: ${message}`)
    : new MsmError(code, message, retryAfterMs === null ? {} : { retryAfterMs });
