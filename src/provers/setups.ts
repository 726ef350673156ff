/**
 * Setups for snarkjs, computed by this library: functions with the arguments and results of snarkjs's
 * `zKey` and `powersOfTau`. What the library cannot do is left to snarkjs, which also says what is wrong
 * with a file.
 */
import { assertNotAborted, badArgument, notLoaded } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import type { BeaconInput, ContributedKey, ContributedPowers, ContributionInput, SetupCurve } from '../setup.js';
import type { ReadAccelerateOptions } from './accelerate-options.js';
import { isLeftToSnarkjs, leftToSnarkjs } from './caches.js';
import { openKeySource, readTail, type SnarkjsFile } from './proof-files.js';

/** A file that snarkjs writes: a path in Node, or `{ type: 'mem' }`, whose `data` is set. */
export type SnarkjsTarget = SnarkjsFile;

/** `zKey` of snarkjs, as far as the library computes it. Loggers get nothing. */
export interface AcceleratedZKey {
  /** Makes a Groth16 key. @returns the hash of the circuit @throws errors of snarkjs */
  newZKey(r1cs: SnarkjsFile, ptau: SnarkjsFile, zkey: SnarkjsTarget, logger?: unknown): Promise<unknown>;
  /** Contributes to a key. @returns the hash of the contribution @throws errors of snarkjs */
  contribute(from: SnarkjsFile, to: SnarkjsTarget, name: string, entropy: string, logger?: unknown): Promise<unknown>;
  /** Applies a beacon to a key. @returns the hash of the contribution @throws errors of snarkjs */
  beacon(
    from: SnarkjsFile,
    to: SnarkjsTarget,
    name: string,
    beacon: string,
    iterations: number | string,
    logger?: unknown,
  ): Promise<unknown>;
  /** Verifies a key against its circuit. @throws errors of snarkjs */
  verifyFromR1cs(r1cs: SnarkjsFile, ptau: SnarkjsFile, zkey: SnarkjsFile, logger?: unknown): Promise<boolean>;
  /** Verifies a key against its first. @throws errors of snarkjs */
  verifyFromInit(initial: SnarkjsFile, ptau: SnarkjsFile, zkey: SnarkjsFile, logger?: unknown): Promise<boolean>;
  /** Writes a key as a challenge of bellman. @throws errors of snarkjs */
  exportBellman(zkey: SnarkjsFile, challenge: SnarkjsTarget, logger?: unknown): Promise<unknown>;
  /** Contributes to a challenge. @returns the hash of the contribution @throws errors of snarkjs */
  bellmanContribute(
    curve: { readonly name: string },
    challenge: SnarkjsFile,
    response: SnarkjsTarget,
    entropy: string,
    logger?: unknown,
  ): Promise<unknown>;
  /** Makes a key of a response. @returns false if it is one to another key @throws errors of snarkjs */
  importBellman(
    from: SnarkjsFile,
    response: SnarkjsFile,
    to: SnarkjsTarget,
    name?: string,
    logger?: unknown,
  ): Promise<unknown>;
  /** Returns the verification key of a proving key. @throws errors of snarkjs */
  exportVerificationKey(zkey: SnarkjsFile, logger?: unknown): Promise<object>;
}

