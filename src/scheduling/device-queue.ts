/**
 * Order of the jobs on a device, of all engines that share it. It only decides: it has no buffers,
 * no promises and no clock.
 */
import { dueTime, earliestDue, isMoreUrgent, type Ticket, type Waiting } from './edf.js';

/**
 * Most jobs that the device has not finished when another one begins: one runs, and one is staged.
 */
const MOST_AHEAD = 1;

/**
 * Milliseconds after a more urgent job in which no job is staged: it would delay the next urgent
 * one.
 */
const URGENT_MS = 10_000;

/** A job that submits. */
interface Submitting<Job> {
  readonly job: Job;
  /** True between two submits, when other jobs may go first. */
  isPaused: boolean;
}

export class DeviceQueue<Job extends Waiting & Pick<Ticket, 'call'>> {
  #waiting: Job[] = [];
  /** Jobs that submit, in order; all but the last are paused for the next. */
  readonly #submitting: Submitting<Job>[] = [];
  readonly #submitted = new Set<Job>();
  /** Time of the latest job of each priority. */
  readonly #cameAt = new Map<Waiting['priority'], number>();

  get waiting(): readonly Job[] {
    return this.#waiting;
  }

  /** Returns true if a job of another call is under way that has equal or higher priority. */
  isBusyBeside(own: Pick<Ticket, 'priority' | 'call'>): boolean {
    const jobs = [...this.#submitting.map(({ job }) => job), ...this.#submitted];
    const isOwn = (job: Job): boolean => own.call !== undefined && job.call === own.call;
    return jobs.some((job) => !isOwn(job) && !isMoreUrgent(own, job));
  }

  add(job: Job, now: number): void {
    this.#cameAt.set(job.priority, now);
    this.#waiting.push(job);
  }

  /** Removes a waiting job. */
  remove(job: Job): void {
    this.#waiting = this.#waiting.filter((each) => each !== job);
  }

  /**
   * Starts the next job and returns it; null if none may start.
   *
   * @param fits returns true if there is memory for a job; it is asked only for the next job, so
   *   that a smaller one does not overtake it
   */
  next(now: number, fits: (job: Job) => boolean): Job | null {
    const job = this.#candidate(now);
    if (job === null || !fits(job)) return null;
    this.remove(job);
    this.#submitting.push({ job, isPaused: false });
    return job;
  }

  /** Notes that a job is between two of its submits: one more urgent job may go first. */
  pause(job: Job): void {
    const own = this.#submitting.at(-1);
    if (own?.job === job) own.isPaused = true;
  }

  /** Returns true if a paused job has its turn again, which it then continues. */
  resume(job: Job): boolean {
    const own = this.#submitting.at(-1);
    if (own?.job !== job) return false;
    own.isPaused = false;
    return true;
  }

  /** Notes that a job made its last submit. */
  submitted(job: Job): void {
    if (this.#leave(job)) this.#submitted.add(job);
  }

  /** Notes that a job is done, or failed. */
  done(job: Job): void {
    this.#leave(job);
    this.#submitted.delete(job);
  }

  #leave(job: Job): boolean {
    const at = this.#submitting.findIndex((each) => each.job === job);
    if (at === -1) return false;
    this.#submitting.splice(at, 1);
    return true;
  }

  #candidate(now: number): Job | null {
    const current = this.#submitting.at(-1);
    if (current !== undefined) {
      if (!current.isPaused) return null;
      const urgent = this.#waiting.filter((job) => isMoreUrgent(job, current.job));
      return urgent[earliestDue(urgent)] ?? null;
    }
    const head = this.#waiting[earliestDue(this.#waiting)] ?? null;
    if (head === null || this.#submitted.size === 0) return head;
    if (this.#submitted.size > MOST_AHEAD) return null;
    // a job that is due is not held back
    const isHeldBack = dueTime(head) > now && this.#hasMoreUrgent(head, now);
    return isHeldBack ? null : head;
  }

  #hasMoreUrgent(job: Job, now: number): boolean {
    return [...this.#cameAt].some(([priority, at]) => now - at < URGENT_MS && isMoreUrgent({ priority }, job));
  }
}
