/** Why a call was refused or failed. Stable: programs switch on it. */
export type MsmErrorCode =
  | 'bad-argument'
  | 'not-on-curve'
  | 'no-webgpu'
  | 'unsupported-device'
  | 'device-lost'
  | 'out-of-memory'
  | 'aborted'
  | 'destroyed'
  | 'internal';

/**
 * The one error type that this library throws or rejects with.
 *
 * `message` names the argument, the index and the rule that was broken, and says what to do next.
 */
export class MsmError extends Error {
  readonly code: MsmErrorCode;

  constructor(code: MsmErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MsmError';
    this.code = code;
  }
}

/** A mistake of the caller's: names the argument and the rule. */
export const badArgument = (message: string): MsmError => new MsmError('bad-argument', message);
