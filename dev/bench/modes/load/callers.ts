/**
 * Runs jobs in a closed loop: each of the concurrent callers takes the next job when its last one
 * is done.
 */

/** Time of the call of a job, and its latency, in milliseconds. */
export interface JobTime {
  readonly calledAt: number;
  readonly ms: number;
}

/** @returns times in order of the jobs, and the wall time from the first call to the last result */
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
        // stops the other callers
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