/** `powersOfTau` of snarkjs, as far as the library computes it. Loggers get nothing. */
export interface AcceleratedPowersOfTau {
  /** Contributes to powers of tau. @returns the hash of the contribution @throws errors of snarkjs */
  contribute(from: SnarkjsFile, to: SnarkjsTarget, name: string, entropy: string, logger?: unknown): Promise<unknown>;
  /** Applies a beacon to powers of tau. @returns the hash of the contribution @throws errors of snarkjs */
  beacon(
    from: SnarkjsFile,
    to: SnarkjsTarget,
    name: string,
    beacon: string,
    iterations: number | string,
    logger?: unknown,
  ): Promise<unknown>;
  /** Writes powers of tau as a challenge of bellman. @returns the hash of the challenge @throws errors of snarkjs */
  exportChallenge(ptau: SnarkjsFile, challenge: SnarkjsTarget, logger?: unknown): Promise<unknown>;
  /** Contributes to a challenge. @throws errors of snarkjs */
  challengeContribute(
    curve: { readonly name: string },
    challenge: SnarkjsFile,
    response: SnarkjsTarget,
    entropy: string,
    logger?: unknown,
  ): Promise<unknown>;
  /**
   * Goes on with a response. Without its points, snarkjs does.
   *
   * @returns the hash of the next challenge
   * @throws errors of snarkjs
   */
  importResponse(
    from: SnarkjsFile,
    response: SnarkjsFile,
    to: SnarkjsTarget,
    name?: string,
    importPoints?: boolean,
    logger?: unknown,
  ): Promise<unknown>;
  /** Prepares powers of tau for the second phase. @throws errors of snarkjs */
  preparePhase2(from: SnarkjsFile, to: SnarkjsTarget, logger?: unknown): Promise<unknown>;
  /** Verifies powers of tau. @throws errors of snarkjs */
  verify(ptau: SnarkjsFile, logger?: unknown): Promise<boolean>;
}

/** The accelerated setups. They stay usable after `restore`, and are snarkjs's own then. */
export interface AcceleratedSetups {
  /** Keys. */
  readonly zKey: AcceleratedZKey;
  /** Powers of tau. */
  readonly powersOfTau: AcceleratedPowersOfTau;
}

/** Parts of an accelerator that setups use. */
export interface SetupsHost {
  readonly options: ReadAccelerateOptions;
  /** True once the acceleration was undone. */
  isOver(): boolean;
  warnOf(error: unknown): void;
}

type SetupModule = typeof import('../setup.js');

/** A function of snarkjs. */
type Original = (...given: readonly unknown[]) => Promise<unknown>;

/** Options of the library's functions. */
type Settings = Parameters<SetupModule['newKey']>[1] & object;

/** Options of the functions that verify, which compute on the CPU. */
const ofVerification = ({ signal, maxWorkers, createWorker, onWarning, memoryLimit }: Settings) => ({
  ...{ signal, maxWorkers, createWorker, onWarning, memoryLimit },
});

/** Computes one function of snarkjs. */
type Work = (setup: SetupModule, settings: Settings, given: readonly unknown[]) => Promise<unknown>;

/** Makes the setups of a snarkjs. */
export const setupsOf = (snarkjs: unknown, host: SetupsHost): AcceleratedSetups => {
  const members = (snarkjs ?? {}) as Partial<Record<keyof AcceleratedSetups, Record<string, Original | undefined>>>;
  const made = (['zKey', 'powersOfTau'] as const).map((part) => {
    const functions = Object.entries(works[part]).map(([name, work]) => {
      const original = members[part]?.[name];
      return [name, (...given: readonly unknown[]) => compute(`${part}.${name}`, original, host, work, given)];
    });
    return [part, Object.fromEntries(functions)];
  });
  return Object.fromEntries(made) as unknown as AcceleratedSetups;
};

/** Computes a function here, or has snarkjs do it. */
const compute = async (
  name: string,
  original: Original | undefined,
  host: SetupsHost,
  work: Work,
  given: readonly unknown[],
): Promise<unknown> => {
  if (original === undefined) {
    throw badArgument(`snarkjs has no ${name}; pass accelerate the whole module, or an object with this member`);
  }
  if (host.isOver()) return original(...given);
  const { signal, engines, memoryLimit } = host.options;
  assertNotAborted(signal);
  const { maxWorkers, createWorker, onWarning, device, gpu } = engines;
  // setups choose a backend for each round, and never compute one on both
  const backend = engines.backend === 'both' ? 'auto' : engines.backend;
  try {
    const setup = await import('../setup.js').catch(notLoaded('setup'));
    const settings = { signal, maxWorkers, createWorker, onWarning, backend, device, gpu, memoryLimit };
    return await work(setup, settings, given);
  } catch (error) {
    assertNotAborted(signal);
    // snarkjs says itself what is wrong with a file
    if (!isLeftToSnarkjs(error)) host.warnOf(error);
    return original(...given);
  }
};

