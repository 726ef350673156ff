/** Contributions to a Groth16 key: δ is multiplied by a secret k, and the points of C and H by 1/k. */
import type { OwnBytes } from '../api/values.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument, show } from '../errors.js';
import { invert } from '../field/modulus.js';
import { openOrigin } from '../formats/file-origin.js';
import type { Output } from '../formats/sink.js';
import { type FileOrigin, joined, type PointSection } from '../formats/source.js';
import { fileOf, type Groth16Zkey } from '../formats/zkey.js';
// From the entry, so that the build leaves in formats.js what both share.
import { openZkey } from '../formats.js';
import { type OptionTable, readOptions } from '../option-table.js';
import {
  type Author,
  beginTranscript,
  type Contribution,
  type Contributions,
  contributionHash,
  hashContribution,
  readContributions,
  transcriptWith,
  writeContribution,
  writeContributions,
} from './contributions.js';
import { type Groups, openGroups, type Pause, readPoints, times } from './groups.js';
import { COPIED_BYTES, type HeaderPoints, SectionWriter, section } from './key-writer.js';
import { multiples } from './point-transform.js';
import { beaconStream, RandomStream, secretStream } from './randomness.js';
import { type Run, type RunOptions, type SetupOptions, setupOptions, writeBy } from './run.js';

/** The part of a contribution that its author chooses. */
export interface ContributionInput {
  /** Name of the author, which the key keeps: 64 characters of it. */
  readonly name?: string | undefined;
  /**
   * Randomness of the author: any text or bytes. It is hashed together with 64 bytes of the operating
   * system's generator, so that it can only add to these.
   */
  readonly entropy?: string | Uint8Array | undefined;
}

/** A public beacon that ends a ceremony. */
export interface BeaconInput {
  /** Name, which the key keeps: 64 characters of it. */
  readonly name?: string | undefined;
  /** The value of the beacon: 1 to 255 bytes, or their hexadecimal digits. */
  readonly beacon: string | Uint8Array;
  /** Logarithm of the number of times that the value is hashed, from 10 to 63. */
  readonly iterations: number;
}

/** A key with one more contribution. */
export interface ContributedKey<Bytes extends Uint8Array | undefined = Uint8Array | undefined> {
  /** The `.zkey`; undefined if it went to a sink. */
  readonly zkey: Bytes;
  /** Hash of the contribution, 64 bytes: its author publishes it. */
  readonly hash: OwnBytes;
}

const inputTable = {
  of: 'contribute and contributeToPowers',
  rows: { name: { kind: 'text' }, entropy: { kind: 'any' } },
} as const satisfies OptionTable<ContributionInput>;

const entropyTable = {
  of: 'contributeToChallenge and contributeToPowersChallenge',
  rows: { entropy: inputTable.rows.entropy },
} as const satisfies OptionTable<Pick<ContributionInput, 'entropy'>>;

const beaconTable = {
  of: 'applyBeacon and applyBeaconToPowers',
  rows: {
    name: { kind: 'text' },
    beacon: { kind: 'any', isRequired: true },
    iterations: { kind: 'integer', range: [10, 63], isRequired: true },
  },
} as const satisfies OptionTable<BeaconInput>;

const asArgument = { argument: 'contribution', path: 'contribution.' } as const;

/** A key that is contributed to. */
interface OpenKey {
  readonly zkey: Groth16Zkey;
  readonly groups: Groups;
  readonly points: HeaderPoints;
  readonly contributions: Contributions;
}

/**
 * Contributes to a Groth16 key: one step of the second phase of a ceremony. Whoever learns the secrets
 * of all contributions can prove false statements, so one author who forgets theirs suffices. The
 * secret is drawn here, never leaves this call, and its bytes are overwritten.
 *
 * @param source a `.zkey` of Groth16 with contributions, as `newKey` and snarkjs write it
 * @throws MsmError `bad-argument` naming the argument or the section; `aborted`;
 *   `unsupported-device` without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { contribute } from 'webgpu-msm/setup';
 *
 * const key = await openFile('ceremony.zkey');
 * const { zkey, hash } = await contribute(key, { name: 'Ada', entropy: 'dice: 6 2 5 1 1 4' });
 * console.log(zkey.length > key.byteLength, hash.length); // true 64
 * ```
 */
