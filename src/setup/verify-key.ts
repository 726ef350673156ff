/**
 * Verification of Groth16 keys: that the contributions follow each other, and that the key is that of
 * its circuit and of the powers of tau, times their secrets. Sections are compared by random
 * combinations, whose pairings agree for other points with a chance below 2^−100.
 */
import type { Affine } from '../curves/jacobian.js';
import { assertNotAborted, badArgument, MsmError } from '../errors.js';
import { invert, mod, writeNumber } from '../field/modulus.js';
import { power } from '../field/powers.js';
import { sectionOf } from '../formats/binfile.js';
import { openOrigin } from '../formats/file-origin.js';
import type { FileOrigin, PointSection } from '../formats/source.js';
import { fileOf } from '../formats/zkey.js';
import { type OptionTable, readOptions } from '../option-table.js';
import {
  differenceOf,
  PointChecks,
  partBytes,
  Refusal,
  randomFactors,
  randomNumber,
  sameBytes,
  whyRefused,
} from './checks.js';
import { openKey, pointOfTranscript } from './contribute.js';
import {
  beginTranscript,
  type Contribution,
  contributionHash,
  hashContribution,
  transcriptWith,
} from './contributions.js';
import { planGroth16Key } from './groth16-key.js';
import { areEqual, type Groups, type Pause, times } from './groups.js';
import { COPIED_BYTES, section } from './key-writer.js';
import { planRounds, type Tables } from './memory.js';
import { readCircuit } from './new-key.js';
import { oddRoot, progression } from './point-transform.js';
import { openPreparedPowers, type PreparedPowers } from './prepared-powers.js';
import { beaconStream } from './randomness.js';
import { pauseOf, type RunOptions, runRows, writeBy } from './run.js';

/** The files of a key that is verified. */
export interface VerifyKeyInput {
  /** The key, a `.zkey` of Groth16. */
  readonly zkey: FileOrigin;
  /** Its circuit, a `.r1cs` file; without it `initial` is needed. */
  readonly r1cs?: FileOrigin | undefined;
  /** The key before its first contribution, which is trusted to be that of the circuit. */
  readonly initial?: FileOrigin | undefined;
  /** The prepared powers of tau that it was made from. */
  readonly ptau: FileOrigin;
}

/** A contribution of a key. */
export interface KeyContribution {
  /** Name of the author; null if the contribution has none. */
  readonly name: string | null;
  /** The hash that the author published, 64 bytes. */
  readonly hash: Uint8Array;
  /** The beacon that it was made from; null for a random one. */
  readonly beacon: KeyBeacon | null;
}

/** A beacon that a contribution was made from. */
export interface KeyBeacon {
  /** Its value. */
  readonly bytes: Uint8Array;
  /** Logarithm of the number of times that the value was hashed. */
  readonly iterations: number;
}

/** The verdict about a key. */
export interface KeyVerdict {
  /** Whether the key breaks no rule. */
  readonly isValid: boolean;
  /** The first rule that the key breaks; null if it is valid. */
  readonly why: string | null;
  /** Contributions in order, up to the first wrong one. */
  readonly contributions: readonly KeyContribution[];
}

const inputTable = {
  of: 'verifyKey',
  rows: {
    zkey: { kind: 'any', isRequired: true },
    r1cs: { kind: 'any' },
    initial: { kind: 'any' },
    ptau: { kind: 'any', isRequired: true },
  },
} as const satisfies OptionTable<VerifyKeyInput>;

const optionTable = { of: 'verifyKey', rows: runRows } as const satisfies OptionTable<RunOptions>;

type Opened = Awaited<ReturnType<typeof openKey>>;

