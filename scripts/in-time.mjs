/**
 * @template T
 * @param {Promise<T>} step
 * @param {number} ms
 * @param {() => Error} late says what it is that did not come in time
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
