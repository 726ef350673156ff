/** Why a call was refused or failed. Stable: programs switch on it. */
export type MsmErrorCode =
  | 'bad-argument'
  | 'not-on-curve'
  | 'not-in-subgroup'
  | 'no-webgpu'
  | 'unsupported-device'
  | 'device-lost'
  | 'out-of-memory'
  | 'aborted'
  | 'destroyed'
  | 'overloaded'
  | 'internal';

/**
 * The one error type that this library throws or rejects with. What code of yours throws that it runs (`onProgress`, a getter, `slice` of
 * pages) reaches you as it is.
 *
 * `message` names the argument, the index and the rule that was broken, and says what to do next.
 */
export class MsmError extends Error {
  /** What happened, for programs. */
  readonly code: MsmErrorCode;
  /** Of `overloaded`: after how many milliseconds there is room again, by what calls took so far. */
  readonly retryAfterMs: number | null;

  constructor(code: MsmErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(message, options);
    this.name = 'MsmError';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

/** The GPU was found out: it did not do what it was told, not on what it was given, or wrongly. What a second attempt may mend. */
export class GpuFault extends MsmError {
  /** @param stage in which it shows */
  constructor(stage: string, kind: string) {
    super('internal', `the GPU went wrong in ${stage}: ${kind}. Please report the adapter, the knobs and the inputs`);
  }
}

/** The GPU stopped answering, and its device counts as lost: a call may go on without it. */
export class NoAnswerError extends MsmError {
  /** The call waited for just what did not come; others waited behind it. */
  readonly isStuck: boolean;

  constructor(message: string, isStuck: boolean, cause?: unknown) {
    super('device-lost', message, { cause });
    this.isStuck = isStuck;
  }
}

/** There will be no room for something beside what stays on the device: less of it at a time may fit. */
export class NoRoom extends MsmError {
  constructor(message: string) {
    super('out-of-memory', message);
  }
}

/** What kind of thing a value is: the name of its class, or its type. Nothing that it may be makes this throw. */
export const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? name : 'object';
  } catch {
    return 'object';
  }
};

/** What an untyped caller gave, for a message: its value if that is short, else its kind. */
export const show = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value}'`
    : typeof value === 'function' || (typeof value === 'object' && value !== null)
      ? kindOf(value)
      : String(value);

/** @param what is aborted: `call` */
export const abortedBy = (signal: AbortSignal | undefined, what = 'call'): MsmError =>
  new MsmError('aborted', `the ${what} was aborted`, { cause: signal?.reason });

/** Who is to be told of a signal. */
const told = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when a signal is aborted. However many ask, it has one listener: many calls may share a signal, and Node warns of more than ten.
 *
 * @returns what takes that back
 */
export const onAbort = (signal: AbortSignal | undefined, callback: () => void): (() => void) => {
  // an object that stands in for a signal, and has no events, is looked at between steps
  if (typeof signal?.addEventListener !== 'function') return () => undefined;
  const known = told.get(signal);
  const all = known ?? new Set();
  if (known === undefined) {
    signal.addEventListener('abort', () => [...all].forEach((each) => void each()), { once: true });
    told.set(signal, all);
  }
  all.add(callback);
  return () => all.delete(callback);
};

/** @param what is aborted: `call` */
export const assertNotAborted = (signal: AbortSignal | undefined, what?: string): void => {
  if (signal?.aborted) throw abortedBy(signal, what);
};

/** A mistake of the caller's: names the argument and the rule. */
export const badArgument = (message: string): MsmError => new MsmError('bad-argument', message);

/** For modules of the package that are loaded later. */
export const notLoaded =
  (name: string) =>
  (cause: unknown): never => {
    throw new MsmError('internal', `${name}.js of the package, which belongs beside index.js, could not be loaded`, {
      cause,
    });
  };