/**
 * Verifies a Groth16 key against its circuit, or against its first key. Whether enough people have
 * contributed, and which of the hashes are theirs, is for the caller to judge.
 *
 * @returns the verdict; bytes that are no `.zkey` are not valid
 * @throws MsmError `bad-argument` for another file that is not what it should be, or that is of another curve, and
 *   where the bytes of a file cannot be read; `aborted`; `unsupported-device` without WebAssembly; errors of
 *   the source and of the file system
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { verifyKey } from 'webgpu-msm/setup';
 *
 * const [zkey, r1cs] = [await openFile('ceremony.zkey'), await openFile('circuit.r1cs')];
 * const ptau = await openFile('powers.ptau');
 * const { isValid, why, contributions } = await verifyKey({ zkey, r1cs, ptau });
 * console.log(isValid, why, contributions.length); // true null 1
 * ```
 */
export const verifyKey = async (input: VerifyKeyInput, given: RunOptions = {}): Promise<KeyVerdict> => {
  const { zkey, r1cs, initial, ptau } = readOptions(inputTable, input, { argument: 'input', path: 'input.' });
  const options = readOptions(optionTable, given);
  if ((r1cs === undefined) === (initial === undefined)) {
    throw badArgument('input must have either r1cs or initial');
  }
  assertNotAborted(options.signal);
  const powers = await openPreparedPowers(ptau, options);
  const { source, workers } =
    initial === undefined ? await makeFirst(r1cs as FileOrigin, powers, options) : { source: initial, workers: null };
  const start = await openKey(
    await openOrigin('initial', source, { signal: options.signal, inParts: true }),
    options,
  ).catch(blameInitial);
  const maxWorkers = workers ?? planRounds(options, options.memoryLimit, tablesOf(start)).workers;
  const contributions: KeyContribution[] = [];
  // not within: a file that is not there is no wrong one
  const file = await openOrigin('zkey', zkey, { signal: options.signal, inParts: true });
  try {
    const key = await openKey(file, options);
    if (key.groups.name !== start.groups.name) throw new Refusal(`the key is on ${key.groups.name}`);
    const checks = await PointChecks.open(key.groups, { ...options, maxWorkers });
    try {
      const check = new KeyCheck(key, start, powers, checks, options);
      await check.run(contributions);
    } finally {
      checks.destroy();
    }
    return { isValid: true, why: null, contributions };
  } catch (error) {
    const why = whyRefused(error, 'zkey');
    if (why === null) throw error;
    return { isValid: false, why, contributions };
  }
};

/**
 * Names the argument in an error about the key before the first contribution, which is read as any `.zkey`: it is no
 * verdict on the other key.
 */
const blameInitial = (error: unknown): never => {
  if (error instanceof Refusal) throw badArgument(`initial: ${error.message}`);
  if (!(error instanceof MsmError) || error.code !== 'bad-argument') throw error;
  throw new MsmError(error.code, `initial: ${error.message}`, { cause: error });
};

/** Likewise in an error about points of the powers of tau. */
const blamePowers = (error: unknown): never => {
  throw error instanceof Refusal ? badArgument(`ptau: ${error.message}`) : error;
};

/** Copies of the first key that are in memory at the same time: its parts, all of it, and what is collected late. */
const FIRST_KEYS = 4;

/** Makes the first key of a circuit. @returns its bytes, and the workers that fit beside it */
const makeFirst = async (
  r1cs: FileOrigin,
  powers: PreparedPowers,
  options: RunOptions,
): Promise<{ readonly source: Uint8Array; readonly workers: number }> => {
  const circuit = await readCircuit(r1cs, powers, options);
  const { total, tables, byteLength, longest, write } = planGroth16Key(circuit, powers);
  const { pointBytes } = tables;
  const planned = { bytes: tables.bytes + FIRST_KEYS * byteLength + partBytes(longest, pointBytes), pointBytes };
  const { workers } = planRounds(options, options.memoryLimit, planned);
  const call = { phase: 'new key', total, tables: planned };
  const { bytes } = await writeBy({ ...options, backend: 'cpu' }, call, write);
  return { source: bytes as Uint8Array, workers };
};

