/** Whose turn it is on a device, among the jobs of all that share it. Decisions only: it knows neither buffers nor promises, and time is told. */
import { dueTime, earliestDue, isMoreUrgent, type Waiting } from './edf.js';
import type { Ticket } from './ticket.js';

/** Jobs whose last submit was made and which are not done, at most, when another one begins: one that runs, and behind it one that is staged. */
const MOST_AHEAD = 1;

/** For so long after a more urgent job nothing is staged: it would be in the way of the next. In milliseconds. */
const URGENT_MS = 10_000;

/** A job that submits. */
interface Submitting<Job> {
  readonly job: Job;
  /** It is between two submits, and others may go first. */
  isPaused: boolean;
}

export class DeviceQueue<Job extends Waiting & Pick<Ticket, 'call'>> {
  #waiting: Job[] = [];
  /** Each but the last paused for the next. */
  readonly #submitting: Submitting<Job>[] = [];
  readonly #submitted = new Set<Job>();
  /** When jobs came last, by priority. */
  readonly #cameAt = new Map<Waiting['priority'], number>();

  get waiting(): readonly Job[] {
    return this.#waiting;
  }

  /** Jobs that submit, or that the device has and is not done with. */
  get underWay(): number {
    return this.#submitting.length + this.#submitted.size;
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

  /** Takes out a job that waits. */
  remove(job: Job): void {
    this.#waiting = this.#waiting.filter((each) => each !== job);
  }

  /**
   * The job whose turn it is, which submits from now on; null if it is nobody's.
   *
   * @param fits whether there is memory for a job; asked of nobody but whose turn it is, so that nobody is passed by who wants less
   */
  next(now: number, fits: (job: Job) => boolean): Job | null {
    const job = this.#candidate(now);
    if (job === null || !fits(job)) return null;
    this.remove(job);
    this.#submitting.push({ job, isPaused: false });
    return job;
  }

  /** A job is between two of its submits: one that is more urgent may go first, but no more than one. */
  pause(job: Job): void {
    const own = this.#submitting.at(-1);
    if (own?.job === job) own.isPaused = true;
  }

  /** Whether it is the turn of a job that paused. @param job which goes on, if it is */
  resume(job: Job): boolean {
    const own = this.#submitting.at(-1);
    if (own?.job !== job) return false;
    own.isPaused = false;
    return true;
  }

  /** A job made its last submit. */
  submitted(job: Job): void {
    if (this.#leave(job)) this.#submitted.add(job);
  }

  /** A job is done, or failed. */
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
    // what has waited long enough is as urgent as anything
    const isHeldBack = dueTime(head) > now && this.#hasMoreUrgent(head, now);
    return isHeldBack ? null : head;
  }

  #hasMoreUrgent(job: Job, now: number): boolean {
    return [...this.#cameAt].some(([priority, at]) => now - at < URGENT_MS && isMoreUrgent({ priority }, job));
  }
}
