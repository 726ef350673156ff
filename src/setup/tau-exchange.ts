/**
 * Challenges and responses of the first phase: powers of tau in the files of bellman's ceremonies, by
 * which programs that do not know a `.ptau` contribute to them.
 *
 * A challenge is the hash of the response before, and the points of all sections, x‖y as transcripts have
 * them. A response is the hash of its challenge, the multiplied points, compressed, and the proofs for τ, α
 * and β, whose points have both coordinates. Neither names its curve or its size. Source: snarkjs's files.
 */
import type { OwnBytes } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument, notLoaded } from '../errors.js';
import type { Output } from '../formats/sink.js';
import { type FileOrigin, joined, type OpenFile, readRange } from '../formats/source.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { type ChallengeInput, type ContributedChallenge, openChallenge, openPart, readPart } from './bellman.js';
import { Blake2b, blake2b, HASH_BYTES } from './blake2b.js';
import { sameBytes } from './checks.js';
import { compressedBytes, compressPoints, fewPoints } from './compressed-points.js';
import { type ContributionInput, withStream } from './contribute.js';
import { Reader } from './contributions.js';
import { type Groups, hashedPoints, plainPoints, readPoints } from './groups.js';
import { COPIED_BYTES, SectionWriter } from './key-writer.js';
import { multiples } from './point-transform.js';
import {
  type ContributedPowers,
  countOf,
  inParts,
  MOST_POWER,
  openCeremony,
  pointSections,
  powersHeader,
  powersSection,
} from './powers.js';
import { type Run, type SetupOptions, setupOptions, writeBy } from './run.js';
import {
  challengeAfter,
  drawSecrets,
  type FirstPoints,
  hashedProofs,
  type PowersContribution,
  proofsBy,
  readTranscript,
  responseHash,
  writeContribution,
  writeTranscript,
} from './tau-transcript.js';

/** Powers of tau as a challenge. */
export interface PowersChallenge<Bytes extends Uint8Array | undefined = Uint8Array | undefined> {
  /** The file; undefined if it went to a sink. */
  readonly challenge: Bytes;
  /** Hash of the file, 64 bytes, with which responses to it begin. */
  readonly hash: OwnBytes;
}

/** A response that powers of tau go on with. */
export interface PowersResponseInput {
  /** The powers of tau that the challenge was exported from. */
  readonly ptau: FileOrigin;
  /** The response to it. */
  readonly response: FileOrigin;
  /** Name of the author; the file keeps 64 characters of it. */
  readonly name?: string | undefined;
}

/** Powers of tau with the contribution of a response. */
export interface ImportedPowers<Bytes extends Uint8Array | undefined = Uint8Array | undefined>
  extends ContributedPowers<Bytes> {
  /** Hash of the next challenge, 64 bytes. */
  readonly nextChallenge: OwnBytes;
}

const responseTable = {
  of: 'importPowersResponse',
  rows: {
    ptau: { kind: 'any', isRequired: true },
    response: { kind: 'any', isRequired: true },
    name: { kind: 'text' },
  },
} as const satisfies OptionTable<PowersResponseInput>;

/**
 * Writes powers of tau as a challenge, for programs of bellman's ceremonies. The bytes are those of
 * snarkjs's `powersOfTau.exportChallenge`. As nothing is multiplied, the CPU computes, whatever
 * `options.backend` says.
 *
 * @param source a `.ptau`, prepared for the second phase or not
 * @throws MsmError `bad-argument` naming the section, also if the points are not those that the last
 *   contribution hashed; `aborted`; `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { exportPowersChallenge, newPowers } from 'webgpu-msm/setup';
 *
 * const powers = await newPowers({ curve: 'bn254', power: 4 });
 * const { challenge, hash } = await exportPowersChallenge(powers);
 * console.log(challenge.length < powers.length, hash.length); // true 64
 * ```
 */
