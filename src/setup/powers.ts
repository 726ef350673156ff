/**
 * Powers of tau, the first phase of a ceremony: new ones, contributions, and files that are cut off.
 * "Scalable Multi-party Computation for zk-SNARK Parameters in the Random Beacon Model", Bowe, Gabizon
 * and Miers (https://eprint.iacr.org/2017/1050), section 4.
 */
import type { OwnBytes } from '../api/values.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument } from '../errors.js';
import type { Output } from '../formats/sink.js';
import { type FileOrigin, joined, type PointSection } from '../formats/source.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { Blake2b } from './blake2b.js';
import { compressPoints, fewPoints } from './compressed-points.js';
import {
  type BeaconInput,
  type ContributionInput,
  type Drawn,
  readBeacon,
  readSecret,
  withStream,
} from './contribute.js';
import { u32 } from './contributions.js';
import { filePoint, type Groups, hashedPoints, openGroups, readPoints, type SetupCurve } from './groups.js';
import { COPIED_BYTES, number, SectionWriter } from './key-writer.js';
import type { Tables } from './memory.js';
import { multiples } from './point-transform.js';
import { type OpenPowers, openPowers } from './prepared-powers.js';
import type { RandomStream } from './randomness.js';
import { type Run, type RunOptions, type SetupOptions, setupOptions, writeBy } from './run.js';
import {
  challengeAfter,
  drawSecrets,
  endResponse,
  type FirstPoints,
  type PowersContribution,
  readTranscript,
  writeContribution,
  writeTranscript,
} from './tau-transcript.js';

/** The curve and the size of new powers of tau. */
export interface NewPowersInput {
  /** The curve. */
  readonly curve: SetupCurve;
  /** Circuits of up to 2^power rows can be set up, from 1 to 28. */
  readonly power: number;
}

/** Powers of tau with one more contribution. */
export interface ContributedPowers<Bytes extends Uint8Array | undefined = Uint8Array | undefined> {
  /** The `.ptau`; undefined if it went to a sink. */
  readonly ptau: Bytes;
  /** Hash of the contribution, 64 bytes: its author publishes it. */
  readonly hash: OwnBytes;
}

/** Largest two-adicity that all curves have. */
export const MOST_POWER = 28;

const newTable = {
  of: 'newPowers',
  rows: {
    curve: { kind: 'choice', range: ['bn254', 'bls12-381'], isRequired: true },
    power: { kind: 'integer', range: [1, MOST_POWER], isRequired: true },
  },
} as const satisfies OptionTable<NewPowersInput>;

/** Sections of powers of tau. */
export const powersSection = {
  header: 1,
  tauG1: 2,
  tauG2: 3,
  alphaTauG1: 4,
  betaTauG1: 5,
  betaG2: 6,
  contributions: 7,
} as const;

/** Sections of points, in order. */
export const pointSections = ['tauG1', 'tauG2', 'alphaTauG1', 'betaTauG1', 'betaG2'] as const;

/** Group, and number of points, of a section with n = 2^power. */
export const countOf = (name: (typeof pointSections)[number], n: number): readonly ['g1' | 'g2', number] => {
  if (name === 'tauG1') return ['g1', 2 * n - 1];
  if (name === 'betaG2') return ['g2', 1];
  return [name === 'tauG2' ? 'g2' : 'g1', n];
};

/**
 * Begins a ceremony for powers of tau: the powers of 1, to which nobody has contributed. The bytes are
 * those of snarkjs's `powersOfTau.newAccumulator`.
 *
 * @returns the `.ptau`; undefined if it went to a sink
 * @throws MsmError `bad-argument`; `aborted`; `unsupported-device` without WebAssembly; errors of the
 *   sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { contributeToPowers, newPowers, preparePhase2 } from 'webgpu-msm/setup';
 *
 * const first = await newPowers({ curve: 'bn254', power: 4 });
 * const { ptau } = await contributeToPowers(first, { name: 'Ada', entropy: 'dice: 6 2 5 1 1 4' });
 * const prepared = await preparePhase2(ptau); // for newKey
 * console.log(prepared.length > ptau.length); // true
 * ```
 */
