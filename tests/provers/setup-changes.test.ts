/**
 * Keys and powers of tau that lie, drawn from a seed: none may be found valid. The environment
 * variable `CHANGES` has the number of them, `SEED` the seed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyBeacon,
  contribute,
  contributeToPowers,
  newKey,
  newPowers,
  preparePhase2,
  verifyKey,
  verifyPowers,
} from '../../src/setup.js';
import { endCurves, ffCurveOf } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { quiet } from '../support/setups.js';
import { binfile, sectionsOf } from '../support/snarkjs-files.js';

const changes = Number(process.env.CHANGES ?? 100);
const seed = Number(process.env.SEED ?? 1);
const silent = { ...quiet, onWarning: () => undefined };

type Sections = Map<number, Uint8Array>;

/** Numbers below a limit, the same for each seed (Park and Miller, CACM 31, 1988). */
const drawsOf = (start: number) => {
  let state = start;
  return (below: number): number => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
};

type Draw = ReturnType<typeof drawsOf>;

const POINT = 64;

/** Bytes of a saved hash in powers of tau, and of a contribution without a name. */
const SAVED = 216;
const CONTRIBUTION = 7 * POINT + 12 * POINT + SAVED + 64 + 8;

/** Places of points in a file: sections, from a byte on, of points of a size. */
type Place = readonly [section: number, from: number, pointBytes: number];

/** A file that is changed, with files of other ceremonies and circuits of the same size. */
interface Subject {
  readonly letters: 'zkey' | 'ptau';
  readonly file: Uint8Array;
  readonly others: readonly Uint8Array[];
  readonly places: readonly Place[];
  /** Sections whose bytes are all checked, from a byte on. */
  readonly checked: readonly (readonly [section: number, from: number])[];
  /** Bytes that the file cannot contradict: a lie in them alone is none. */
  readonly free?: readonly (readonly [section: number, from: number, to: number])[];
  /** A point of G2 outside the group of order r, and one of G1 with a coordinate of p or more. */
  readonly outside: readonly [Uint8Array, Uint8Array];
}

const pick = <Item>(draw: Draw, items: readonly Item[]): Item => items[draw(items.length)] as Item;

type Lies = Readonly<Record<string, (sections: Sections, subject: Subject, draw: Draw) => void>>;

/** Ways to lie in the bytes of sections. */
const liesInBytes: Lies = {
  'a bit': (sections, { checked }, draw) => {
    const [id, from] = pick(draw, checked);
    const bytes = sections.get(id) as Uint8Array;
    const at = from + draw(bytes.length - from);
    bytes[at] = (bytes[at] as number) ^ (1 << draw(8));
  },
  'two points swapped': (sections, { places }, draw) => {
    const [points, bytes, count] = pointsAt(sections, pick(draw, places));
    const [i, j] = [draw(count), draw(count)];
    const first = points.slice(i * bytes, (i + 1) * bytes);
    points.copyWithin(i * bytes, j * bytes, (j + 1) * bytes);
    points.set(first, j * bytes);
  },
  'a point for another': (sections, { places }, draw) => {
    const [points, bytes, count] = pointsAt(sections, pick(draw, places));
    points.copyWithin(draw(count) * bytes, draw(count) * bytes, (draw(count) + 1) * bytes);
  },
  'a point of another file': (sections, { places, others }, draw) => {
    const place = pick(draw, places);
    const [points, bytes, count] = pointsAt(sections, place);
    const [from] = pointsAt(sectionsOf(pick(draw, others).slice()), place);
    const i = draw(count);
    points.set(from.subarray(i * bytes, (i + 1) * bytes), i * bytes);
  },
  'a point with the other sign': (sections, { places, file, letters }, draw) => {
    const [points, bytes, count] = pointsAt(sections, pick(draw, places));
    const i = draw(count);
    const coordinate = primeBytes(file, letters);
    for (let at = i * bytes + bytes / 2; at < (i + 1) * bytes; at += coordinate.length) {
      negate(points.subarray(at, at + coordinate.length), coordinate);
    }
  },
  infinity: (sections, { places }, draw) => {
    const [points, bytes, count] = pointsAt(sections, pick(draw, places));
    const i = draw(count);
    points.fill(0, i * bytes, (i + 1) * bytes);
  },
  'a point outside the group': (sections, { places, outside }, draw) => {
    const [points, bytes, count] = pointsAt(sections, pick(draw, places));
    points.set(bytes === POINT ? outside[1] : outside[0], draw(count) * bytes);
  },
  'another number of contributions': (sections, { letters }, draw) => {
    const [bytes, at] = letters === 'zkey' ? [sections.get(10), 64] : [sections.get(7), 0];
    (bytes as Uint8Array)[at] = draw(8);
  },
};

