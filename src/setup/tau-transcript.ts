/**
 * The transcript of powers of tau, in section 7 of a `.ptau`: u32 number of contributions, and each as
 * the first points after it, its proof of knowledge of τ, α and β, a saved hash, the next challenge, and
 * its author. The response of a contribution is the hash of the challenge before, all points
 * compressed, and the proof; the next challenge is the hash of the response and all points.
 */
import type { CurveContext } from '../curves/curve.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument } from '../errors.js';
import { sectionOf } from '../formats/binfile.js';
import { joined, readRange } from '../formats/source.js';
import type { KeyFile } from '../formats/zkey.js';
import { Blake2b, blake2b, HASH_BYTES, SAVED_BYTES } from './blake2b.js';
import { type Author, Reader, readAuthor, u32, writeAuthor } from './contributions.js';
import { filePoint, type Groups, hashedPoint, type Pause, readPoints, times } from './groups.js';
import { RandomStream } from './randomness.js';

/** Secrets of a contribution, in the order of their proofs. */
export const secretNames = ['tau', 'alpha', 'beta'] as const;

/** The proof that an author knows a secret k. */
export interface KnowledgeProof {
  /** A random point S of G1. */
  readonly s: Affine;
  /** k·S. */
  readonly sx: Affine;
  /** k·T in G2, with the point T that the challenge and S and k·S hash to. */
  readonly tx: Affine;
}

/** The first points of the sections after a contribution. */
export interface FirstPoints {
  /** τ·G1. */
  readonly tauG1: Affine;
  /** τ·G2. */
  readonly tauG2: Affine;
  /** α·G1. */
  readonly alphaG1: Affine;
  /** β·G1. */
  readonly betaG1: Affine;
  /** β·G2. */
  readonly betaG2: Affine;
}

/** A contribution to powers of tau. */
export interface PowersContribution extends FirstPoints, Author {
  /** Proofs for τ, α and β. */
  readonly proofs: readonly [KnowledgeProof, KnowledgeProof, KnowledgeProof];
  /** The hash of the response before the proofs. */
  readonly saved: Uint8Array;
  /** Challenge of the next contribution. */
  readonly nextChallenge: Uint8Array;
}

/** Groups of the first points, in the order of files. */
const firstPoints = [
  ['tauG1', 'g1'],
  ['tauG2', 'g2'],
  ['alphaG1', 'g1'],
  ['betaG1', 'g1'],
  ['betaG2', 'g2'],
] as const;

/** Section 7. */
export interface PowersTranscript {
  readonly all: readonly PowersContribution[];
  /** Bytes of all contributions. */
  readonly bytes: Uint8Array;
}

/** Reads section 7. @throws MsmError `bad-argument` naming the contribution */
export const readTranscript = async ({ file, sections }: KeyFile, groups: Groups): Promise<PowersTranscript> => {
  const what = 'ptau: section 7 (contributions)';
  const { at, byteLength } = sectionOf(file, sections, 7, 'contributions');
  const reader = new Reader(await readRange(file, at, at + byteLength), what);
  const count = reader.u32();
  const start = reader.at;
  const all: PowersContribution[] = [];
  for (let i = 0; i < count; i++) all.push(readContribution(reader, groups, `ptau: contribution ${i}`));
  if (reader.left > 0) throw badArgument(`${what} has ${reader.left} bytes too many`);
  reader.at = start;
  return { all, bytes: reader.take(reader.left) };
};

const readContribution = (reader: Reader, groups: Groups, what: string): PowersContribution => {
  const point = (group: 'g1' | 'g2', name: string): Affine => {
    const curve = groups[group];
    return readPoints(curve, groups.scale, reader.take(curve.pointBytes), `${what}: ${name}`)[0] as Affine;
  };
  const first = Object.fromEntries(firstPoints.map(([name, group]) => [name, point(group, name)]));
  return {
    ...(first as unknown as FirstPoints),
    proofs: proofsBy(point),
    saved: reader.take(SAVED_BYTES),
    nextChallenge: reader.take(HASH_BYTES),
    ...readAuthor(reader, what),
  };
};

/** Returns proofs whose points `next` returns one after the other: all of G1 come first. */
export const proofsBy = (next: (group: 'g1' | 'g2', name: string) => Affine): PowersContribution['proofs'] => {
  const inG1 = secretNames.map((name) => ({ s: next('g1', `${name} s`), sx: next('g1', `${name} sx`) }));
  const proofs = inG1.map((each, i) => ({ ...each, tx: next('g2', `${secretNames[i]} tx`) }));
  return proofs as unknown as PowersContribution['proofs'];
};

