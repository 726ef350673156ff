/** Challenges and responses of the first phase, byte for byte as those of snarkjs, and wrong ones. */
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { negated } from '../../src/curves/jacobian.js';
import { writePoint } from '../../src/curves/point-source.js';
import { compressPoints } from '../../src/setup/compressed-points.js';
import { hashedPoints, openGroups } from '../../src/setup/groups.js';
import { PointDecompressor } from '../../src/setup/point-decompressor.js';
import { Run } from '../../src/setup/run.js';
import {
  applyBeaconToPowers,
  contributeToPowers,
  contributeToPowersChallenge,
  exportPowersChallenge,
  importPowersResponse,
  newPowers,
  preparePhase2,
  truncatePowers,
  verifyPowers,
} from '../../src/setup.js';
import { endCurves, ffCurveOf, memoryFile, type ProverCurve, snarkjs } from '../support/proving.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';
import { sectionsOf } from '../support/snarkjs-files.js';

/** The part of snarkjs that exchanges files of the first phase. */
const powersOfTau = (snarkjs as unknown as { readonly powersOfTau: unknown }).powersOfTau as {
  newAccumulator(curve: unknown, power: number, to: unknown): Promise<Uint8Array>;
  exportChallenge(ptau: unknown, to: unknown): Promise<Uint8Array>;
  challengeContribute(curve: unknown, challenge: unknown, to: unknown, entropy: string): Promise<void>;
  importResponse(from: unknown, response: unknown, to: unknown, name: string, points: boolean): Promise<Uint8Array>;
  contribute(from: unknown, to: unknown, name: string, entropy: string): Promise<Uint8Array>;
  verify(from: unknown): Promise<boolean>;
};

const beacon = { name: 'end', beacon: '0102030405060708', iterations: 10 } as const;

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(endCurves);

/** Exports a challenge by both. */
const exported = async (ptau: Uint8Array): Promise<Uint8Array> => {
  const { challenge, hash } = await exportPowersChallenge(ptau, quiet);
  let theirHash: Uint8Array = new Uint8Array();
  const theirs = await made(async (file) => {
    theirHash = await powersOfTau.exportChallenge(memoryFile(ptau), file);
  });
  expectSame(challenge, theirs);
  expectSame(hash, theirHash);
  return challenge;
};

/** Contributes to a challenge by both, from the same randomness. */
const answered = async (curve: ProverCurve, challenge: Uint8Array, seed: number) => {
  const of = await ffCurveOf(curve);
  drawSame(seed);
  const ours = await contributeToPowersChallenge({ challenge, curve }, { entropy: 'dice' }, quiet);
  expectSame(
    ours.response,
    await made((file) => powersOfTau.challengeContribute(of, memoryFile(challenge), file, 'dice')),
  );
  vi.restoreAllMocks();
  return ours;
};

/** Imports a response by both. */
const imported = async (ptau: Uint8Array, response: Uint8Array, name?: string): Promise<Uint8Array> => {
  const ours = await importPowersResponse({ ptau, response, name }, quiet);
  let theirNext: Uint8Array = new Uint8Array();
  const theirs = await made(async (file) => {
    theirNext = await powersOfTau.importResponse(memoryFile(ptau), memoryFile(response), file, name ?? '', true);
  });
  expectSame(ours.ptau, theirs);
  expectSame(ours.nextChallenge, theirNext);
  return ours.ptau;
};