/** Ways to lie about sections. */
const liesInSections: Lies = {
  'a section of another file': (sections, { checked, others }, draw) => {
    const [id] = pick(draw, checked);
    sections.set(id, sectionsOf(pick(draw, others).slice()).get(id) as Uint8Array);
  },
  'a section that is too short': (sections, { checked }, draw) => {
    const [id] = pick(draw, checked);
    const bytes = sections.get(id) as Uint8Array;
    sections.set(id, bytes.subarray(0, draw(bytes.length)));
  },
  'a section that is too long': (sections, { checked }, draw) => {
    const [id] = pick(draw, checked);
    const bytes = sections.get(id) as Uint8Array;
    const longer = new Uint8Array(bytes.length + 1 + draw(2 * POINT));
    longer.set(bytes);
    sections.set(id, longer);
  },
  'a section that is missing': (sections, { checked }, draw) => {
    const [id] = pick(draw, checked);
    // powers of tau may lack what is prepared for the second phase
    if (id < 12) sections.delete(id);
  },
};

const pointsAt = (sections: Sections, [id, from, bytes]: Place): [points: Uint8Array, bytes: number, count: number] => {
  const points = (sections.get(id) as Uint8Array).subarray(from);
  return [points, bytes, Math.max(1, Math.floor(points.length / bytes))];
};

/** Returns the prime in the header of a file, little-endian. */
const primeBytes = (file: Uint8Array, letters: Subject['letters']): Uint8Array =>
  (sectionsOf(file.slice()).get(letters === 'zkey' ? 2 : 1) as Uint8Array).subarray(4, 36);

/** Replaces a number by p minus it. */
const negate = (number: Uint8Array, prime: Uint8Array): void => {
  if (number.every((byte) => byte === 0)) return;
  let borrow = 0;
  for (let i = 0; i < number.length; i++) {
    const difference = (prime[i] as number) - (number[i] as number) - borrow;
    borrow = difference < 0 ? 1 : 0;
    number[i] = difference & 0xff;
  }
};

/** Changes a file in one or several ways until it is another. */
const lieIn = (subject: Subject, draw: Draw): { readonly file: Uint8Array; readonly lie: string } => {
  for (;;) {
    const sections = sectionsOf(subject.file.slice());
    const lies = draw(4) === 0 ? liesInSections : liesInBytes;
    const count = lies === liesInBytes ? 1 + draw(2) : 1;
    const names = Array.from({ length: count }, () => pick(draw, Object.keys(lies)));
    for (const name of names) lies[name]?.(sections, subject, draw);
    const whole = sectionsOf(subject.file.slice());
    for (const [id, from, to] of subject.free ?? []) {
      const [bytes, before] = [sections.get(id), whole.get(id) as Uint8Array];
      if (bytes?.length === before.length) bytes.set(before.subarray(from, to), from);
    }
    const file = binfile(subject.letters, [...sections]);
    // version 1, as in the file
    const isSame = file.length === subject.file.length && file.every((byte, i) => byte === subject.file[i]);
    const isOther = subject.others.some((other) => Buffer.from(other).equals(file));
    if (!isSame && !isOther) return { file, lie: names.join(', ') };
  }
};

/** x‖y as files have them: in Montgomery form, little-endian. */
const fileBytes = (values: readonly bigint[], p: bigint): Uint8Array =>
  Uint8Array.from(
    values.flatMap((value) => {
      const scaled = (value << 256n) % p;
      return Array.from({ length: 32 }, (_, i) => Number((scaled >> BigInt(8 * i)) & 255n));
    }),
  );

/** Makes prepared powers of tau, and others that have the same first contribution. */
const makePowers = async (power: number): Promise<Record<'ptau' | 'sibling', Uint8Array>> => {
  const { ptau: one } = await contributeToPowers(await newPowers({ curve: 'bn254', power }, quiet), {}, quiet);
  const prepared = async () => preparePhase2((await contributeToPowers(one, {}, quiet)).ptau, quiet);
  return { ptau: await prepared(), sibling: await prepared() };
};

let key: Subject & { readonly initial: Uint8Array; readonly ptau: Uint8Array };
let powers: Subject;

