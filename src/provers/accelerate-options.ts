/** The options of `accelerate`. */
import { readCallOptions } from '../engine/arguments.js';
import type { MsmEngineOptions } from '../engine/options.js';
import { readOptions } from '../engine/read-options.js';
import { badArgument, show } from '../errors.js';
import { ownOptions } from '../own-options.js';

/** Options that `accelerate` passes on to its engines. */
const ofEngines = [
  'backend',
  'device',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'tuning',
  'calibrate',
  'calibrationStore',
  'verify',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** Options that `accelerate` passes on to its engines, as `createMsmEngine` has them. */
export type EnginesOptions = Pick<MsmEngineOptions, (typeof ofEngines)[number]>;

/** Options of `accelerate`. */
export interface AccelerateOptions extends EnginesOptions {
  /**
   * Bytes of points and keys that may stay loaded from one proof to the next. Beyond it the least
   * recently used are freed. snarkjs proves with a key that does not fit, and a part of its points
   * stays loaded.
   * `AccelerateStats.basesBudget` has the value.
   *
   * @defaultValue an eighth of main memory (of 4 GiB where its size is unknown), at least 64 MiB
   * and at most one buffer of the device
   */
  readonly basesBudget?: number;
  /**
   * Least number of points of an MSM, and least domain of a circuit, that this library computes;
   * smaller ones are left to snarkjs.
   *
   * @defaultValue `64`
   */
  readonly leastPoints?: number;
  /**
   * Accelerates curves without threads too: those of proofs with snarkjs's option of this name, and
   * those that you have snarkjs make afterwards. `accelerate` makes one such curve to find the
   * class of its groups, which takes about 0.3 s.
   *
   * @defaultValue `false`: snarkjs computes their MSMs itself, without a warning
   */
  readonly singleThread?: boolean;
  /**
   * Leaves to snarkjs the proofs and MSMs that it computes faster: where the arithmetic of this
   * library may be slower, snarkjs computes some of them for comparison, once its threads run.
   * Results are the same. `AccelerateStats.leftToSnarkjs` has the times.
   *
   * @defaultValue `true`
   */
  readonly measure?: boolean;
  /**
   * Verifies whole proofs before they are returned, by pairings on the CPU, which take 20 to 30 ms.
   * snarkjs makes the proof, with a warning, where that of this library does not verify. A proof
   * that snarkjs makes is not verified.
   *
   * @defaultValue `false`
   */
  readonly verifyProof?: boolean;
  /**
   * Aborts loads, MSMs and whole proofs: the proof rejects with the `MsmError` `aborted`. A signal
   * stays aborted, so all later MSMs of snarkjs reject too, those of its verifier included, until
   * you restore snarkjs. An MSM that snarkjs is computing itself completes first.
   */
  readonly signal?: AbortSignal;
  /**
   * Called with a warning, once for each of these: snarkjs computed an MSM itself because this
   * library could not; it computed a whole proof itself; a proof was written in which no MSM
   * reached this library; `basesBudget` was too small (the message has a sufficient size); and once
   * for each message that the engines warn of. Exceptions that it throws are ignored.
   *
   * @defaultValue `console.warn`
   */
  readonly onWarning?: (message: string) => void;
}

/** Valid options, with defaults filled in. */
export interface ReadAccelerateOptions {
  readonly engines: EnginesOptions & Required<Pick<MsmEngineOptions, 'onWarning'>>;
  /** undefined: chosen by the device and main memory. */
  readonly basesBudget: number | undefined;
  readonly leastPoints: number;
  readonly singleThread: boolean;
  readonly measure: boolean;
  readonly verifyProof: boolean;
  readonly signal: AbortSignal | undefined;
  /** Never throws. */
  warn(message: string): void;
}

const names: readonly string[] = [
  ...ofEngines,
  ...([
    'basesBudget',
    'leastPoints',
    'singleThread',
    'measure',
    'verifyProof',
    'signal',
    'onWarning',
  ] satisfies (keyof AccelerateOptions)[]),
];

const DEFAULT_LEAST = 64;

/** Checks an option that must be a non-negative integer. @throws MsmError `bad-argument` */
const integerOf = (name: string, given: unknown): number => {
  if (!Number.isSafeInteger(given) || (given as number) < 0)
    throw badArgument(`options.${name} must be a non-negative integer, got ${show(given)}`);
  return given as number;
};

/** Checks an option that must be true or false. @throws MsmError `bad-argument` */
const booleanOf = (name: string, given: unknown): boolean => {
  if (typeof given === 'boolean') return given;
  throw badArgument(`options.${name} must be true or false, got ${show(given)}`);
};

/**
 * Reads and checks the options of `accelerate`. Later changes of the object have no effect.
 *
 * @throws MsmError `bad-argument` naming the option
 */
export const readAccelerateOptions = async (options: AccelerateOptions): Promise<ReadAccelerateOptions> => {
  const own = ownOptions(options);
  const { basesBudget, leastPoints = DEFAULT_LEAST, singleThread = false, verifyProof = false, measure = true } = own;
  const { signal, onWarning, tuning } = own;
  // a misspelt option would have no effect, and other options of engines could break what
  // accelerate promises
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw badArgument(`options.${unknown} is not an option of accelerate`);
  const flags = {
    singleThread: booleanOf('singleThread', singleThread),
    verifyProof: booleanOf('verifyProof', verifyProof),
    measure: booleanOf('measure', measure),
  };
  readCallOptions(signal === undefined ? {} : { signal });
  if (onWarning !== undefined && typeof onWarning !== 'function')
    throw badArgument(`options.onWarning must be a function, got ${show(onWarning)}`);
  const given: EnginesOptions = Object.fromEntries(ofEngines.map((name) => [name, own[name]]));
  // the engines of several groups give the same warnings
  const warned = new Set<string>();
  const engines = {
    ...{ ...given, ...(tuning instanceof Object && { tuning: { ...tuning } }) },
    onWarning: (message: string): void => {
      if (!warned.has(message)) read.warn(message);
      warned.add(message);
    },
  };
  const read = {
    ...{ engines, ...flags, signal },
    basesBudget: basesBudget === undefined ? undefined : integerOf('basesBudget', basesBudget),
    leastPoints: integerOf('leastPoints', leastPoints),
    warn(message: string): void {
      try {
        if (onWarning === undefined) console.warn(message);
        else onWarning.call(options, message);
      } catch {
        // a failing callback must not fail the proof
      }
    },
  };
  // engines open at the first MSM, too late for errors of their options, so these are checked here
  readOptions(engines);
  return read;
};