const sourceOf = async (given: unknown): Promise<FileSource> => (await openKeySource(given, true)).source;

/**
 * Has `write` write a file of snarkjs's.
 *
 * @param write gets the sink, and returns the bytes where there is none
 */
const writeTo = async <Result extends { readonly bytes: Uint8Array | undefined }>(
  target: unknown,
  write: (sink: string | undefined) => Promise<Result>,
): Promise<Result> => {
  const { type, fileName } = (target ?? {}) as { readonly type?: unknown; readonly fileName?: unknown };
  if (type === 'mem') {
    const result = await write(undefined);
    (target as { data?: unknown }).data = result.bytes;
    return result;
  }
  const path = type === 'file' ? fileName : target;
  const isNode = 'process' in globalThis;
  if (typeof path !== 'string' || !isNode) throw leftToSnarkjs('its target is one of snarkjs');
  return write(path);
};

/** Bytes at the end of a key without contributions: the hash of the circuit, and their number. */
const [HASH_BYTES, COUNT_BYTES] = [64, 4] as const;

const author = (name: unknown, entropy: unknown): { readonly name: string; readonly entropy: string } => {
  // snarkjs asks for it
  if (typeof entropy !== 'string' || entropy === '') throw leftToSnarkjs('it lacks entropy');
  return { name: typeof name === 'string' ? name : '', entropy };
};

const beaconOf = (name: unknown, beacon: unknown, iterations: unknown) => ({
  name: typeof name === 'string' ? name : '',
  beacon: beacon as string,
  iterations: Number.parseInt(String(iterations), 10),
});

/** A step of a ceremony, whatever the file. */
type Step<Input> = (
  source: FileSource,
  input: Input,
  settings: Settings,
) => Promise<{ readonly bytes: Uint8Array | undefined; readonly hash: Uint8Array }>;

const ofKey =
  <Input>(step: (...given: Parameters<Step<Input>>) => Promise<ContributedKey>): Step<Input> =>
  async (...given) => {
    const { zkey, hash } = await step(...given);
    return { bytes: zkey, hash };
  };

const ofPowers =
  <Input>(step: (...given: Parameters<Step<Input>>) => Promise<ContributedPowers>): Step<Input> =>
  async (...given) => {
    const { ptau, hash } = await step(...given);
    return { bytes: ptau, hash };
  };

/** Takes a step from a file to another. @returns its hash */
const stepTo = async <Input>(
  step: Step<Input>,
  [from, to]: readonly unknown[],
  input: Input,
  settings: Settings,
): Promise<Uint8Array> => {
  const source = await sourceOf(from);
  const { hash } = await writeTo(to, (sink) => step(source, input, { ...settings, sink }));
  return hash;
};

const contributing =
  (stepOf: (setup: SetupModule) => Step<ContributionInput>): Work =>
  async (setup, settings, given) =>
    stepTo(stepOf(setup), given, author(given[2], given[3]), settings);

const endingBy =
  (stepOf: (setup: SetupModule) => Step<BeaconInput>): Work =>
  async (setup, settings, given) =>
    stepTo(stepOf(setup), given, beaconOf(given[2], given[3], given[4]), settings);

const responding =
  (stepOf: (setup: SetupModule) => SetupModule['contributeToChallenge']): Work =>
  async (setup, settings, [curve, ...given]) => {
    const name = ({ bn128: 'bn254', bls12381: 'bls12-381' } as Readonly<Record<string, SetupCurve>>)[
      (curve as { readonly name: string }).name
    ];
    if (name === undefined) throw leftToSnarkjs('its curve is another');
    const { entropy } = author('', given[2]);
    const step: Step<ContributionInput> = async (challenge, input, options) => {
      const { response, hash } = await stepOf(setup)({ challenge, curve: name }, input, options);
      return { bytes: response, hash };
    };
    return stepTo(step, given, { entropy }, settings);
  };