export function contribute(
  source: FileOrigin,
  contribution?: ContributionInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedKey<OwnBytes>>;
export function contribute(
  source: FileOrigin,
  contribution: ContributionInput,
  options: SetupOptions,
): Promise<ContributedKey>;
export async function contribute(
  source: FileOrigin,
  contribution: ContributionInput = {},
  options: SetupOptions = {},
): Promise<ContributedKey> {
  return apply(source, options, readSecret(contribution));
}

/**
 * Applies a public beacon to a Groth16 key, as the last contribution of a ceremony. Nothing about it is
 * secret: everybody can repeat it. It makes sure that no author has chosen the key.
 *
 * @param source a `.zkey` of Groth16 with contributions
 * @throws MsmError as `contribute`
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { applyBeacon } from 'webgpu-msm/setup';
 *
 * const beacon = '000000000000000000029cba5a5ab5a0f4b0ac5d5f1f1ee8e1b0f9e9b3cf1c56'; // of a block
 * const { hash } = await applyBeacon(await openFile('ceremony.zkey'), { beacon, iterations: 10 });
 * console.log(hash.length); // 64
 * ```
 */
export function applyBeacon(
  source: FileOrigin,
  beacon: BeaconInput,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<ContributedKey<OwnBytes>>;
export function applyBeacon(source: FileOrigin, beacon: BeaconInput, options: SetupOptions): Promise<ContributedKey>;
export async function applyBeacon(
  source: FileOrigin,
  beacon: BeaconInput,
  options: SetupOptions = {},
): Promise<ContributedKey> {
  return apply(source, options, readBeacon(beacon));
}

/** A contribution that is to be made. */
export interface Drawn {
  readonly author: Author;
  /** Begins the stream of its random numbers. */
  begin(run: Run): Promise<RandomStream>;
}

/** Calls `work` with the stream of a contribution, which is overwritten afterwards. */
export const withStream = async <Result>(
  { begin }: Drawn,
  run: Run,
  work: (stream: RandomStream) => Promise<Result>,
): Promise<Result> => {
  const stream = await begin(run);
  try {
    return await work(stream);
  } finally {
    stream.wipe();
  }
};

/** Reads a contribution. @throws MsmError `bad-argument` */
export const readSecret = (contribution: ContributionInput): Drawn =>
  drawnFrom(readOptions(inputTable, contribution, asArgument));

/** Reads a contribution whose author a file does not name. @throws MsmError `bad-argument` */
export const readEntropy = (contribution: Pick<ContributionInput, 'entropy'>): Drawn =>
  drawnFrom(readOptions(entropyTable, contribution, asArgument));

const drawnFrom = ({ name, entropy = '' }: ContributionInput): Drawn => {
  if (typeof entropy !== 'string' && !(entropy instanceof Uint8Array)) {
    // no part of a value that may be secret
    throw badArgument('contribution.entropy must be a string or a Uint8Array');
  }
  return { author: { name: name ?? null, beacon: null }, begin: () => secretStream(entropy) };
};

/** Reads a beacon. @throws MsmError `bad-argument` */
export const readBeacon = (beacon: BeaconInput): Drawn => {
  const { name, beacon: value, iterations } = readOptions(beaconTable, beacon, { argument: 'beacon', path: 'beacon.' });
  const bytes = readValue(value);
  return {
    author: { name: name ?? null, beacon: { bytes, iterations } },
    begin: (run) => beaconStream(bytes, iterations, run.pause),
  };
};

/** Reads the value of a beacon. @throws MsmError `bad-argument` */
const readValue = (value: unknown): Uint8Array => {
  const rule = 'beacon.beacon must be 1 to 255 bytes, or their hexadecimal digits';
  if (typeof value === 'string') {
    if (!/^([0-9a-f]{2}){1,255}$/i.test(value)) throw badArgument(`${rule}, got ${show(value)}`);
    return Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  }
  if (!(value instanceof Uint8Array) || value.length < 1 || value.length > 255) {
    throw badArgument(`${rule}, got ${show(value)}`);
  }
  return value.slice();
};

/** Applies a contribution from a stream of random numbers. */
const apply = async (source: FileOrigin, given: SetupOptions, drawn: Drawn): Promise<ContributedKey> => {
  const options = readOptions(setupOptions, given);
  const key = await openKey(source, options);
  const { c, h } = key.zkey.sections;
  // sections are copied in parts
  const tables = { bytes: 2 * COPIED_BYTES, pointBytes: c.pointBytes };
  const call = { phase: 'contribute', total: c.count + h.count, tables };
  const { bytes, result } = await writeBy(options, call, (run, output) =>
    withStream(drawn, run, (stream) => multiply(key, stream, drawn.author, run, output)),
  );
  return { zkey: bytes, hash: result };
};

/** Opens a key. @throws MsmError `bad-argument` if it is none of Groth16 */
export const openKey = async (source: FileOrigin, { signal, onWarning }: RunOptions): Promise<OpenKey> => {
  const zkey = await openZkey(await openOrigin('zkey', source, { signal, inParts: true }), { signal, onWarning });
  if (zkey.protocol !== 'groth16') {
    throw badArgument(`zkey: the key is one of ${zkey.protocol}, which has no contributions; Groth16 has`);
  }
  const groups = await openGroups(zkey.curve);
  const { alpha1, beta1, beta2, gamma2, delta1, delta2 } = zkey.sections;
  const read = async (point: PointSection): Promise<Affine> =>
    readPoints(groups[point.group], groups.scale, await point.points(), `zkey: ${point.name}`)[0] as Affine;
  const points = {
    alpha1: await read(alpha1),
    beta1: await read(beta1),
    beta2: await read(beta2),
    gamma2: await read(gamma2),
    delta1: await read(delta1),
    delta2: await read(delta2),
  };
  return { zkey, groups, points, contributions: await readContributions(fileOf(zkey), groups) };
};

/** Draws a contribution and writes the key after it. @returns its hash */
const multiply = async (
  { zkey, groups, points, contributions }: OpenKey,
  stream: RandomStream,
  author: Author,
  run: Run,
  output: Output,
): Promise<Uint8Array<ArrayBuffer>> => {
  const { circuitHash, all } = contributions;
  const next = { delta1: points.delta1, stream, author, pause: run.pause };
  const { k, added } = await nextContribution(groups, contributions, next);
  const delta2 = await times(groups.g2, k, points.delta2, run.pause);
  const writer = await SectionWriter.begin(output, 'zkey', 10);
  const file = fileOf(zkey);
  await writer.header(groups, zkey, { ...points, delta1: added.delta, delta2 });
  for (const id of [section.ic, section.coefficients, section.a, section.b1, section.b2]) {
    await writer.copy(file, id, run);
  }
  const inverse = invert(k, groups.order);
  await writeMultiples(zkey.sections.c, section.c, inverse, { groups, run, writer });
  await writeMultiples(zkey.sections.h, section.h, inverse, { groups, run, writer });
  const bytes = joined([contributions.bytes, writeContribution(groups, added)]);
  await writer.whole(section.contributions, writeContributions(circuitHash, all.length + 1, bytes));
  return contributionHash(groups, added);
};

/** The key before a contribution, and where its secret and its name come from. */
interface NextContribution {
  readonly delta1: Affine;
  readonly stream: RandomStream;
  readonly author: Author;
  readonly pause: Pause;
}

/** Draws the secret k of a contribution, and the proof that its author knows k. */
export const nextContribution = async (
  groups: Groups,
  { circuitHash, all }: Contributions,
  { delta1, stream, author, pause }: NextContribution,
): Promise<{ readonly k: bigint; readonly added: Contribution }> => {
  const { g1, g2, order } = groups;
  const k = stream.element(order);
  const s = await stream.point(g1, pause);
  const sx = await times(g1, k, s, pause);
  const before = await beginTranscript(circuitHash);
  for (const each of all) hashContribution(before, groups, each);
  const transcript = transcriptWith(before, groups, s, sx);
  const tx = await times(g2, k, await pointOfTranscript(groups, transcript, pause), pause);
  const delta = await times(g1, k, delta1, pause);
  return { k, added: { delta, s, sx, tx, transcript, ...author } };
};

/** Returns the point of G2 that a transcript hashes to, of which nobody knows the logarithm. */
export const pointOfTranscript = ({ g2 }: Groups, transcript: Uint8Array, pause: Pause): Promise<Affine> =>
  new RandomStream(transcript).point(g2, pause);

/** Writes a section whose points are all multiplied by one scalar. */
const writeMultiples = async (
  points: PointSection,
  id: number,
  factor: bigint,
  { groups, run, writer }: { readonly groups: Groups; readonly run: Run; readonly writer: SectionWriter },
): Promise<void> => {
  const { g1, scale } = groups;
  await writer.section(id, points.byteLength);
  await run.inRounds(points.count, async (from, to) => {
    // aligned
    const bytes = (await points.points(from, to)).slice();
    const some = { points: new Uint32Array(bytes.buffer), scale, scales: [scale], from, first: factor, step: 1n };
    const [words] = await multiples(run, g1, some, `zkey: section ${id} (${points.name})`);
    await writer.write(new Uint8Array((words as Uint32Array<ArrayBuffer>).buffer));
    run.progress(to - from);
  });
};
