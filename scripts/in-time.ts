/**
 * Settles as a step does, or rejects when the time is over.
 *
 * @param late makes the error that names the late step
 */
export async function inTime<T>(step: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout: Promise<never> = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([step, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
