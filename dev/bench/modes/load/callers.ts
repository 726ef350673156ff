/** A closed loop: so many callers, each of which takes the next job as soon as it has the result of its last one. */

/** When a job was called, and how long it took until its caller had the result, in milliseconds. */
export interface JobTime {
  readonly calledAt: number;
  readonly ms: number;
}

/** @returns the times in the order of the jobs, and from the first call to the last result */
export async function callInLoops<Job>(
  jobs: readonly Job[],
  concurrency: number,
  compute: (job: Job) => Promise<void>,
): Promise<{ readonly times: readonly JobTime[]; readonly wallMs: number; readonly begunAt: number }> {
  const times: JobTime[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < jobs.length) {
      const index = next++;
      const calledAt = performance.now();
      try {
        await compute(jobs[index] as Job);
      } catch (error) {
        // the others take no more
        next = jobs.length;
        throw error;
      }
      times[index] = { calledAt, ms: performance.now() - calledAt };
    }
  };
  const begunAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, caller));
  return { times, wallMs: performance.now() - begunAt, begunAt };
}