/** Returns the bytes of a contribution. */
export const writeContribution = (groups: Groups, own: PowersContribution): Uint8Array => {
  const { scale } = groups;
  return joined([
    ...firstPoints.map(([name, group]) => filePoint(groups[group], scale, own[name])),
    ...proofPoints(groups, own.proofs, (curve, point) => filePoint(curve, scale, point)),
    own.saved,
    own.nextChallenge,
    writeAuthor(own),
  ]);
};

/** Returns section 7. */
export const writeTranscript = (count: number, contributions: Uint8Array): Uint8Array =>
  joined([u32(count), contributions]);

/** Returns the points of proofs: all of G1 come first. */
const proofPoints = (
  { g1, g2 }: Groups,
  proofs: PowersContribution['proofs'],
  write: (curve: CurveContext, point: Affine) => Uint8Array,
): Uint8Array[] => [
  ...proofs.flatMap(({ s, sx }) => [write(g1, s), write(g1, sx)]),
  ...proofs.map(({ tx }) => write(g2, tx)),
];

/** Returns proofs as responses have them. */
export const hashedProofs = (groups: Groups, proofs: PowersContribution['proofs']): Uint8Array<ArrayBuffer> =>
  joined(proofPoints(groups, proofs, hashedPoint));

/** Ends the hash of a response by its proofs. */
export const endResponse = (
  response: Blake2b,
  groups: Groups,
  proofs: PowersContribution['proofs'],
): Uint8Array<ArrayBuffer> => response.update(hashedProofs(groups, proofs)).digest();

/** Returns the hash by which a contribution is published. */
export const responseHash = async (groups: Groups, own: PowersContribution): Promise<Uint8Array<ArrayBuffer>> =>
  endResponse(await Blake2b.resume(own.saved), groups, own.proofs);

/** Points that are hashed at a time. */
const POINTS_AT_ONCE = 2 ** 12;

/** Returns the challenge of the first contribution: the hash of powers of 1. */
export const firstChallenge = async (
  { g1, g2 }: Groups,
  power: number,
  pause: Pause,
): Promise<Uint8Array<ArrayBuffer>> => {
  const hash = (await Blake2b.begin()).update(await blake2b());
  const repeat = async (curve: CurveContext, count: number): Promise<void> => {
    const point = hashedPoint(curve, curve.generator);
    const block = joined(new Array<Uint8Array>(Math.min(count, POINTS_AT_ONCE)).fill(point));
    for (let from = 0; from < count; from += POINTS_AT_ONCE) {
      hash.update(block.subarray(0, Math.min(count - from, POINTS_AT_ONCE) * point.length));
      await pause();
    }
  };
  const n = 2 ** power;
  await repeat(g1, 2 * n - 1);
  await repeat(g2, n);
  await repeat(g1, n);
  await repeat(g1, n);
  await repeat(g2, 1);
  return hash.digest();
};

/** Returns the challenge after the last contribution, if there is one; else the first one. */
export const challengeAfter = async (
  last: PowersContribution | undefined,
  groups: Groups,
  power: number,
  pause: Pause,
): Promise<Uint8Array> => last?.nextChallenge ?? firstChallenge(groups, power, pause);

/** The secrets τ, α and β of a contribution, and their proofs. */
export interface DrawnSecrets {
  readonly secrets: readonly [tau: bigint, alpha: bigint, beta: bigint];
  readonly proofs: PowersContribution['proofs'];
}

/** Draws the secrets of a contribution. */
export const drawSecrets = async (
  groups: Groups,
  challenge: Uint8Array,
  stream: RandomStream,
  pause: Pause,
): Promise<DrawnSecrets> => {
  const { g1, g2, order } = groups;
  const secrets = secretNames.map(() => stream.element(order));
  const proofs: KnowledgeProof[] = [];
  for (const [i, k] of secrets.entries()) {
    const s = await stream.point(g1, pause);
    const sx = await times(g1, k, s, pause);
    const t = await pointOfChallenge(groups, i, challenge, { s, sx }, pause);
    proofs.push({ s, sx, tx: await times(g2, k, t, pause) });
  }
  return { secrets, proofs } as unknown as DrawnSecrets;
};

/** Returns the point T of G2 of a proof, of which nobody knows the logarithm. */
export const pointOfChallenge = async (
  { g1, g2 }: Groups,
  secret: number,
  challenge: Uint8Array,
  { s, sx }: Pick<KnowledgeProof, 's' | 'sx'>,
  pause: Pause,
): Promise<Affine> => {
  const hash = await blake2b(Uint8Array.of(secret), challenge, hashedPoint(g1, s), hashedPoint(g1, sx));
  return new RandomStream(hash).point(g2, pause);
};
