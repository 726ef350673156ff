/**
 * An error of the farm. `code` is for programs, `message` says what to do next.
 *
 * `bad-argument`: an argument is invalid; `no-engine`: a worker cannot compute; `file-missing`,
 * `file-changed`: a file is not the one that the statement refers to; `poisoned`: a range or a proof
 * failed as often as allowed; `unverifiable`: a partial sum could not be computed again;
 * `unknown-statement`: the statement, or the proof, was never submitted.
 *
 * @typedef {'bad-argument' | 'no-engine' | 'file-missing' | 'file-changed' | 'poisoned' |
 *   'unverifiable' | 'unknown-statement'} FarmErrorCode
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
 * Converts anything thrown to the form that the database keeps.
 *
 * @typedef {{ code: string, message: string }} WrittenError
 * @param {unknown} error
 * @returns {WrittenError}
 */
export const written = (error) =>
  error instanceof Error
    ? { code: 'code' in error ? String(error.code) : error.name, message: error.message }
    : { code: 'unknown', message: String(error) };
