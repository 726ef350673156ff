/** What `accelerate` is told. */
import { readCallOptions } from '../engine/arguments.js';
import { type MsmEngineOptions, readOptions } from '../engine/options.js';
import { badArgument, show } from '../errors.js';
import { ownOptions } from '../own-options.js';

/** Those that are told to the engines. */
const ofEngines = [
  'backend',
  'device',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'tuning',
  'verify',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** What is told to the engines. */
export type EnginesOptions = Pick<MsmEngineOptions, (typeof ofEngines)[number]>;

/** Options of `accelerate`. */
export interface AccelerateOptions extends EnginesOptions {
  /**
   * Bytes of points that stay loaded from one proof to the next; the longest unused go first, but of a key that does not fit what does fit stays. Default: an
   * eighth of main memory, as far as it is known, and no more than one buffer of the device holds; `AccelerateStats.basesBudget` says what that is.
   */
  readonly basesBudget?: number;
  /** MSMs of fewer points are left to snarkjs. Default 64. */
  readonly leastPoints?: number;
  /**
   * Whether curves without threads are accelerated, too: those of proofs that have snarkjs's option of this name, and those that you have it make, from then
   * on. `accelerate` makes one to find out what they have in common, in some 0.3 seconds. Default false: their MSMs stay snarkjs's, and nothing says so.
   */
  readonly singleThread?: boolean;
  /**
   * Ends what is being loaded and computed: the proof rejects with the `MsmError` `aborted`. A signal is aborted for good, so all MSMs of snarkjs's reject from
   * then on, those of its verifier too, until all is taken back. One that snarkjs computes by itself is through before that.
   */
  readonly signal?: AbortSignal;
  /**
   * Called once for each of these: when snarkjs first computes something itself because this library could not; when a proof was written in which nothing came
   * to this library; when `basesBudget` was too small, with the size that would do; and with what the engines warn of, each message once. What it throws is
   * ignored, and changes nothing. Default: `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
}

/** Options that are right. */
export interface ReadAccelerateOptions {
  readonly engines: EnginesOptions & Pick<MsmEngineOptions, 'onWarning'>;
  /** undefined: by the device. */
  readonly basesBudget: number | undefined;
  readonly leastPoints: number;
  readonly singleThread: boolean;
  readonly signal: AbortSignal | undefined;
  /** Throws nothing. */
  warn(message: string): void;
}

const names: readonly string[] = [
  ...ofEngines,
  ...(['basesBudget', 'leastPoints', 'singleThread', 'signal', 'onWarning'] satisfies (keyof AccelerateOptions)[]),
];

const DEFAULT_LEAST = 64;

/** An integer of a range, as a caller gave it. @throws MsmError `bad-argument` */
const integerOf = (name: string, given: unknown): number => {
  if (!Number.isSafeInteger(given) || (given as number) < 0)
    throw badArgument(`options.${name} must be an integer from 0, got ${show(given)}`);
  return given as number;
};

/**
 * Options as they were when `accelerate` was called: what becomes of the object afterwards does not matter.
 *
 * @throws MsmError `bad-argument` that names the option
 */
export const readAccelerateOptions = async (options: AccelerateOptions): Promise<ReadAccelerateOptions> => {
  const own = ownOptions(options);
  const { basesBudget, leastPoints = DEFAULT_LEAST, singleThread = false } = own;
  const { signal, onWarning, tuning } = own;
  // what is misspelt would be without effect, and what is an engine's alone may break what is promised here
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw badArgument(`options.${unknown} is no option of accelerate`);
  if (typeof singleThread !== 'boolean')
    throw badArgument(`options.singleThread must be true or false, got ${show(singleThread)}`);
  readCallOptions(signal === undefined ? {} : { signal });
  if (onWarning !== undefined && typeof onWarning !== 'function')
    throw badArgument(`options.onWarning must be a function, got ${show(onWarning)}`);
  const given: EnginesOptions = Object.fromEntries(ofEngines.map((name) => [name, own[name]]));
  // engines of several groups warn of the same
  const warned = new Set<string>();
  const engines = {
    ...{ ...given, ...(tuning instanceof Object && { tuning: { ...tuning } }) },
    onWarning: (message: string): void => {
      if (!warned.has(message)) read.warn(message);
      warned.add(message);
    },
  };
  const read = {
    ...{ engines, singleThread, signal },
    basesBudget: basesBudget === undefined ? undefined : integerOf('basesBudget', basesBudget),
    leastPoints: integerOf('leastPoints', leastPoints),
    warn(message: string): void {
      try {
        if (onWarning === undefined) console.warn(message);
        else onWarning.call(options, message);
      } catch {
        // not the proof's fault
      }
    },
  };
  // as the engines will: made at the first MSM, they would be refused where nobody sees it
  readOptions(engines);
  return read;
};