export function exportPowersChallenge(
  source: FileOrigin,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<PowersChallenge<OwnBytes>>;
export function exportPowersChallenge(source: FileOrigin, options: SetupOptions): Promise<PowersChallenge>;
export async function exportPowersChallenge(source: FileOrigin, given: SetupOptions = {}): Promise<PowersChallenge> {
  const options = readOptions(setupOptions, given);
  const opened = await openCeremony(source, options);
  const { groups, ptau } = opened;
  const last = (await readTranscript(opened, groups)).all.at(-1);
  const { bytes, result } = await writeBy(
    { ...options, backend: 'cpu' },
    { phase: 'export', total: pointsOf(2 ** ptau.power), tables: inParts(groups) },
    async (run, output) => {
      const file = await HashedOutput.begin(output);
      await file.write(last === undefined ? await blake2b() : await responseHash(groups, last));
      for (const section of pointSections) {
        const points = ptau.sections[section];
        const curve = groups[points.group];
        await run.inRounds(points.count, async (from, to) => {
          // aligned
          const words = new Uint32Array((await points.points(from, to)).slice().buffer);
          const input = { points: words, scale: groups.scale, scales: [1n], from, first: 1n, step: 1n };
          const [plain] = await multiples(run, curve, input, `ptau: section ${section}`);
          for (const some of fewPoints(curve, plain as Uint32Array<ArrayBuffer>)) {
            await file.write(hashedPoints(curve, some));
            await run.pause();
          }
          run.progress(to - from);
        });
      }
      const hash = file.digest();
      if (!sameBytes(hash, await challengeAfter(last, groups, ptau.power, run.pause))) {
        throw badArgument('ptau: the points are not those of which the last contribution has the hash');
      }
      return hash;
    },
  );
  return { challenge: bytes, hash: result };
}

/**
 * Contributes to a challenge: one step of the first phase of a ceremony, as `contributeToPowers` takes it
 * for a `.ptau`. The secrets are drawn here, never leave this call, and their bytes are overwritten. The
 * challenge is read twice, since the proofs depend on its hash, and no part of it is kept in memory.
 *
 * @throws MsmError `bad-argument` naming the argument, or the section of the challenge; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { contributeToPowersChallenge, exportPowersChallenge, newPowers } from 'webgpu-msm/setup';
 *
 * const powers = await newPowers({ curve: 'bn254', power: 4 });
 * const { challenge } = await exportPowersChallenge(powers);
 * const author = { entropy: 'dice: 6 2 5 1 1 4' };
 * const { response, hash } = await contributeToPowersChallenge({ challenge, curve: 'bn254' }, author);
 * console.log(response.length < challenge.length, hash.length); // true 64
 * ```
 */
export function contributeToPowersChallenge(
  input: ChallengeInput,
  contribution?: Pick<ContributionInput, 'entropy'>,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedChallenge<OwnBytes>>;
export function contributeToPowersChallenge(
  input: ChallengeInput,
  contribution: Pick<ContributionInput, 'entropy'>,
  options: SetupOptions,
): Promise<ContributedChallenge>;
export async function contributeToPowersChallenge(
  input: ChallengeInput,
  contribution: Pick<ContributionInput, 'entropy'> = {},
  given: SetupOptions = {},
): Promise<ContributedChallenge> {
  const { drawn, options, groups, file } = await openChallenge(input, contribution, given);
  const n = sizeOf(file, groups);
  const { bytes, result } = await writeBy(
    options,
    { phase: 'contribute', total: pointsOf(n), tables: inParts(groups) },
    (run, output) =>
      withStream(drawn, run, async (stream) => {
        const before = await hashOf(file, run);
        const { secrets, proofs } = await drawSecrets(groups, before, stream, run.pause);
        const [tau, alpha, beta] = secrets;
        const firsts = { tauG1: 1n, tauG2: 1n, alphaTauG1: alpha, betaTauG1: beta, betaG2: beta };
        const response = await HashedOutput.begin(output);
        await response.write(before);
        for (const part of partsOf(groups, n, false).parts) {
          const { section, curve, count } = part;
          await run.inRounds(count, async (from, to) => {
            const points = await readPart(file, part, from, to);
            const factors = { from, first: firsts[section], step: tau };
            const input = { points, scale: 1n, scales: [1n], ...factors };
            const [plain] = await multiples(run, curve, input, `challenge: section ${section}`);
            for (const some of fewPoints(curve, plain as Uint32Array<ArrayBuffer>)) {
              await response.write(compressPoints(curve, hashedPoints(curve, some)));
              await run.pause();
            }
            run.progress(to - from);
          });
        }
        await response.write(hashedProofs(groups, proofs));
        return response.digest();
      }),
  );
  return { response: bytes, hash: result };
}

/**
 * Adds the response to a challenge to the powers of tau that the challenge was exported from. The response
 * must be one to that challenge, and its points must be on their curves; whether it is a right contribution is
 * for `verifyPowers` to say. The bytes are those of snarkjs's `powersOfTau.importResponse` with its points. As
 * nothing is multiplied, the CPU computes, whatever `options.backend` says.
 *
 * @throws MsmError `bad-argument` naming the file and what is wrong in it; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { exportPowersChallenge, newPowers } from 'webgpu-msm/setup';
 * import { contributeToPowersChallenge, importPowersResponse } from 'webgpu-msm/setup';
 *
 * const first = await newPowers({ curve: 'bn254', power: 4 });
 * const { challenge } = await exportPowersChallenge(first);
 * const { response } = await contributeToPowersChallenge({ challenge, curve: 'bn254' });
 * const { ptau } = await importPowersResponse({ ptau: first, response, name: 'Ada' });
 * console.log(ptau.length > first.length); // true
 * ```
 */
export function importPowersResponse(
  input: PowersResponseInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ImportedPowers<OwnBytes>>;
export function importPowersResponse(input: PowersResponseInput, options: SetupOptions): Promise<ImportedPowers>;
export async function importPowersResponse(
  input: PowersResponseInput,
  given: SetupOptions = {},
): Promise<ImportedPowers> {
  const {
    ptau: source,
    response,
    name = null,
  } = readOptions(responseTable, input, { argument: 'input', path: 'input.' });
  const options = readOptions(setupOptions, given);
  const opened = await openCeremony(source, options);
  const { groups, ptau } = opened;
  const { power } = ptau;
  const before = await readTranscript(opened, groups);
  const file = await openPart('response', response, options);
  const { parts, end } = partsOf(groups, 2 ** power, true);
  const expected = end + proofBytes(groups);
  if (file.byteLength !== expected) {
    const why = `a response to powers up to 2^${power} on ${groups.name} has ${expected}: is it cut off, or another?`;
    throw badArgument(`response: it has ${file.byteLength} bytes, and ${why}`);
  }
  const proofs = await readProofs(file, groups, end);
  const { bytes, result } = await writeBy(
    { ...options, backend: 'cpu' },
    // roots and sums have workers of their own
    { phase: 'import', total: pointsOf(2 ** power), tables: { ...inParts(groups), pools: 2 } },
    async (run, output) => {
      const challenge = await readRange(file, 0, HASH_BYTES);
      if (!sameBytes(challenge, await challengeAfter(before.all.at(-1), groups, power, run.pause))) {
        throw badArgument('response: it is one to another challenge than that of the ptau');
      }
      const { saved, hash } = await hashResponse(file, groups, power, run);
      const next = (await Blake2b.begin()).update(hash);
      const writer = await SectionWriter.begin(output, 'ptau', 7);
      await writer.whole(powersSection.header, powersHeader(groups, power, power));
      const first: Partial<Record<Part['section'], readonly Affine[]>> = {};
      const { PointDecompressor } = await import('./point-decompressor.js').catch(notLoaded('point-decompressor'));
      const decompressor = new PointDecompressor(groups, run);
      try {
        for (const { section, group, curve, count, at } of parts) {
          const size = compressedBytes(curve);
          await writer.section(powersSection[section], count * curve.pointBytes);
          await run.inRounds(count, async (from, to) => {
            const what = `response: section ${section}`;
            const compressed = await readRange(file, at + from * size, at + to * size);
            const [ofFile, plain] = await decompressor.whole(group, compressed, what);
            const written = new Uint8Array(ofFile.buffer);
            await writer.write(written);
            first[section] ??= readPoints(curve, groups.scale, written.slice(0, 2 * curve.pointBytes), what);
            for (const some of fewPoints(curve, plain)) {
              next.update(hashedPoints(curve, some));
              await run.pause();
            }
            run.progress(to - from);
          });
        }
      } finally {
        decompressor.end();
      }
      const nextChallenge = next.digest();
      const added: PowersContribution = {
        ...firstOf(first),
        ...{ proofs, saved, nextChallenge, name, beacon: null },
      };
      const contributions = joined([before.bytes, writeContribution(groups, added)]);
      await writer.whole(powersSection.contributions, writeTranscript(before.all.length + 1, contributions));
      return { hash, nextChallenge };
    },
  );
  return { ptau: bytes, ...result };
}

/** A file that is written, and its hash. */
class HashedOutput {
  readonly #output: Output;
  readonly #hash: Blake2b;

  private constructor(output: Output, hash: Blake2b) {
    this.#output = output;
    this.#hash = hash;
  }

  static async begin(output: Output): Promise<HashedOutput> {
    return new HashedOutput(output, await Blake2b.begin());
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    await this.#output.write(bytes);
  }

  digest(): Uint8Array<ArrayBuffer> {
    return this.#hash.digest();
  }
}

/** Points of a section, at their place in a challenge or a response. */
interface Part {
  readonly section: (typeof pointSections)[number];
  readonly group: 'g1' | 'g2';
  readonly curve: CurveContext;
  readonly count: number;
  readonly at: number;
}

/** Returns the places of points, and that behind them. @param n 2^power */
const partsOf = (
  groups: Groups,
  n: number,
  isCompressed: boolean,
): { readonly parts: readonly Part[]; readonly end: number } => {
  let end = HASH_BYTES;
  const parts = pointSections.map((section) => {
    const [group, count] = countOf(section, n);
    const curve = groups[group];
    const at = end;
    end += count * (isCompressed ? compressedBytes(curve) : curve.pointBytes);
    return { section, group, curve, count, at };
  });
  return { parts, end };
};

/** Number of points of all sections. @param n 2^power */
const pointsOf = (n: number): number => pointSections.reduce((sum, section) => sum + countOf(section, n)[1], 0);

/** Returns 2^power of a challenge. @throws MsmError `bad-argument` if no challenge has its length */
const sizeOf = ({ what, byteLength }: OpenFile, groups: Groups): number => {
  for (let power = 1; power <= MOST_POWER; power++) {
    if (partsOf(groups, 2 ** power, false).end === byteLength) return 2 ** power;
  }
  throw badArgument(
    `${what}: it has ${byteLength} bytes, which no challenge on ${groups.name} has: is it cut off, or of another curve?`,
  );
};

/** Returns the hash of a file. */
const hashOf = async (file: OpenFile, run: Run): Promise<Uint8Array<ArrayBuffer>> => {
  const hash = await Blake2b.begin();
  for (let at = 0; at < file.byteLength; at += COPIED_BYTES) {
    hash.update(await file.read(at, Math.min(file.byteLength, at + COPIED_BYTES)));
    await run.pause();
  }
  return hash.digest();
};

/** Bytes of points with both coordinates between which snarkjs updates the hash of a response. */
const ROUND_BYTES = 2 ** 24;

/** Hashes a response. @returns the state before its proofs, which shows how it was updated, and the hash */
const hashResponse = async (
  file: OpenFile,
  groups: Groups,
  power: number,
  run: Run,
): Promise<{ readonly saved: Uint8Array; readonly hash: Uint8Array<ArrayBuffer> }> => {
  const { parts, end } = partsOf(groups, 2 ** power, true);
  const hash = (await Blake2b.begin()).update(await readRange(file, 0, HASH_BYTES));
  for (const { curve, count, at } of parts) {
    const size = compressedBytes(curve);
    const round = Math.floor(ROUND_BYTES / curve.pointBytes);
    for (let from = 0; from < count; from += round) {
      hash.update(await readRange(file, at + from * size, at + Math.min(count, from + round) * size));
      await run.pause();
    }
  }
  const saved = hash.save();
  return { saved, hash: hash.update(await readRange(file, end, file.byteLength)).digest() };
};

/** Bytes of the proofs of a response. */
const proofBytes = ({ g1, g2 }: Groups): number => 6 * g1.pointBytes + 3 * g2.pointBytes;

/** Reads the proofs of a response. @throws MsmError `bad-argument` if a point is not on its curve */
const readProofs = async (file: OpenFile, groups: Groups, at: number): Promise<PowersContribution['proofs']> => {
  const reader = new Reader(await readRange(file, at, file.byteLength), 'response: the proofs');
  return proofsBy((group, name) => {
    const curve = groups[group];
    const plain = plainPoints(curve, reader.take(curve.pointBytes));
    return readPoints(curve, 1n, new Uint8Array(plain.buffer), `response: ${name}`)[0] as Affine;
  });
};

/** Returns the first points of a contribution. @param first the first two points of each section, if it has two */
const firstOf = (first: Partial<Record<Part['section'], readonly Affine[]>>): FirstPoints => ({
  tauG1: first.tauG1?.[1] ?? null,
  tauG2: first.tauG2?.[1] ?? null,
  alphaG1: first.alphaTauG1?.[0] ?? null,
  betaG1: first.betaTauG1?.[0] ?? null,
  betaG2: first.betaG2?.[0] ?? null,
});