beforeAll(async () => {
  const ff = await ffCurveOf('bn254');
  const { ptau } = await makePowers(4);
  const make = async (number: bigint) => {
    const shape = { publicInputs: 2, privateInputs: 3, constraints: 9, seed: number };
    const { r1cs } = randomCircuit(BigInt(ff.r), shape);
    const initial = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
    const run = async () => {
      const next = (await contribute(initial, {}, quiet)).zkey;
      return (await applyBeacon((await contribute(next, {}, quiet)).zkey, { beacon: '0102', iterations: 10 }, quiet))
        .zkey;
    };
    return { initial, zkey: await run(), sibling: await run() };
  };
  const [mine, its] = [await make(11n), await make(12n)];
  const p = BigInt(ff.q);
  const outside = [outsideG2(p), fileBytes([1n, 2n], p)] as const;
  // a coordinate that is p more
  const raised = outside[1].slice();
  let carry = 0;
  for (let i = 0; i < 32; i++) {
    carry += (raised[i] as number) + Number((p >> BigInt(8 * i)) & 255n);
    raised[i] = carry & 0xff;
    carry >>= 8;
  }
  const header = 4 + 32 + 4 + 32 + 12;
  const contribution = 68;
  key = {
    ...{ letters: 'zkey', file: mine.zkey, initial: mine.initial, ptau },
    others: [mine.sibling, its.zkey, mine.initial],
    outside: [outside[0], raised],
    places: [
      ...([3, 5, 6, 8, 9] as const).map((id): Place => [id, 0, POINT]),
      [7, 0, 2 * POINT],
      [2, header, POINT],
      [2, header + 2 * POINT, 2 * POINT],
      [10, contribution, POINT],
    ],
    checked: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => [id, 0] as const),
  };
  const transcript = 4;
  // the saved hash of a response is behind its points: only the response itself could contradict that of the
  // first contribution. In that of the second, 96 bytes of the block are used, and the first of the last 16
  const saved = transcript + 7 * POINT + 12 * POINT;
  const small = await makePowers(2);
  powers = {
    ...{ letters: 'ptau', file: small.ptau, others: [small.sibling], outside: [outside[0], raised] },
    places: [
      ...([2, 4, 5, 12, 14, 15] as const).map((id): Place => [id, 0, POINT]),
      ...([3, 6, 13] as const).map((id): Place => [id, 0, 2 * POINT]),
      [7, transcript, POINT],
    ],
    checked: [1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15].map((id) => [id, 0] as const),
    free: [
      [7, saved, saved + SAVED],
      [7, saved + CONTRIBUTION + 96, saved + CONTRIBUTION + 128],
      [7, saved + CONTRIBUTION + 201, saved + CONTRIBUTION + SAVED],
    ],
  };
});

/** A point on the twist of BN254 that is not in the group of order r, by its smallest x. */
const outsideG2 = (p: bigint): Uint8Array => {
  type Pair = readonly [bigint, bigint];
  const mod = (value: bigint): bigint => ((value % p) + p) % p;
  const times = ([a, b]: Pair, [c, d]: Pair): Pair => [mod(a * c - b * d), mod(a * d + b * c)];
  const power = (base: Pair, exponent: bigint): Pair => {
    let [result, square]: [Pair, Pair] = [[1n, 0n], base];
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = times(result, square);
      square = times(square, square);
    }
    return result;
  };
  const inverse = (value: bigint): bigint => power([value, 0n], p - 2n)[0];
  // 3/(9 + u)
  const norm = inverse(82n);
  const b: Pair = [mod(27n * norm), mod(-3n * norm)];
  for (let x = 1n; ; x++) {
    const cube = times(times([x, 1n], [x, 1n]), [x, 1n]);
    const [c, d]: Pair = [mod(cube[0] + b[0]), mod(cube[1] + b[1])];
    // p is 3 modulo 4 (Adj and Rodriguez-Henriquez 2012, algorithm 9)
    const a1 = power([c, d], (p - 3n) / 4n);
    const x0 = times(a1, [c, d]);
    const alpha = times(a1, x0);
    const isMinusOne = alpha[0] === p - 1n && alpha[1] === 0n;
    const root = isMinusOne ? times([0n, 1n], x0) : times(power([mod(1n + alpha[0]), alpha[1]], (p - 1n) / 2n), x0);
    const square = times(root, root);
    if (square[0] === c && square[1] === d) return fileBytes([x, 1n, ...root], p);
  }
};

afterAll(endCurves);

describe('a file that lies is refused with a reason:', { tags: 'long', timeout: 3_600_000 }, () => {
  it('keys', async () => {
    const draw = drawsOf(seed);
    expect(await verifyKey({ zkey: key.file, initial: key.initial, ptau: key.ptau }, silent)).toMatchObject({
      why: null,
    });
    for (let i = 0; i < Math.ceil(0.8 * changes); i++) {
      const { file, lie } = lieIn(key, draw);
      const { isValid, why } = await verifyKey({ zkey: file, initial: key.initial, ptau: key.ptau }, silent);
      expect({ i, lie, isValid, why }).toEqual({ i, lie, isValid: false, why: expect.any(String) });
    }
  });

  it('powers of tau', async () => {
    const draw = drawsOf(seed + 1);
    expect(await verifyPowers(powers.file, silent)).toMatchObject({ why: null, isPrepared: true });
    for (let i = 0; i < Math.floor(0.2 * changes); i++) {
      const { file, lie } = lieIn(powers, draw);
      const { isValid, why } = await verifyPowers(file, silent);
      expect({ i, lie, isValid, why }).toEqual({ i, lie, isValid: false, why: expect.any(String) });
    }
  });
});
