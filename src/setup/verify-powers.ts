/**
 * Verification of powers of tau: that contributions follow each other, that each section is the powers
 * of their product, and that prepared points are the Lagrange points of these. Sections are compared by
 * random combinations, whose pairings agree for other points with a chance below 2^−100.
 */
import type { FieldVector } from '../api/fields.js';
import type { Affine } from '../curves/jacobian.js';
import { assertNotAborted } from '../errors.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import { sectionOf } from '../formats/binfile.js';
import { openOrigin } from '../formats/file-origin.js';
import { type FileOrigin, type PointSection, readRange } from '../formats/source.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { VECTOR_BYTES } from '../proofs/key-vectors.js';
import { Blake2b } from './blake2b.js';
import { PointChecks, Refusal, randomFactors, sameBytes, sumOf, whyRefused } from './checks.js';
import { areEqual, hashedPoints, readPoints } from './groups.js';
import { planRounds, type Tables } from './memory.js';
import { lagrangeCount, lagrangeSections } from './powers.js';
import { type OpenPowers, openPowers } from './prepared-powers.js';
import { beaconStream } from './randomness.js';
import { Run, type RunOptions, runRows } from './run.js';
import {
  drawSecrets,
  type FirstPoints,
  firstChallenge,
  type KnowledgeProof,
  type PowersContribution,
  pointOfChallenge,
  readTranscript,
  responseHash,
  secretNames,
} from './tau-transcript.js';
import type { KeyContribution } from './verify-key.js';

/** The verdict about powers of tau. */
export interface PowersVerdict {
  /** Whether the file breaks no rule. */
  readonly isValid: boolean;
  /** The first rule that the file breaks; null if it is valid. */
  readonly why: string | null;
  /** Whether it is prepared for the second phase, and that was verified. */
  readonly isPrepared: boolean;
  /** Contributions in order, up to the first wrong one. */
  readonly contributions: readonly KeyContribution[];
}

const optionTable = { of: 'verifyPowers', rows: runRows } as const satisfies OptionTable<RunOptions>;

/**
 * Verifies powers of tau: all contributions, all points, and the points that are prepared for the second
 * phase, if there are any. A file to which nobody has contributed is not valid. Whether enough people
 * have contributed, and which of the hashes are theirs, is for the caller to judge.
 *
 * @param source a `.ptau`
 * @returns the verdict; bytes that are no `.ptau` are not valid
 * @throws MsmError `bad-argument` where the bytes of the file cannot be read; `aborted`; `unsupported-device`
 *   without WebAssembly; errors of the source and of the file system
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { verifyPowers } from 'webgpu-msm/setup';
 *
 * const { isValid, why, contributions } = await verifyPowers(await openFile('ceremony.ptau'));
 * console.log(isValid, why, contributions.length); // true null 1
 * ```
 */
export const verifyPowers = async (source: FileOrigin, given: RunOptions = {}): Promise<PowersVerdict> => {
  const options = readOptions(optionTable, given);
  assertNotAborted(options.signal);
  const contributions: KeyContribution[] = [];
  let isPrepared = false;
  // not within: a file that is not there is no wrong one
  const file = await openOrigin('ptau', source, { signal: options.signal, inParts: true });
  try {
    const opened = await openPowers(file, options);
    isPrepared = lagrangeSections.every(({ id }) => opened.sections.has(id));
    const plan = planRounds(options, options.memoryLimit, tablesOf(opened, isPrepared));
    const checks = await PointChecks.open(opened.groups, { ...options, maxWorkers: plan.workers });
    const { sections } = opened.ptau;
    const total = Object.values(sections).reduce((sum, { count }) => sum + count, 0);
    const run = new Run(options, 'verify', total, plan);
    try {
      const check = new PowersCheck(opened, checks, run);
      await check.run(contributions);
      if (isPrepared) await check.checkLagrange();
    } finally {
      await run.end();
      checks.destroy();
    }
    return { isValid: true, why: null, isPrepared, contributions };
  } catch (error) {
    const why = whyRefused(error, 'ptau');
    if (why === null) throw error;
    return { isValid: false, why, isPrepared: false, contributions };
  }
};