describe.each(['bn254', 'bls12-381'] as const)('powers of tau on %s', (curve) => {
  const areThoseOfSnarkjs = async (power: number): Promise<void> => {
    const first = await newPowers({ curve, power }, quiet);
    const one = await answered(curve, await exported(first), 1);
    const second = await imported(first, one.response, 'Ada ☃');
    expect(await verifyPowers(second, quiet)).toMatchObject({ isValid: true, why: null });
    // the ceremony goes on with either kind of file
    drawSame(2);
    const third = await made((file) => powersOfTau.contribute(memoryFile(second), file, 'Bob', 'more'));
    expectSame((await contributeToPowers(second, { name: 'Bob', entropy: 'more' }, quiet)).ptau, third);
    vi.restoreAllMocks();
    const two = await answered(curve, await exported(third), 3);
    const fourth = await imported(third, two.response);
    const last = await applyBeaconToPowers(fourth, beacon, quiet);
    const prepared = await preparePhase2(last.ptau, quiet);
    // prepared points are no part of a challenge
    expectSame(await exported(prepared), await exported(last.ptau));
    const verdict = await verifyPowers(prepared, quiet);
    expect(verdict).toMatchObject({ isValid: true, why: null, isPrepared: true });
    expect(verdict.contributions.map(({ name }) => name)).toEqual(['Ada ☃', 'Bob', null, 'end']);
    const hashes = verdict.contributions.map(({ hash }) => hash);
    expect([hashes[0], hashes[2], hashes[3]]).toEqual([one.hash, two.hash, last.hash]);
    expect(await powersOfTau.verify(memoryFile(prepared))).toBe(true);
  };
  const title = 'up to 2^%i go to other programs and back as those of snarkjs';
  const isFirst = curve === 'bn254';
  it.each([3])(title, { tags: isFirst ? [] : 'long' }, areThoseOfSnarkjs);
  it.each([1])(title, { tags: 'long' }, areThoseOfSnarkjs);
});

it('a response is imported by workers as snarkjs does', { tags: 'long' }, async () => {
  const [curve, power] = ['bls12-381', 11] as const;
  const ptau = await newPowers({ curve, power });
  const { challenge, hash } = await exportPowersChallenge(ptau);
  const answer = await contributeToPowersChallenge({ challenge, curve });
  expectSame(answer.response.subarray(0, 64), hash);
  const ours = await importPowersResponse({ ptau, response: answer.response });
  expectSame(ours.hash, answer.hash);
  const files = [memoryFile(ptau), memoryFile(answer.response)] as const;
  expectSame(ours.ptau, await made((file) => powersOfTau.importResponse(...files, file, '', true)));
  expect(await verifyPowers(ours.ptau)).toMatchObject({ isValid: true, why: null });
});

it('points are decompressed with pauses, at which a call can end', async () => {
  const groups = await openGroups('bn254');
  const { g1 } = groups;
  const count = 5000;
  const words = new Uint32Array(count * g1.pointWords);
  for (let i = 0; i < count; i++) writePoint(g1, words, i, i % 2 === 0 ? g1.generator : negated(g1, g1.generator));
  const compressed = compressPoints(g1, hashedPoints(g1, words.slice()));
  const run = new Run({}, 'test', count, { workers: 0, pointsPerRound: count });
  const decompressor = new PointDecompressor(groups, run);
  const ended = new Error('ended');
  let [pauses, most] = [0, Number.POSITIVE_INFINITY];
  const pause = async (): Promise<void> => {
    if (++pauses > most) throw ended;
  };
  Object.assign(run, { pause });
  try {
    const [, plain] = await decompressor.whole('g1', compressed, 'points');
    expectSame(new Uint8Array(plain.buffer), new Uint8Array(words.buffer));
    // three before the roots, three at them and three after them
    expect(pauses).toBe(9);
    [pauses, most] = [0, 4];
    await expect(decompressor.whole('g1', compressed, 'points')).rejects.toBe(ended);
  } finally {
    decompressor.end();
    await run.end();
  }
});

/** Bytes of points of BN254 in G1, in G2 and compressed, and of a hash. */
const [G1, G2, C1, C2, HASH] = [64, 128, 32, 64, 64];
const POWER = 3;
const N = 2 ** POWER;
/** Places in a response. */
const at = {
  tauG1: HASH,
  tauG2: HASH + (2 * N - 1) * C1,
  alphaTauG1: HASH + (2 * N - 1) * C1 + N * C2,
  betaG2: HASH + (4 * N - 1) * C1 + N * C2,
  proofs: HASH + (4 * N - 1) * C1 + (N + 1) * C2,
};

const prime = bn254.G1.Point.Fp.ORDER;

