/**
 * The knobs of one MSM. Every one has a default chosen from n and the device; a caller sets some of them with
 * `createMsmEngine({ tuning })`. No knob changes the result, only what it costs.
 */
export interface Tuning {
  /** c, the width of a scalar window in bits, 2 to 16. A window has 2^(c-1) buckets. */
  readonly windowBits: number;
  /** Where the walker keeps the prefix products of its shared inversion. */
  readonly walkerPrefixMemory: 'private' | 'workgroup';
  /** Threads in a workgroup of the walker; with `workgroup` prefixes clamped to what the device's memory fits. */
  readonly walkerThreadsPerWorkgroup: number;
  /** S, the tasks that one walker thread advances together; they share one field inversion per step. */
  readonly walkerSlots: number;
  /** The most tasks that one walk is cut into. */
  readonly walkerTasks: number;
  /** The planner makes no more tasks than gives each of them this many entries. */
  readonly walkerEntriesPerTask: number;
  /** Entries that one thread of the sort ranks in sequence. */
  readonly sortEntriesPerThread: number;
}
