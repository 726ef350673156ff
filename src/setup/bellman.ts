/**
 * Challenges and responses of the second phase: parameters of Groth16 in the files of bellman's
 * ceremonies, by which programs that do not know a `.zkey` contribute to one.
 *
 * A file has α, β, γ and δ, as α·G1, β·G1, β·G2, γ·G2, δ·G1 and δ·G2; then the points IC, H, L, A, B1 and
 * B2, each u32 count and points; the hash of the circuit; u32 number of contributions, and each as its
 * points and the transcript before it. Points are x‖y as transcripts have them, and all numbers
 * big-endian. H is (τ^n − 1)·τ^i/δ for i below n − 1, where a `.zkey` has Lagrange points of twice the
 * domain at its odd places. Source: snarkjs's files.
 */
import type { OwnBytes } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument } from '../errors.js';
import { invert } from '../field/modulus.js';
import { openOrigin } from '../formats/file-origin.js';
import { type FileOrigin, joined, numbersOf, type OpenFile, openFile, readRange } from '../formats/source.js';
import { fileOf } from '../formats/zkey.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { HASH_BYTES } from './blake2b.js';
import { sameBytes } from './checks.js';
import { type ContributionInput, nextContribution, openKey, readEntropy, withStream } from './contribute.js';
import {
  type Author,
  bigEndian,
  type Contribution,
  type Contributions,
  contributionHash,
  Reader,
  writeContribution,
  writeContributions,
} from './contributions.js';
import {
  type Groups,
  hashedPoint,
  hashedPoints,
  openGroups,
  plainPoints,
  readPoints,
  type SetupCurve,
  times,
} from './groups.js';
import { COPIED_BYTES, copyBytes, SectionWriter, section } from './key-writer.js';
import { multiples, oddRoot, PointTransform, rootOf } from './point-transform.js';
import { type Run, type SetupOptions, setupOptions, writeBy } from './run.js';

/** A challenge that is contributed to. */
export interface ChallengeInput {
  /** The file, as `exportChallenge`, `exportPowersChallenge` and snarkjs write it. */
  readonly challenge: FileOrigin;
  /** The curve of its points, which the file does not name. */
  readonly curve: SetupCurve;
}

/** The response to a challenge. */
export interface ContributedChallenge<Bytes extends Uint8Array | undefined = Uint8Array | undefined> {
  /** The file; undefined if it went to a sink. */
  readonly response: Bytes;
  /** Hash of the contribution, 64 bytes: its author publishes it. */
  readonly hash: OwnBytes;
}

/** A response that becomes a key. */
export interface ResponseInput {
  /** The key that the challenge was exported from. */
  readonly zkey: FileOrigin;
  /** The response to it. */
  readonly response: FileOrigin;
  /** Name of the authors that the response adds; the key keeps 64 characters of it. */
  readonly name?: string | undefined;
}

const challengeTable = {
  of: 'contributeToChallenge and contributeToPowersChallenge',
  rows: {
    challenge: { kind: 'any', isRequired: true },
    curve: { kind: 'choice', range: ['bn254', 'bls12-381'], isRequired: true },
  },
} as const satisfies OptionTable<ChallengeInput>;

const responseTable = {
  of: 'importResponse',
  rows: {
    zkey: { kind: 'any', isRequired: true },
    response: { kind: 'any', isRequired: true },
    name: { kind: 'text' },
  },
} as const satisfies OptionTable<ResponseInput>;

/** Points of a challenge after its first six, in order, and the number of their section in a key. */
const partNames = ['ic', 'h', 'c', 'a', 'b1', 'b2'] as const;

type PartName = (typeof partNames)[number];

const groupOf = (name: PartName): 'g1' | 'g2' => (name === 'b2' ? 'g2' : 'g1');

const COUNT_BYTES = 4;