/** Where the points with an x are: off the curve, in the group of order r, or outside of it. */
type Where = 'off' | 'in' | 'outside';

const whereIs = (pointOf: () => { isTorsionFree(): boolean }): Where => {
  try {
    return pointOf().isTorsionFree() ? 'in' : 'outside';
  } catch {
    // there is no root
    return 'off';
  }
};

/** Returns the first x, in G2 without a second coefficient, whose points are where they should be. */
const firstX = (accepts: (where: { readonly g1: Where; readonly g2: Where }) => boolean): bigint => {
  const [one, two] = [bn254.G1.Point, bn254.G2.Point];
  for (let x = 1n; ; x++) {
    const pair = { c0: x, c1: 0n };
    const square = two.Fp.add(two.Fp.pow(pair, 3n), two.CURVE().b);
    const g1 = whereIs(() => one.fromAffine({ x, y: one.Fp.sqrt(x ** 3n + 3n) }));
    const g2 = whereIs(() => two.fromAffine({ x: pair, y: two.Fp.sqrt(square) }));
    if (accepts({ g1, g2 })) return x;
  }
};

const compressedInG2 = (where: Where): Uint8Array => {
  const bytes = new Uint8Array(C2);
  bytes[C2 - 1] = Number(firstX(({ g2 }) => g2 === where));
  return bytes;
};