export function newPowers(
  input: NewPowersInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function newPowers(input: NewPowersInput, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function newPowers(input: NewPowersInput, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const { curve: name, power } = readOptions(newTable, input, { argument: 'input', path: 'input.' });
  const options = readOptions(setupOptions, given);
  const groups = await openGroups(name);
  const n = 2 ** power;
  const total = pointSections.reduce((sum, section) => sum + countOf(section, n)[1], 0);
  const { bytes } = await writeBy(
    options,
    { phase: 'new powers', total, tables: inParts(groups) },
    async (run, output) => {
      const writer = await SectionWriter.begin(output, 'ptau', 7);
      await writer.whole(powersSection.header, powersHeader(groups, power, power));
      for (const section of pointSections) {
        const [group, count] = countOf(section, n);
        await writer.section(powersSection[section], count * groups[group].pointBytes);
        await writeGenerators(groups, group, count, run, writer);
      }
      await writer.whole(powersSection.contributions, writeTranscript(0, new Uint8Array()));
    },
  );
  return bytes;
}

/** Returns the header of powers of tau. */
export const powersHeader = ({ g1 }: Groups, power: number, ceremonyPower: number): Uint8Array => {
  const { bytes } = g1.field;
  return joined([u32(bytes), number(g1.p, bytes), u32(power), u32(ceremonyPower)]);
};

/** The tables of a call that copies sections in parts. */
export const inParts = ({ g2 }: Groups): Tables => ({ bytes: 2 * COPIED_BYTES, pointBytes: g2.pointBytes });

/** Points that are written at a time. */
const POINTS_AT_ONCE = 2 ** 12;

const writeGenerators = async (
  groups: Groups,
  group: 'g1' | 'g2',
  count: number,
  run: Run,
  writer: SectionWriter,
): Promise<void> => {
  const curve = groups[group];
  const point = filePoint(curve, groups.scale, curve.generator);
  const block = joined(new Array<Uint8Array>(Math.min(count, POINTS_AT_ONCE)).fill(point));
  for (let from = 0; from < count; from += POINTS_AT_ONCE) {
    const some = Math.min(count - from, POINTS_AT_ONCE);
    await writer.write(block.subarray(0, some * point.length));
    run.progress(some);
    await run.pause();
  }
};

/**
 * Contributes to powers of tau: one step of the first phase of a ceremony. Its secrets are drawn here,
 * never leave this call, and their bytes are overwritten. Until its last byte the call keeps all points
 * of the file in memory, as the transcript hashes them twice. Points that were prepared for the second
 * phase are left out, as they are no longer right.
 *
 * @param source a `.ptau`, as `newPowers` and snarkjs write it
 * @throws MsmError `bad-argument` naming the argument or the section; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { contributeToPowers, newPowers } from 'webgpu-msm/setup';
 *
 * const powers = await newPowers({ curve: 'bn254', power: 4 });
 * const { ptau, hash } = await contributeToPowers(powers, { name: 'Ada', entropy: 'dice: 6 2 5 1' });
 * console.log(ptau.length > powers.length, hash.length); // true 64
 * ```
 */
export function contributeToPowers(
  source: FileOrigin,
  contribution?: ContributionInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedPowers<OwnBytes>>;
export function contributeToPowers(
  source: FileOrigin,
  contribution: ContributionInput,
  options: SetupOptions,
): Promise<ContributedPowers>;
export async function contributeToPowers(
  source: FileOrigin,
  contribution: ContributionInput = {},
  options: SetupOptions = {},
): Promise<ContributedPowers> {
  return apply(source, options, readSecret(contribution));
}

/**
 * Applies a public beacon to powers of tau, as the last contribution of their ceremony.
 *
 * @param source a `.ptau`
 * @throws MsmError as `contributeToPowers`
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { applyBeaconToPowers } from 'webgpu-msm/setup';
 *
 * const beacon = '000000000000000000029cba5a5ab5a0f4b0ac5d5f1f1ee8e1b0f9e9b3cf1c56'; // of a block
 * const { hash } = await applyBeaconToPowers(await openFile('powers.ptau'), { beacon, iterations: 10 });
 * console.log(hash.length); // 64
 * ```
 */
export function applyBeaconToPowers(
  source: FileOrigin,
  beacon: BeaconInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedPowers<OwnBytes>>;
export function applyBeaconToPowers(
  source: FileOrigin,
  beacon: BeaconInput,
  options: SetupOptions,
): Promise<ContributedPowers>;
export async function applyBeaconToPowers(
  source: FileOrigin,
  beacon: BeaconInput,
  options: SetupOptions = {},
): Promise<ContributedPowers> {
  return apply(source, options, readBeacon(beacon));
}

/** Applies a contribution. */
const apply = async (source: FileOrigin, given: SetupOptions, drawn: Drawn): Promise<ContributedPowers> => {
  const options = readOptions(setupOptions, given);
  const opened = await openCeremony(source, options);
  const { sections } = opened.ptau;
  const total = pointSections.reduce((sum, name) => sum + sections[name].count, 0);
  // all points, as the transcript hashes them twice
  const hashed = pointSections.reduce((sum, name) => sum + sections[name].byteLength, 0);
  const tables = { bytes: hashed + ROUND_BYTES, pointBytes: opened.groups.g2.pointBytes };
  const { bytes, result } = await writeBy(options, { phase: 'contribute', total, tables }, (run, output) =>
    withStream(drawn, run, (stream) => new Contributing(opened, run, output).write(drawn, stream)),
  );
  return { ptau: bytes, hash: result };
};

/** Opens powers of tau whose ceremony goes on. @throws MsmError `bad-argument` for a file that was cut off */
export const openCeremony = async (source: FileOrigin, options: RunOptions): Promise<OpenPowers> => {
  const opened = await openPowers(source, options);
  const { power, ceremonyPower } = opened.ptau;
  if (power !== ceremonyPower) {
    throw badArgument(`ptau: the file was cut from powers up to 2^${ceremonyPower}: go on with the whole file`);
  }
  if (power < 1) throw badArgument('ptau: the file has one power alone');
  return opened;
};

/** Bytes of points between which snarkjs updates the hash of a response, whose saved state shows them. */
const ROUND_BYTES = 2 ** 20;

/** A contribution that is being made. */
class Contributing {
  readonly #opened: OpenPowers;
  readonly #run: Run;
  readonly #output: Output;
  /** All new points as transcripts have them. */
  readonly #hashed: Uint8Array[] = [];

  constructor(opened: OpenPowers, run: Run, output: Output) {
    this.#opened = opened;
    this.#run = run;
    this.#output = output;
  }

  /** Writes the file. @returns the hash of the contribution */
  async write({ author }: Drawn, stream: RandomStream): Promise<Uint8Array<ArrayBuffer>> {
    const { groups, ptau } = this.#opened;
    const { all, bytes } = await readTranscript(this.#opened, groups);
    const challenge = await challengeAfter(all.at(-1), groups, ptau.power, this.#run.pause);
    const { secrets, proofs } = await drawSecrets(groups, challenge, stream, this.#run.pause);
    const [tau, alpha, beta] = secrets;
    const response = (await Blake2b.begin()).update(challenge);
    const writer = await SectionWriter.begin(this.#output, 'ptau', 7);
    await writer.whole(powersSection.header, powersHeader(groups, ptau.power, ptau.power));
    const first: Partial<Record<keyof FirstPoints, Affine>> = {};
    const { tauG1, tauG2, alphaTauG1, betaTauG1, betaG2 } = ptau.sections;
    const multiply = async (name: keyof typeof powersSection, points: PointSection, factor: bigint) => {
      await writer.section(powersSection[name], points.byteLength);
      return this.#multiply(points, [factor, tau], writer, response);
    };
    first.tauG1 = (await multiply('tauG1', tauG1, 1n))[1] ?? null;
    first.tauG2 = (await multiply('tauG2', tauG2, 1n))[1] ?? null;
    first.alphaG1 = (await multiply('alphaTauG1', alphaTauG1, alpha))[0] ?? null;
    first.betaG1 = (await multiply('betaTauG1', betaTauG1, beta))[0] ?? null;
    first.betaG2 = (await multiply('betaG2', betaG2, beta))[0] ?? null;
    const saved = response.save();
    const hash = endResponse(response, groups, proofs);
    const next = (await Blake2b.begin()).update(hash);
    for (const part of this.#hashed) {
      next.update(part);
      await this.#run.pause();
    }
    const own: PowersContribution = {
      ...(first as FirstPoints),
      ...{ proofs, saved, nextChallenge: next.digest() },
      ...author,
    };
    const contributions = joined([bytes, writeContribution(groups, own)]);
    await writer.whole(powersSection.contributions, writeTranscript(all.length + 1, contributions));
    return hash;
  }

  /**
   * Writes a section whose points are multiplied by first·step^i.
   *
   * @returns its first two points
   */
  async #multiply(
    points: PointSection,
    [first, step]: readonly [bigint, bigint],
    writer: SectionWriter,
    response: Blake2b,
  ): Promise<Affine[]> {
    const { groups } = this.#opened;
    const { scale } = groups;
    const curve = groups[points.group];
    const round = Math.floor(ROUND_BYTES / points.pointBytes);
    const found: Affine[] = [];
    for (let start = 0; start < points.count; start += round) {
      const parts: Uint8Array[] = [];
      await this.#run.inRounds(Math.min(round, points.count - start), async (begin, end) => {
        const [from, to] = [start + begin, start + end];
        // aligned
        const bytes = (await points.points(from, to)).slice();
        const [words, plain] = (await multiples(
          this.#run,
          curve,
          { points: new Uint32Array(bytes.buffer), scale, scales: [scale, 1n], from, first, step },
          `ptau: section ${points.name}`,
        )) as [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>];
        const written = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
        await writer.write(written);
        for (const some of fewPoints(curve, plain)) {
          const hashed = hashedPoints(curve, some);
          parts.push(compressPoints(curve, hashed));
          this.#hashed.push(hashed);
          await this.#run.pause();
        }
        if (from === 0) {
          found.push(...readPoints(curve, scale, written.slice(0, 2 * points.pointBytes), `ptau: ${points.name}`));
        }
        this.#run.progress(to - from);
      });
      response.update(joined(parts));
    }
    return found;
  }
}

/** A size of powers of tau. */
export interface TruncateInput {
  /** Logarithm of the size, less than that of the file. */
  readonly power: number;
}

const truncateTable = {
  of: 'truncatePowers',
  rows: { power: { kind: 'integer', range: [1, MOST_POWER], isRequired: true } },
} as const satisfies OptionTable<TruncateInput>;

/** Number of Lagrange points of all domains up to 2^power. */
export const lagrangeCount = (power: number): number => 2 ** (power + 1) - 1;

/** Sections of Lagrange points, with what they have beyond the domain of the file's size. */
export const lagrangeSections = [
  { id: 12, of: 'tauG1', group: 'g1', more: 1 },
  { id: 13, of: 'tauG2', group: 'g2', more: 0 },
  { id: 14, of: 'alphaTauG1', group: 'g1', more: 0 },
  { id: 15, of: 'betaTauG1', group: 'g1', more: 0 },
] as const;

/**
 * Cuts prepared powers of tau off, for smaller circuits. Nobody can contribute to the result.
 *
 * @param source a `.ptau` that is prepared for the second phase
 * @returns the `.ptau`; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the section; `aborted`; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { truncatePowers } from 'webgpu-msm/setup';
 *
 * const powers = await openFile('powers.ptau');
 * const smaller = await truncatePowers(powers, { power: 3 });
 * console.log(smaller.length < powers.byteLength); // true
 * ```
 */
export function truncatePowers(
  source: FileOrigin,
  size: TruncateInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function truncatePowers(
  source: FileOrigin,
  size: TruncateInput,
  options: SetupOptions,
): Promise<OwnBytes | undefined>;
export async function truncatePowers(
  source: FileOrigin,
  size: TruncateInput,
  given: SetupOptions = {},
): Promise<OwnBytes | undefined> {
  const { power } = readOptions(truncateTable, size, { argument: 'size', path: 'size.' });
  const options = readOptions(setupOptions, given);
  const opened = await openPowers(source, options);
  const { ptau, groups } = opened;
  if (power >= ptau.power) throw badArgument(`size.power must be less than ${ptau.power}, which the file has`);
  const n = 2 ** power;
  const { bytes } = await writeBy(
    options,
    { phase: 'truncate', total: n, tables: inParts(groups) },
    async (run, output) => {
      const writer = await SectionWriter.begin(output, 'ptau', 11);
      await writer.whole(powersSection.header, powersHeader(groups, power, ptau.ceremonyPower));
      for (const name of pointSections) {
        const [group, count] = countOf(name, n);
        await writer.copy(opened, powersSection[name], run, count * groups[group].pointBytes);
      }
      await writer.copy(opened, powersSection.contributions, run);
      for (const { id, group, more } of lagrangeSections) {
        await writer.copy(opened, id, run, lagrangeCount(power + more) * groups[group].pointBytes);
      }
      run.progress(n);
    },
  );
  return bytes;
}