/**
 * Writes a Groth16 key as a challenge, for programs of bellman's ceremonies. The bytes are those of
 * snarkjs's `zKey.exportBellman`.
 *
 * @param source a `.zkey` of Groth16
 * @returns the challenge; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the section; `aborted`; `unsupported-device` without
 *   WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { exportChallenge } from 'webgpu-msm/setup';
 *
 * const challenge = await exportChallenge(await openFile('ceremony.zkey'));
 * console.log(challenge.length > 0); // true
 * ```
 */
export function exportChallenge(
  source: FileOrigin,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function exportChallenge(source: FileOrigin, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function exportChallenge(source: FileOrigin, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const options = readOptions(setupOptions, given);
  const { zkey, groups, points, contributions } = await openKey(source, options);
  const { g1, g2, scale, order } = groups;
  const { sections, domainSize } = zkey;
  const written = (name: PartName): number => (name === 'h' ? domainSize - 1 : sections[name].count);
  const total = partNames.reduce((sum, name) => sum + written(name), 0);
  const { bytes } = await writeBy(
    options,
    { phase: 'export', total, tables: tablesOf(groups, domainSize) },
    async (run, output) => {
      const { alpha1, beta1, beta2, gamma2, delta1, delta2 } = points;
      for (const point of [alpha1, beta1]) await output.write(hashedPoint(g1, point));
      for (const point of [beta2, gamma2]) await output.write(hashedPoint(g2, point));
      await output.write(hashedPoint(g1, delta1));
      await output.write(hashedPoint(g2, delta2));
      for (const name of partNames) {
        const curve = groups[groupOf(name)];
        const { count } = sections[name];
        const what = `zkey: section ${section[name]} (${sections[name].name})`;
        const isQuotient = name === 'h';
        await output.write(bigEndian(written(name)));
        // Σ_j w^(2i·j)·L_(2j+1)(τ) with w of order 2n is −w^(−i)/2 times (τ^n − 1)·τ^i
        const words = isQuotient
          ? await transformed(
              run,
              g1,
              scale,
              { n: domainSize, isInverse: false },
              await wordsOf(sections.h, 0, count),
              what,
            )
          : null;
        const factors = isQuotient ? { first: order - 2n, step: oddRoot(domainSize, order) } : { first: 1n, step: 1n };
        await run.inRounds(written(name), async (from, to) => {
          const { pointWords } = curve;
          const some = words?.subarray(from * pointWords, to * pointWords) ?? (await wordsOf(sections[name], from, to));
          const input = { points: some, scale, scales: [1n], from, ...factors };
          const [plain] = await multiples(run, curve, input, what);
          await output.write(hashedPoints(curve, plain as Uint32Array<ArrayBuffer>));
          run.progress(to - from);
        });
      }
      const listed = contributions.all.map((each) => contributionBytes(groups, each));
      await output.write(joined([contributions.circuitHash, bigEndian(listed.length), ...listed]));
    },
  );
  return bytes;
}

/**
 * Contributes to a challenge: one step of the second phase of a ceremony, as `contribute` takes it for
 * a `.zkey`. The secret is drawn here, never leaves this call, and its bytes are overwritten.
 *
 * @throws MsmError `bad-argument` naming the argument, or the part of the challenge; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { contributeToChallenge } from 'webgpu-msm/setup';
 *
 * const challenge = await openFile('challenge');
 * const author = { entropy: 'dice: 6 2 5 1 1 4' };
 * const { response, hash } = await contributeToChallenge({ challenge, curve: 'bn254' }, author);
 * console.log(response.length > challenge.byteLength, hash.length); // true 64
 * ```
 */
export function contributeToChallenge(
  input: ChallengeInput,
  contribution?: Pick<ContributionInput, 'entropy'>,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedChallenge<OwnBytes>>;
export function contributeToChallenge(
  input: ChallengeInput,
  contribution: Pick<ContributionInput, 'entropy'>,
  options: SetupOptions,
): Promise<ContributedChallenge>;
export async function contributeToChallenge(
  input: ChallengeInput,
  contribution: Pick<ContributionInput, 'entropy'> = {},
  given: SetupOptions = {},
): Promise<ContributedChallenge> {
  const { drawn, options, groups, file } = await openChallenge(input, contribution, given);
  const { g1, g2, order } = groups;
  const { parts, points, contributions } = await readParameters(file, groups);
  const total = parts.h.count + parts.c.count;
  const { bytes, result } = await writeBy(
    options,
    { phase: 'contribute', total, tables: tablesOf(groups, 0) },
    (run, output) =>
      withStream(drawn, run, async (stream) => {
        const next = { delta1: points.delta1, stream, author: drawn.author, pause: run.pause };
        const { k, added } = await nextContribution(groups, contributions, next);
        await copyBytes(output, file, [0, 2 * (g1.pointBytes + g2.pointBytes)], run);
        await output.write(hashedPoint(g1, added.delta));
        await output.write(hashedPoint(g2, await times(g2, k, points.delta2, run.pause)));
        const factors = { first: invert(k, order), step: 1n };
        for (const part of partNames) {
          const { at, count, curve } = parts[part];
          const isMultiplied = part === 'h' || part === 'c';
          const end = isMultiplied ? at : at + count * curve.pointBytes;
          await copyBytes(output, file, [at - COUNT_BYTES, end], run);
          if (!isMultiplied) continue;
          await run.inRounds(count, async (from, to) => {
            const words = await readPart(file, parts[part], from, to);
            const input = { points: words, scale: 1n, scales: [1n], from, ...factors };
            const [plain] = await multiples(run, curve, input, `challenge: ${part.toUpperCase()}`);
            await output.write(hashedPoints(curve, plain as Uint32Array<ArrayBuffer>));
            run.progress(to - from);
          });
        }
        const { circuitHash, all, bytes: before } = contributions;
        const listed = joined([before, contributionBytes(groups, added)]);
        await output.write(joined([circuitHash, bigEndian(all.length + 1), listed]));
        return contributionHash(groups, added);
      }),
  );
  return { response: bytes, hash: result };
}

/**
 * Makes a key of the response to a challenge that was exported from a key. The response must begin with
 * the contributions of that key; whether the others are right is for `verifyKey` to say. The bytes are
 * those of snarkjs's `zKey.importBellman`.
 *
 * @returns the `.zkey`; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the file and what is wrong in it; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { importResponse } from 'webgpu-msm/setup';
 *
 * const [zkey, response] = [await openFile('ceremony.zkey'), await openFile('response')];
 * const next = await importResponse({ zkey, response, name: 'Ada' });
 * console.log(next.length > zkey.byteLength); // true
 * ```
 */
export function importResponse(
  input: ResponseInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function importResponse(input: ResponseInput, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function importResponse(input: ResponseInput, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const {
    zkey: source,
    response,
    name = null,
  } = readOptions(responseTable, input, { argument: 'input', path: 'input.' });
  const options = readOptions(setupOptions, given);
  const { zkey, groups, points: before, contributions } = await openKey(source, options);
  const { g1, scale, order } = groups;
  const { domainSize } = zkey;
  const file = await openPart('response', response, options);
  const { parts, points, contributions: all } = await readParameters(file, groups);
  for (const part of partNames) {
    const expected = part === 'h' ? domainSize - 1 : zkey.sections[part].count;
    if (parts[part].count === expected) continue;
    throw badArgument(
      `response: ${part.toUpperCase()} has ${parts[part].count} points, and the key's circuit ${expected}`,
    );
  }
  const authors = authorsOf(groups, contributions, all, name);
  const total = parts.h.count + parts.c.count;
  const { bytes } = await writeBy(
    options,
    { phase: 'import', total, tables: tablesOf(groups, domainSize) },
    async (run, output) => {
      const writer = await SectionWriter.begin(output, 'zkey', 10);
      const old = fileOf(zkey);
      await writer.header(groups, zkey, { ...before, delta1: points.delta1, delta2: points.delta2 });
      await writer.copy(old, section.ic, run);
      await writer.copy(old, section.coefficients, run);
      const scales = { scale: 1n, scales: [scale] };
      const factors = { first: order - invert(2n, order), step: invert(oddRoot(domainSize, order), order) };
      // the point of τ^(n − 1) is missing, and counts as infinity
      const powers = new Uint32Array(parts.h.count * g1.pointWords);
      await run.inRounds(parts.h.count, async (from, to) => {
        const points = await readPart(file, parts.h, from, to);
        const [some] = await multiples(run, g1, { points, ...scales, from, ...factors }, 'response: H');
        powers.set(some as Uint32Array, from * g1.pointWords);
        run.progress(to - from);
      });
      const odd = await transformed(run, g1, scale, { n: domainSize, isInverse: true }, powers, 'response: H');
      await writer.whole(section.h, new Uint8Array(odd.buffer));
      await writer.section(section.c, parts.c.count * g1.pointBytes);
      await run.inRounds(parts.c.count, async (from, to) => {
        const points = await readPart(file, parts.c, from, to);
        const [some] = await multiples(run, g1, { points, ...scales, from, first: 1n, step: 1n }, 'response: C');
        await writer.write(new Uint8Array((some as Uint32Array<ArrayBuffer>).buffer));
        run.progress(to - from);
      });
      for (const id of [section.a, section.b1, section.b2]) await writer.copy(old, id, run);
      const listed = all.all.map((each, i) => writeContribution(groups, { ...each, ...(authors[i] as Author) }));
      await writer.whole(section.contributions, writeContributions(all.circuitHash, listed.length, joined(listed)));
    },
  );
  return bytes;
}

/** Returns the author of each contribution of a response. @throws MsmError `bad-argument` if it is of another key */
const authorsOf = (
  groups: Groups,
  before: Contributions,
  after: Contributions,
  name: string | null,
): readonly Author[] => {
  if (!sameBytes(before.circuitHash, after.circuitHash)) throw badArgument('response: it is of another circuit');
  if (after.all.length < before.all.length) {
    throw badArgument(
      `response: it has ${after.all.length} contributions, and the key has ${before.all.length} already`,
    );
  }
  return after.all.map((each, i) => {
    const old = before.all[i];
    if (old === undefined) return { name, beacon: null };
    if (sameBytes(contributionBytes(groups, old), contributionBytes(groups, each))) return old;
    throw badArgument(`response: contribution ${i} is not that of the key`);
  });
};

/** Points of a challenge, at their place. */
interface Part {
  readonly curve: CurveContext;
  readonly at: number;
  readonly count: number;
}

/** A challenge or a response. */
interface Parameters {
  readonly parts: Readonly<Record<PartName, Part>>;
  readonly points: { readonly delta1: Affine; readonly delta2: Affine };
  readonly contributions: Contributions;
}

/**
 * Reads the arguments of a contribution to a challenge of either phase, and opens the challenge.
 *
 * @throws MsmError `bad-argument`
 */
export const openChallenge = async (
  input: ChallengeInput,
  contribution: Pick<ContributionInput, 'entropy'>,
  given: SetupOptions,
) => {
  const { challenge, curve } = readOptions(challengeTable, input, { argument: 'input', path: 'input.' });
  const drawn = readEntropy(contribution);
  const options = readOptions(setupOptions, given);
  const groups = await openGroups(curve);
  return { drawn, options, groups, file: await openPart('challenge', challenge, options) };
};

/** Opens a challenge or a response. @throws MsmError `bad-argument` */
export const openPart = async (what: string, origin: FileOrigin, { signal }: SetupOptions): Promise<OpenFile> =>
  openFile(what, await openOrigin(what, origin, { signal, inParts: true }), signal);

/** Reads the places and the transcript of a challenge. @throws MsmError `bad-argument` if it is cut off */
const readParameters = async (file: OpenFile, groups: Groups): Promise<Parameters> => {
  const { g1, g2 } = groups;
  const read = async (at: number, bytes: number, what: string): Promise<Uint8Array> => {
    if (at + bytes > file.byteLength) throw badArgument(`${file.what}: ${what} is cut off`);
    return readRange(file, at, at + bytes);
  };
  let at = 2 * (g1.pointBytes + g2.pointBytes);
  const deltas = await read(at, g1.pointBytes + g2.pointBytes, 'delta');
  const point = (curve: CurveContext, bytes: Uint8Array, what: string): Affine =>
    readPoints(curve, 1n, new Uint8Array(plainPoints(curve, bytes).buffer), `${file.what}: ${what}`)[0] as Affine;
  const points = {
    delta1: point(g1, deltas.subarray(0, g1.pointBytes), 'delta1'),
    delta2: point(g2, deltas.subarray(g1.pointBytes), 'delta2'),
  };
  at += deltas.length;
  const parts: Partial<Record<PartName, Part>> = {};
  for (const name of partNames) {
    const curve = groups[groupOf(name)];
    const count = numbersOf(await read(at, COUNT_BYTES, name.toUpperCase())).getUint32(0);
    parts[name] = { curve, at: at + COUNT_BYTES, count };
    at += COUNT_BYTES + count * curve.pointBytes;
  }
  const what = `${file.what}: the list of contributions`;
  const reader = new Reader(await read(at, Math.max(0, file.byteLength - at), 'the list of contributions'), what);
  const circuitHash = reader.take(HASH_BYTES);
  const count = numbersOf(reader.take(COUNT_BYTES)).getUint32(0);
  const start = reader.at;
  const all: Contribution[] = [];
  for (let i = 0; i < count; i++) {
    const next = (curve: CurveContext, name: string): Affine =>
      point(curve, reader.take(curve.pointBytes), `contribution ${i}: ${name}`);
    const own = { delta: next(g1, 'delta'), s: next(g1, 's'), sx: next(g1, 'sx'), tx: next(g2, 'tx') };
    all.push({ ...own, transcript: reader.take(HASH_BYTES), name: null, beacon: null });
  }
  if (reader.left > 0) throw badArgument(`${what} has ${reader.left} bytes too many`);
  reader.at = start;
  const contributions = { circuitHash, all, bytes: reader.take(reader.left) };
  return { parts: parts as Record<PartName, Part>, points, contributions };
};

/** Reads points of a challenge. @returns x‖y of each, little-endian */
export const readPart = async (
  file: OpenFile,
  { curve, at }: Pick<Part, 'curve' | 'at'>,
  from: number,
  to: number,
): Promise<Uint32Array> =>
  plainPoints(curve, await readRange(file, at + from * curve.pointBytes, at + to * curve.pointBytes));

/** Returns the bytes of a contribution, without its author. */
const contributionBytes = ({ g1, g2 }: Groups, { delta, s, sx, tx, transcript }: Contribution): Uint8Array =>
  joined([...[delta, s, sx].map((each) => hashedPoint(g1, each)), hashedPoint(g2, tx), transcript]);

/** The tables of a transform: points H before it, within it, and after it; and what is copied in parts. */
const tablesOf = ({ g1, g2 }: Groups, domainSize: number) => ({
  bytes: 3 * domainSize * g1.pointBytes + 2 * COPIED_BYTES,
  pointBytes: g2.pointBytes,
});

/** Transforms n points; the inverse one divides by n. */
const transformed = (
  run: Run,
  curve: CurveContext,
  scale: bigint,
  { n, isInverse }: { readonly n: number; readonly isInverse: boolean },
  points: Uint32Array,
  what: string,
): Promise<Uint32Array<ArrayBuffer>> => {
  const { order } = curve;
  const root = rootOf(n, order);
  const shape = isInverse ? { root: invert(root, order), factor: invert(BigInt(n), order) } : { root, factor: 1n };
  return new PointTransform(curve, scale, { power: Math.log2(n), ...shape }, run).of(points, what);
};

/** Reads points of a key, aligned. */
const wordsOf = async (
  points: { points(from: number, to: number): Promise<Uint8Array> },
  from: number,
  to: number,
): Promise<Uint32Array> => new Uint32Array((await points.points(from, to)).slice().buffer);