/** The tables of the checks beside keys that are read in parts: random numbers of both sections, and their words. */
const tablesOf = ({ zkey: { variables, domainSize }, groups: { g1 } }: Opened): Tables => ({
  bytes: FACTOR_BYTES * (variables + domainSize) + partBytes(Math.max(variables, domainSize), g1.pointBytes),
  pointBytes: g1.pointBytes,
});

/** Bytes of a random factor: as it is drawn, as a BigInt, and as words. */
const FACTOR_BYTES = 320;

/** One verification. */
class KeyCheck {
  readonly #key: Opened;
  readonly #start: Opened;
  readonly #powers: PreparedPowers;
  readonly #checks: PointChecks;
  readonly #pause: Pause;
  readonly #groups: Groups;

  constructor(key: Opened, start: Opened, powers: PreparedPowers, checks: PointChecks, options: RunOptions) {
    this.#key = key;
    this.#start = start;
    this.#powers = powers;
    this.#checks = checks;
    this.#pause = pauseOf(options);
    this.#groups = key.groups;
  }

  /** Checks everything. @throws Refusal naming the rule that the key breaks */
  async run(contributions: KeyContribution[]): Promise<void> {
    const delta = await this.#checkContributions(contributions);
    await this.#checkHeader(delta);
    await this.#checkCopies();
    await this.#checkMultiples('c', randomFactors(this.#key.zkey.sections.c.count));
    await this.#checkMultiples('h', randomFactors(this.#key.zkey.domainSize));
    await this.#checkQuotientPoints();
  }