const works: Readonly<Record<keyof AcceleratedSetups, Readonly<Record<string, Work>>>> = {
  zKey: {
    newZKey: async ({ newKey }, settings, [r1cs, ptau, zkey]) => {
      const input = { system: 'groth16', r1cs: await sourceOf(r1cs), ptau: await sourceOf(ptau) } as const;
      const { tail } = await writeTo(zkey, async (sink) => {
        const bytes = await newKey(input, { ...settings, sink });
        return { bytes, tail: bytes ?? (await readTail(sink as string, HASH_BYTES + COUNT_BYTES)) };
      });
      return tail.slice(-HASH_BYTES - COUNT_BYTES, -COUNT_BYTES);
    },
    contribute: contributing(({ contribute }) => ofKey(contribute)),
    beacon: endingBy(({ applyBeacon }) => ofKey(applyBeacon)),
    verifyFromR1cs: async ({ verifyKey }, settings, [r1cs, ptau, zkey]) => {
      const files = { r1cs: await sourceOf(r1cs), ptau: await sourceOf(ptau), zkey: await sourceOf(zkey) };
      return (await verifyKey(files, ofVerification(settings))).isValid;
    },
    verifyFromInit: async ({ verifyKey }, settings, [initial, ptau, zkey]) => {
      const files = { initial: await sourceOf(initial), ptau: await sourceOf(ptau), zkey: await sourceOf(zkey) };
      return (await verifyKey(files, ofVerification(settings))).isValid;
    },
    exportBellman: async ({ exportChallenge }, settings, [zkey, challenge]) => {
      const source = await sourceOf(zkey);
      await writeTo(challenge, async (sink) => ({ bytes: await exportChallenge(source, { ...settings, sink }) }));
    },
    bellmanContribute: responding(({ contributeToChallenge }) => contributeToChallenge),
    importBellman: async ({ importResponse }, settings, [from, response, to, name]) => {
      const files = { zkey: await sourceOf(from), response: await sourceOf(response) };
      const input = { ...files, name: typeof name === 'string' ? name : '' };
      await writeTo(to, async (sink) => ({ bytes: await importResponse(input, { ...settings, sink }) }));
      return true;
    },
    exportVerificationKey: async ({ exportVerificationKey }, { signal, onWarning }, [zkey]) =>
      exportVerificationKey(await sourceOf(zkey), { signal, onWarning }),
  },
  powersOfTau: {
    contribute: contributing(({ contributeToPowers }) => ofPowers(contributeToPowers)),
    beacon: endingBy(({ applyBeaconToPowers }) => ofPowers(applyBeaconToPowers)),
    exportChallenge: async ({ exportPowersChallenge }, settings, [ptau, to]) => {
      const source = await sourceOf(ptau);
      const { hash } = await writeTo(to, async (sink) => {
        const { challenge: bytes, hash } = await exportPowersChallenge(source, { ...settings, sink });
        return { bytes, hash };
      });
      return hash;
    },
    challengeContribute: async (...given) => {
      await responding(({ contributeToPowersChallenge }) => contributeToPowersChallenge)(...given);
    },
    importResponse: async ({ importPowersResponse }, settings, [from, response, to, name, importPoints]) => {
      if (!importPoints) throw leftToSnarkjs('it leaves out the points');
      const files = { ptau: await sourceOf(from), response: await sourceOf(response) };
      const input = { ...files, name: typeof name === 'string' ? name : '' };
      const { nextChallenge } = await writeTo(to, async (sink) => {
        const { ptau: bytes, nextChallenge } = await importPowersResponse(input, { ...settings, sink });
        return { bytes, nextChallenge };
      });
      return nextChallenge;
    },
    preparePhase2: async ({ preparePhase2 }, settings, [from, to]) => {
      const source = await sourceOf(from);
      await writeTo(to, async (sink) => ({ bytes: await preparePhase2(source, { ...settings, sink }) }));
    },
    verify: async ({ verifyPowers }, settings, [ptau]) => {
      const { isValid } = await verifyPowers(await sourceOf(ptau), ofVerification(settings));
      return isValid;
    },
  },
};
