/**
 * What the farm refuses or fails with. `code` is for programs, `message` says what to do next.
 *
 * `bad-argument`: what was asked for cannot be; `no-engine`: a worker cannot compute; `file-missing`, `file-changed`: a file is not what the statement refers to; `poisoned`: a range failed as often as
 * it may; `unverifiable`: a partial sum had to be computed again, and could not be; `unknown-statement`: nobody submitted it.
 *
 * @typedef {'bad-argument' | 'no-engine' | 'file-missing' | 'file-changed' | 'poisoned' | 'unverifiable' | 'unknown-statement'} FarmErrorCode
 */
export class FarmError extends Error {
  /**
   * @param {FarmErrorCode} code
   * @param {string} message
   * @param {{ cause?: unknown }} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'FarmError';
    this.code = code;
  }
}

/**
 * An error as it is kept in the database: whatever was thrown.
 *
 * @typedef {{ code: string, message: string }} WrittenError
 * @param {unknown} error
 * @returns {WrittenError}
 */
export const written = (error) =>
  error instanceof Error
    ? { code: 'code' in error ? String(error.code) : error.name, message: error.message }
    : { code: 'unknown', message: String(error) };