  /** Checks that contributions follow each other. @returns δ·G1 after the last */
  async #checkContributions(done: KeyContribution[]): Promise<Affine> {
    const { g1 } = this.#groups;
    const { circuitHash, all } = this.#key.contributions;
    const { circuitHash: expected, all: before } = this.#start.contributions;
    if (!sameBytes(circuitHash, expected)) throw new Refusal('the hash of the circuit is another');
    if (before.length > 0) throw badArgument('input.initial: the key has contributions already');
    const transcript = await beginTranscript(circuitHash);
    let delta: Affine = g1.generator;
    for (const [i, own] of all.entries()) {
      const refuse = (rule: string): never => {
        throw new Refusal(`contribution ${i}: ${rule}`);
      };
      const { s, sx, tx } = own;
      if (!sameBytes(transcriptWith(transcript, this.#groups, s, sx), own.transcript))
        refuse('its transcript is wrong');
      if (!(await this.#checks.areInGroup([s, sx, own.delta], [tx]))) refuse('a point is not in the group of order r');
      const t = await pointOfTranscript(this.#groups, own.transcript, this.#pause);
      if (!(await this.#checks.haveSameRatio([s, sx], [t, tx]))) refuse('nobody has proved to know its secret');
      if (!(await this.#checks.haveSameRatio([delta, own.delta], [t, tx])))
        refuse('delta is not multiplied by its secret');
      if (own.beacon !== null && !(await this.#isOfBeacon(own))) refuse('it is not that of its beacon');
      hashContribution(transcript, this.#groups, own);
      done.push({ name: own.name, hash: await contributionHash(this.#groups, own), beacon: own.beacon });
      delta = own.delta;
    }
    return delta;
  }

  async #isOfBeacon({ beacon, s, sx }: Contribution): Promise<boolean> {
    const { g1, order } = this.#groups;
    const { bytes, iterations } = beacon as NonNullable<Contribution['beacon']>;
    const stream = await beaconStream(bytes, iterations, this.#pause);
    const k = stream.element(order);
    const expected = await stream.point(g1, this.#pause);
    return areEqual(g1, expected, s) && areEqual(g1, await times(g1, k, expected, this.#pause), sx);
  }

  /** Checks the numbers and the points of the header. */
  async #checkHeader(delta: Affine): Promise<void> {
    const { g1, g2 } = this.#groups;
    const [key, start] = [this.#key, this.#start];
    for (const name of ['variables', 'publicSignals', 'domainSize'] as const) {
      const [own, other] = [key.zkey[name], start.zkey[name]];
      if (own !== other) throw new Refusal(`the header says ${name} ${own}, and the circuit has ${other}`);
    }
    const { points } = key;
    for (const name of ['alpha1', 'beta1'] as const) {
      if (!areEqual(g1, points[name], start.points[name])) throw new Refusal(`${name} is another`);
    }
    for (const name of ['beta2', 'gamma2'] as const) {
      if (!areEqual(g2, points[name], start.points[name])) throw new Refusal(`${name} is another`);
    }
    if (!areEqual(g1, points.delta1, delta)) throw new Refusal('delta1 is not that of the last contribution');
    if (!(await this.#checks.areInGroup([], [points.delta2])))
      throw new Refusal('delta2 is not in the group of order r');
    if (!(await this.#checks.haveSameRatio([g1.generator, delta], [g2.generator, points.delta2]))) {
      throw new Refusal('delta2 is not the multiple that delta1 is');
    }
  }

  /** Checks the sections that no contribution changes. */
  async #checkCopies(): Promise<void> {
    const [own, other] = [fileOf(this.#key.zkey), fileOf(this.#start.zkey)];
    for (const name of ['ic', 'coefficients', 'a', 'b1', 'b2'] as const) {
      const id = section[name];
      const extended = ({ file, sections }: typeof own): Extended => ({
        file,
        extent: sectionOf(file, sections, id, name),
      });
      const [left, right] = [extended(own), extended(other)];
      if (left.extent.byteLength !== right.extent.byteLength || !(await this.#haveSameBytes(left, right))) {
        throw new Refusal(`section ${id} (${name}) is not that of the circuit`);
      }
    }
  }

  async #haveSameBytes(left: Extended, right: Extended): Promise<boolean> {
    for (let at = 0; at < left.extent.byteLength; at += COPIED_BYTES) {
      const to = Math.min(left.extent.byteLength, at + COPIED_BYTES);
      const own = await left.file.read(left.extent.at + at, left.extent.at + to);
      const first = await right.file.read(right.extent.at + at, right.extent.at + to).catch(blameInitial);
      if (!sameBytes(own, first)) return false;
      await this.#pause();
    }
    return true;
  }

  /** Checks that a section is that of the first key, divided by δ: by a random combination. */
  async #checkMultiples(name: 'c' | 'h', factors: Uint8Array): Promise<void> {
    const [own, other] = [this.#key.zkey.sections[name], this.#start.zkey.sections[name]];
    if (own.count === 0) return;
    const rule = `section ${section[name]} (${own.name}) is not that of the circuit divided by delta`;
    const { points } = this.#key;
    const deltas = [this.#start.points.delta2, points.delta2] as const;
    const sum = await this.#combine(own, factors);
    const first = await this.#combine(other, factors).catch(blameInitial);
    if (await this.#checks.haveSameRatio([sum, first], deltas, rule)) return;
    if (name === 'h') {
      const rest = withoutLastPower(factors, this.#groups.order);
      const without = await this.#combine(other, rest).catch(blameInitial);
      if (await this.#checks.haveSameRatio([sum, without], deltas, rule)) return;
    }
    throw new Refusal(rule);
  }

  /**
   * Checks section H against the powers of τ. With a random ρ, Σ ρ^i·(τ^n − 1)·τ^i for i below n − 1 is
   * a polynomial in τ with values −2·Σ (ρ·w)^i at the odd powers w of a root of order 2n, and 0 at the
   * even ones.
   */
  async #checkQuotientPoints(): Promise<void> {
    const { order } = this.#groups;
    const { h } = this.#key.zkey.sections;
    const n = this.#key.zkey.domainSize;
    const { tauG1 } = this.#powers.ptau.sections;
    const rho = mod(randomNumber(), order);
    const powers = progression(1n, rho, n - 1, order);
    const high = await this.#combineNumbers(tauG1, n, powers).catch(blamePowers);
    const low = await this.#combineNumbers(tauG1, 0, powers).catch(blamePowers);
    const difference = differenceOf(this.#groups.g1, high, low);
    const values = geometricSums(rho, n, order);
    const ours = await this.#combineNumbers(h, 0, values);
    const rule = 'section 9 (H) does not fit the powers of tau';
    const sums = [ours, difference] as const;
    if (!(await this.#checks.haveSameRatio(sums, [this.#groups.g2.generator, this.#key.points.delta2], rule))) {
      throw new Refusal(rule);
    }
  }

  /** Computes a combination of all points of a section. */
  async #combine(points: PointSection, factors: Uint8Array): Promise<Affine> {
    return this.#checks.sum(points, 0, points.count, factors);
  }

  async #combineNumbers(points: PointSection, from: number, numbers: readonly bigint[]): Promise<Affine> {
    return this.#checks.sum(points, from, from + numbers.length, wordsOf(numbers));
  }
}

/** A section in its file. */
interface Extended {
  readonly file: { read(from: number, to: number): Promise<Uint8Array> };
  readonly extent: { readonly at: number; readonly byteLength: number };
}

/**
 * Returns the factors by which points H of a first key give the combination of those of a key that was a
 * response: there the power τ^(n − 1) is missing, which no proof needs. With a root w of order 2n the
 * points without it are H_j − w^(2j+1)/n·Σ_k w^−(2k+1)·H_k.
 */
const withoutLastPower = (factors: Uint8Array, order: bigint): Uint8Array => {
  const n = factors.length / 32;
  const view = new BigUint64Array(factors.slice().buffer);
  // factors are below 2^128
  const numbers = Array.from({ length: n }, (_, i) => (view[4 * i] as bigint) | ((view[4 * i + 1] as bigint) << 64n));
  const root = oddRoot(n, order);
  const odd = progression(root, (root * root) % order, n, order);
  const inverse = invert(root, order);
  const inverses = progression(inverse, (inverse * inverse) % order, n, order);
  const sum = numbers.reduce((total, number, j) => (total + number * (odd[j] as bigint)) % order, 0n);
  const share = (sum * invert(BigInt(n), order)) % order;
  return wordsOf(numbers.map((number, k) => mod(number - share * (inverses[k] as bigint), order)));
};

/** Returns numbers as 32 little-endian bytes each. */
const wordsOf = (numbers: readonly bigint[]): Uint8Array => {
  const words = new BigUint64Array(4 * numbers.length);
  for (const [i, value] of numbers.entries()) writeNumber(words, 4 * i, 4, value);
  return new Uint8Array(words.buffer);
};

/** Returns −2·Σ (ρ·w^(2j+1))^i for i below n − 1, for each j below n, with a root w of order 2n. */
const geometricSums = (rho: bigint, n: number, order: bigint): bigint[] => {
  const root = oddRoot(n, order);
  const bases = progression((rho * root) % order, (root * root) % order, n, order);
  // (1 − b^(n−1)) / (1 − b), where b^n = −ρ^n for all of them
  const all = mod(-power(rho, BigInt(n), order), order);
  const inverses = inverseAll(
    bases.map((b) => (b * mod(1n - b, order)) % order),
    order,
  );
  return bases.map((b, j) => mod(-2n * (((b - all) % order) * (inverses[j] as bigint)), order));
};

/** Inverts numbers by one inversion (Montgomery 1987, section 10.3.1). */
const inverseAll = (values: readonly bigint[], order: bigint): bigint[] => {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    product = (product * value) % order;
  }
  let rest = invert(product, order);
  const inverses = new Array<bigint>(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (rest * (before[i] as bigint)) % order;
    rest = (rest * (values[i] as bigint)) % order;
  }
  return inverses;
};