describe('files that are wrong', () => {
  let first: Uint8Array;
  let one: Uint8Array;
  let response: Uint8Array;
  let other: Uint8Array;
  let challenge: Uint8Array;

  beforeAll(async () => {
    first = await newPowers({ curve: 'bn254', power: POWER }, quiet);
    one = (await contributeToPowers(first, { name: 'Ada' }, quiet)).ptau;
    challenge = (await exportPowersChallenge(one, quiet)).challenge;
    const respond = async () => (await contributeToPowersChallenge({ challenge, curve: 'bn254' }, {}, quiet)).response;
    response = await respond();
    other = await respond();
  });

  const changed = (change: (file: Uint8Array) => unknown): Uint8Array => {
    const file = response.slice();
    change(file);
    return file;
  };

  const xor = (place: number, bits: number) => (file: Uint8Array) => {
    file[place] = (file[place] as number) ^ bits;
  };

  const swap = (i: number, j: number, length: number) => (file: Uint8Array) => {
    const kept = file.slice(i, i + length);
    file.copyWithin(i, j, j + length);
    file.set(kept, j);
  };

  const refused = async (ptau: Uint8Array, file: Uint8Array, why: RegExp): Promise<void> => {
    const call = importPowersResponse({ ptau, response: file }, quiet);
    await expect(call).rejects.toMatchObject({ name: 'MsmError', code: 'bad-argument' });
    await expect(call).rejects.toThrow(why);
  };

  const fails = (ptau: Uint8Array, file: Uint8Array) =>
    expect(
      made((to) => powersOfTau.importResponse(memoryFile(ptau), memoryFile(file), to, '', true)),
    ).rejects.toBeDefined();

  it('are refused where they are no response to the challenge', async () => {
    const sibling = (await contributeToPowers(first, {}, quiet)).ptau;
    for (const ptau of [sibling, first, (await contributeToPowers(one, {}, quiet)).ptau]) {
      await refused(ptau, response, /^response: it is one to another challenge than that of the ptau$/);
      await fails(ptau, response);
    }
    const longer = new Uint8Array(response.length + 1);
    longer.set(response);
    for (const file of [response.subarray(0, -1), response.subarray(0, 20), new Uint8Array(), longer, challenge]) {
      await refused(one, file, new RegExp(`^response: it has ${file.length} bytes, and .* on bn254 has \\d+: is it`));
      await fails(one, file);
    }
    const larger = await newPowers({ curve: 'bn254', power: POWER + 1 }, quiet);
    await refused(larger, response, /a response to powers up to 2\^4 on bn254/);
    const onOther = await newPowers({ curve: 'bls12-381', power: POWER }, quiet);
    await refused(onOther, response, /a response to powers up to 2\^3 on bls12-381/);
    const cut = await truncatePowers(await preparePhase2(one, quiet), { power: 2 }, quiet);
    await refused(cut, response, /^ptau: the file was cut from powers up to 2\^3/);
  });

  it('are refused where points are not on their curves', async () => {
    const placed = (value: bigint) =>
      changed((file) => {
        file.fill(0, at.tauG1 + 4 * C1, at.tauG1 + 5 * C1);
        for (let i = 0, rest = value; rest > 0n; i++, rest >>= 8n) {
          file[at.tauG1 + 5 * C1 - 1 - i] = Number(rest & 0xffn);
        }
      });
    await refused(
      one,
      placed(firstX(({ g1 }) => g1 === 'off')),
      /^response: section tauG1 has a point that is not on the curve$/,
    );
    await refused(one, placed(prime + 1n), /^response: section tauG1 has a coordinate that is not below p$/);
    const inG2 = changed((file) => file.set(compressedInG2('off'), at.tauG2 + 2 * C2));
    await refused(one, inG2, /^response: section tauG2 has a point that is not on the curve$/);
    await refused(one, changed(xor(at.proofs + 40, 1)), /^response: tau s: the point is not on the curve bn254$/);
    await refused(one, changed(xor(at.proofs + 6 * G1 + G2 + 9, 1)), /^response: alpha tx: the point is not on/);
    const wide = changed((file) => file.fill(0x3f, at.proofs, at.proofs + 32));
    await refused(one, wide, /^response: tau s: (a coordinate is not below p|the point is not on)/);
  });

  type Case = readonly [what: string, change: (file: Uint8Array) => unknown, why: RegExp];

  const becomeRefused = async (...[, change, why]: Case): Promise<void> => {
    const ptau = await imported(one, changed(change));
    const verdict = await verifyPowers(ptau, quiet);
    expect(verdict.why).toMatch(why);
    expect(verdict.isValid).toBe(false);
    expect(await powersOfTau.verify(memoryFile(ptau)).catch(() => false)).toBe(false);
  };

  const title = 'become powers that both refuse: %s';
  it.each<Case>([
    ['−τ', xor(at.tauG1 + C1, 0x80), /contribution 1: tauG1 is not multiplied/],
    [
      'a point of G2 outside the group',
      (file) => file.set(compressedInG2('outside'), at.tauG2 + C2),
      /contribution 1: a point is not in the group/,
    ],
    [
      'proofs of another author',
      (file) => file.set(other.subarray(at.proofs), at.proofs),
      /contribution 1: tauG1 is not multiplied/,
    ],
  ])(title, becomeRefused);
  it.each<Case>([
    ['a power with another sign', xor(at.tauG1 + 4 * C1, 0x80), /section tauG1: the points are not powers/],
    ['a power in G2 with another sign', xor(at.tauG2 + 3 * C2, 0x80), /section tauG2: the points are not powers/],
    ['swapped powers', swap(at.tauG1 + 3 * C1, at.tauG1 + 4 * C1, C1), /section tauG1: the points are not powers/],
    ['another α', swap(at.alphaTauG1, at.alphaTauG1 + C1, C1), /contribution 1: alphaG1 is not multiplied/],
    [
      'another β in G2',
      (file) => file.copyWithin(at.betaG2, at.tauG2, at.tauG2 + C2),
      /contribution 1: betaG2 is not multiplied/,
    ],
    ['a power outside the group', (file) => file.set(compressedInG2('outside'), at.tauG2 + 3 * C2), /tauG2/],
    [
      'infinity, with what other programs may leave behind its flag',
      (file) => file.fill(0x40, at.tauG1 + 5 * C1, at.tauG1 + 6 * C1),
      /section tauG1: the points are not powers/,
    ],
    ['swapped proofs', swap(at.proofs, at.proofs + 2 * G1, 2 * G1), /nobody has proved to know its secret tau/],
    [
      'powers of another author',
      (file) => file.set(other.subarray(at.tauG1, at.tauG2), at.tauG1),
      /contribution 1: tauG1 is not multiplied by its secret/,
    ],
  ])(title, { tags: 'long' }, becomeRefused);

  it('are refused where they are no challenge', async () => {
    const call = (file: Uint8Array, curve: ProverCurve = 'bn254') =>
      contributeToPowersChallenge({ challenge: file, curve }, {}, quiet);
    for (const file of [challenge.subarray(0, -1), challenge.subarray(0, 64), new Uint8Array(), response, one]) {
      await expect(call(file)).rejects.toThrow(`challenge: it has ${file.length} bytes, which no challenge on bn254`);
    }
    await expect(call(challenge, 'bls12-381')).rejects.toThrow(/which no challenge on bls12-381 has/);
    const wrong = challenge.slice();
    xor(HASH + 9 * G1, 1)(wrong);
    await expect(call(wrong)).rejects.toThrow('challenge: section tauG1 has a point that is not on the curve');
    // of another phase
    const named = contributeToPowersChallenge({ challenge, curve: 'bn254' }, { name: 'Ada' } as never, quiet);
    await expect(named).rejects.toMatchObject({ code: 'bad-argument' });
  });

  it('are not exported where the points are not those of the transcript', async () => {
    for (const ptau of [first, one]) {
      const wrong = ptau.slice();
      const section = sectionsOf(wrong).get(2) as Uint8Array;
      const generator = section.slice(0, G1);
      // −G in Montgomery form
      const y = (sectionsOf(first).get(2) as Uint8Array).slice(G1 / 2, G1);
      let value = 0n;
      for (const byte of y.reverse()) value = (value << 8n) | BigInt(byte);
      for (let i = 0, rest = prime - value; i < G1 / 2; i++, rest >>= 8n) {
        generator[G1 / 2 + i] = Number(rest & 0xffn);
      }
      section.set(generator, 3 * G1);
      await expect(exportPowersChallenge(wrong, quiet)).rejects.toThrow(
        'ptau: the points are not those of which the last contribution has the hash',
      );
      await expect(made((file) => powersOfTau.exportChallenge(memoryFile(wrong), file))).rejects.toThrow(/corrupted/);
    }
    const spoilt = one.slice();
    xor(5, 1)(sectionsOf(spoilt).get(4) as Uint8Array);
    await expect(exportPowersChallenge(spoilt, quiet)).rejects.toThrow(
      'ptau: section alphaTauG1 has a point that is not on the curve',
    );
    const cut = await truncatePowers(await preparePhase2(one, quiet), { power: 2 }, quiet);
    await expect(exportPowersChallenge(cut, quiet)).rejects.toThrow(/^ptau: the file was cut from powers up to 2\^3/);
  });

  it('leave nothing at their sink, and calls end when they are aborted', async () => {
    let end: unknown = null;
    const abort = (reason: unknown): void => {
      end = reason;
    };
    const sink = () => new WritableStream<Uint8Array>({ abort });
    const wrong = changed((file) => file.set(compressedInG2('off'), at.betaG2));
    const call = importPowersResponse({ ptau: one, response: wrong }, { ...quiet, sink: sink() });
    await expect(call).rejects.toThrow(/betaG2/);
    expect(end).toMatchObject({ code: 'bad-argument' });
    const calls = {
      export: (options: object) => exportPowersChallenge(one, options),
      contribute: (options: object) => contributeToPowersChallenge({ challenge, curve: 'bn254' }, {}, options),
      import: (options: object) => importPowersResponse({ ptau: one, response }, options),
    };
    for (const [phase, each] of Object.entries(calls)) {
      const ending = new AbortController();
      const seen: number[] = [];
      const onProgress = (progress: { phase: string; done: number; total: number }): void => {
        expect(progress.phase).toBe(phase);
        seen.push(progress.done / progress.total);
        ending.abort();
      };
      const aborted = each({ ...quiet, sink: sink(), onProgress, signal: ending.signal });
      await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
      expect(end).toMatchObject({ code: 'aborted' });
      await each({ ...quiet, onProgress });
      expect(seen.at(-1)).toBe(1);
    }
  });
});
