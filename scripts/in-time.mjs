/**
 * Settles as a step does, or rejects when the time is over.
 *
 * @template T
 * @param {Promise<T>} step
 * @param {number} ms
 * @param {() => Error} late makes the error that names the late step
 * @returns {Promise<T>}
 */
export async function inTime(step, ms, late) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<never>} */
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([step, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