/** Bytes of an element of the largest domain: its polynomial and those of smaller ones, values, and their sum. */
const ELEMENT_BYTES = 256;

/** The tables of a verification: all prepared points of the largest domain. */
const tablesOf = ({ ptau, groups: { g1, g2 } }: OpenPowers, isPrepared: boolean): Tables => {
  const elements = isPrepared ? 2 ** (ptau.power + 1) : 0;
  return { bytes: elements * (ELEMENT_BYTES + 3 * g1.pointBytes), pointBytes: g2.pointBytes };
};

/** One verification. */
class PowersCheck {
  readonly #opened: OpenPowers;
  readonly #checks: PointChecks;
  readonly #run: Run;

  constructor(opened: OpenPowers, checks: PointChecks, run: Run) {
    this.#opened = opened;
    this.#checks = checks;
    this.#run = run;
  }

  /** Checks contributions and points. @throws Refusal naming the rule that the file breaks */
  async run(done: KeyContribution[]): Promise<void> {
    const { groups, ptau } = this.#opened;
    const { g1, g2 } = groups;
    const { all } = await readTranscript(this.#opened, groups);
    const last = all.at(-1);
    if (last === undefined) throw new Refusal('nobody has contributed');
    let before: Before = {
      ...{ tauG1: g1.generator, tauG2: g2.generator, alphaG1: g1.generator, betaG1: g1.generator },
      ...{
        betaG2: g2.generator,
        nextChallenge: await firstChallenge(groups, ptau.ceremonyPower, this.#run.pause),
      },
    };
    for (const [i, own] of all.entries()) {
      await this.#checkContribution(i, own, before);
      done.push({ name: own.name, hash: await responseHash(groups, own), beacon: own.beacon });
      before = own;
    }
    const next = (await Blake2b.begin()).update((done.at(-1) as KeyContribution).hash);
    await this.#checkPowers(last, next);
    // a file that was cut off does not have all points that were hashed
    if (ptau.power === ptau.ceremonyPower && !sameBytes(next.digest(), last.nextChallenge)) {
      throw new Refusal('the hash of the points is not the challenge after the last contribution');
    }
  }

  /** Checks that a contribution follows the one before. */
  async #checkContribution(i: number, own: PowersContribution, before: Before): Promise<void> {
    const refuse = (rule: string): never => {
      throw new Refusal(`contribution ${i}: ${rule}`);
    };
    const { tauG1, tauG2, alphaG1, betaG1, betaG2, proofs } = own;
    const first = [tauG1, alphaG1, betaG1, ...proofs.flatMap(({ s, sx }) => [s, sx])];
    const second = [tauG2, betaG2, ...proofs.map(({ tx }) => tx)];
    if (!(await this.#checks.areInGroup(first, second))) refuse('a point is not in the group of order r');
    if (own.beacon !== null && !(await this.#isOfBeacon(own, before))) refuse('it is not that of its beacon');
    const ratios: Ratio[] = [];
    for (const [k, { s, sx, tx }] of proofs.entries()) {
      const t = await pointOfChallenge(this.#opened.groups, k, before.nextChallenge, { s, sx }, this.#run.pause);
      ratios.push([t, tx]);
      if (!(await this.#checks.haveSameRatio([s, sx], [t, tx]))) {
        refuse(`nobody has proved to know its secret ${secretNames[k]}`);
      }
    }
    const [ofTau, ofAlpha, ofBeta] = ratios as [Ratio, Ratio, Ratio];
    const [{ s, sx }, , beta] = proofs;
    const rules = [
      ['tauG1', [before.tauG1, tauG1], ofTau],
      ['tauG2', [s, sx], [before.tauG2, tauG2]],
      ['alphaG1', [before.alphaG1, alphaG1], ofAlpha],
      ['betaG1', [before.betaG1, betaG1], ofBeta],
      ['betaG2', [beta.s, beta.sx], [before.betaG2, betaG2]],
    ] as const;
    for (const [name, inG1, inG2] of rules) {
      if (!(await this.#checks.haveSameRatio(inG1, inG2))) refuse(`${name} is not multiplied by its secret`);
    }
  }

  async #isOfBeacon({ beacon, proofs }: PowersContribution, before: Before): Promise<boolean> {
    const { groups } = this.#opened;
    const { g1, g2 } = groups;
    const { bytes, iterations } = beacon as NonNullable<PowersContribution['beacon']>;
    const stream = await beaconStream(bytes, iterations, this.#run.pause);
    const expected = await drawSecrets(groups, before.nextChallenge, stream, this.#run.pause);
    return proofs.every(({ s, sx, tx }, i) => {
      const other = expected.proofs[i] as KnowledgeProof;
      return areEqual(g1, s, other.s) && areEqual(g1, sx, other.sx) && areEqual(g2, tx, other.tx);
    });
  }

  /** Checks the sections of points, and hashes them. */
  async #checkPowers(last: PowersContribution, hash: Blake2b): Promise<void> {
    const { groups, ptau } = this.#opened;
    const { g1, g2 } = groups;
    const { tauG1, tauG2, alphaTauG1, betaTauG1, betaG2 } = ptau.sections;
    const inG1 = [g2.generator, last.tauG2] as const;
    const refuse = (section: PointSection, rule: string): never => {
      throw new Refusal(`section ${section.name}: ${rule}`);
    };
    const begins = (section: PointSection, points: readonly Affine[], expected: readonly Affine[]): void => {
      for (const [i, point] of expected.entries()) {
        if (!areEqual(groups[section.group], points[i] ?? null, point)) {
          refuse(section, `point ${i} is not that of the last contribution`);
        }
      }
    };
    const sections = [
      [tauG1, [g1.generator, last.tauG1]],
      [tauG2, [g2.generator, last.tauG2]],
      [alphaTauG1, [last.alphaG1]],
      [betaTauG1, [last.betaG1]],
    ] as const;
    for (const [section, expected] of sections) {
      const { low, high, first } = await this.#combine(section, hash);
      begins(section, first, expected);
      const areMultiples =
        section.group === 'g1'
          ? await this.#checks.haveSameRatio([low, high], inG1)
          : await this.#checks.haveSameRatio([g1.generator, last.tauG1], [low, high]);
      if (!areMultiples) refuse(section, 'the points are not powers of tau');
    }
    const { first } = await this.#combine(betaG2, hash);
    begins(betaG2, first, [last.betaG2]);
  }

  /**
   * Hashes a section, and combines its points with random numbers r.
   *
   * @returns Σ r_i·P_i and Σ r_i·P_(i+1), and the first two points
   */
  async #combine(
    section: PointSection,
    hash: Blake2b,
  ): Promise<{ readonly low: Affine; readonly high: Affine; readonly first: readonly Affine[] }> {
    const { groups } = this.#opened;
    const { scale } = groups;
    const { name, group, count, pointBytes } = section;
    const curve = groups[group];
    let [low, high]: Affine[] = [null, null];
    let first: readonly Affine[] = [];
    await this.#run.inRounds(count, async (from, to) => {
      // with the last point of the round before
      const start = Math.max(0, from - 1);
      const bytes = await section.points(start, to);
      if (from === 0) first = readPoints(curve, scale, bytes.slice(0, 2 * pointBytes), `ptau: ${name}`);
      await this.#hash(section, bytes.slice((from - start) * pointBytes), hash);
      const between = to - start - 1;
      if (between > 0) {
        const lists = [new Uint8Array(32 * (between + 1)), new Uint8Array(32 * (between + 1))] as const;
        const factors = randomFactors(between);
        lists[0].set(factors);
        lists[1].set(factors, 32);
        const [lower, higher] = await this.#checks.sums({ group, bytes, name }, lists);
        low = sumOf(curve, low as Affine, lower as Affine);
        high = sumOf(curve, high as Affine, higher as Affine);
      }
      this.#run.progress(to - from);
    });
    return { low: low as Affine, high: high as Affine, first };
  }

  /** Adds points to the hash of a challenge. */
  async #hash({ name, group }: PointSection, bytes: Uint8Array<ArrayBuffer>, hash: Blake2b): Promise<void> {
    const { groups } = this.#opened;
    const curve = groups[group];
    const count = bytes.length / curve.pointBytes;
    const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
    const [plain] = await this.#run.compute(
      curve,
      {
        ...{ points: new Uint32Array(bytes.buffer), scale: groups.scale, starts },
        ...{ which: new Uint32Array(count), multipliers: [1n], scales: [1n] },
      },
      `ptau: section ${name}`,
    );
    hash.update(hashedPoints(curve, plain as Uint32Array<ArrayBuffer>));
  }

  /**
   * Checks the Lagrange points of all domains: with a random polynomial r for each, Σ r(w^j)·L_j(τ) is
   * r(τ), and the sum of all r(τ) is a combination of powers.
   */
  async checkLagrange(): Promise<void> {
    const { groups, ptau, file, sections } = this.#opened;
    for (const { id, of, group, more } of lagrangeSections) {
      const powers = ptau.sections[of];
      const name = `${id} (Lagrange points of ${of})`;
      const curve = groups[group];
      const { at, byteLength } = sectionOf(file, sections, id, of);
      const largest = ptau.power + more;
      if (byteLength !== lagrangeCount(largest) * curve.pointBytes) {
        throw new Refusal(`section ${id} has ${byteLength} bytes of ${lagrangeCount(largest) * curve.pointBytes}`);
      }
      const fr = await createFieldEngine({
        ...{ field: `${groups.name}-fr`, backend: 'cpu', deviceOf: await this.#checks.engine(group) },
        memoryBudget: VECTOR_BYTES,
      });
      try {
        let sum: Affine = null;
        const polynomials: FieldVector[] = [];
        for (let power = 0; power <= largest; power++) {
          const n = 2 ** power;
          const numbers = randomFactors(n);
          // the largest domain has one more element than there are powers
          if (n > powers.count) numbers.fill(0, 32 * powers.count);
          const polynomial = await fr.load(numbers);
          const values = await fr.run((ops) => ops.keep(ops.ntt(polynomial)));
          const start = at + (n - 1) * curve.pointBytes;
          const bytes = await readRange(file, start, start + n * curve.pointBytes);
          const [part] = await this.#checks.sums({ group, bytes, name }, [values]);
          sum = sumOf(curve, sum, part as Affine);
          values.destroy();
          polynomials.push(polynomial);
          await this.#run.pause();
        }
        const all = await fr.run((ops) =>
          ops.keep(
            ops.slice(
              ops.linearCombination(polynomials.map((polynomial) => [1n, polynomial])),
              0,
              Math.min(2 ** largest, powers.count),
            ),
          ),
        );
        const bytes = await powers.points(0, all.length);
        const [expected] = await this.#checks.sums({ group, bytes, name: powers.name }, [all]);
        if (!areEqual(curve, sum, expected as Affine)) {
          throw new Refusal(`section ${name} is not that of the powers of tau`);
        }
      } finally {
        fr.destroy();
      }
    }
  }
}

/** The points before a contribution, and its challenge. */
interface Before extends FirstPoints, Pick<PowersContribution, 'nextChallenge'> {}

/** Two points of a group. */
type Ratio = readonly [Affine, Affine];
