/**
 * Keys of circuits of every kind: byte for byte as those of snarkjs, and each point recomputed from
 * the definition, as the secrets of the powers of tau are known here.
 */
import { createRequire } from 'node:module';
import { blake2b } from '@noble/hashes/blake2.js';
import { afterAll, afterEach, describe, it, vi } from 'vitest';
import { oracleOf } from '../../dev/oracle/curves.js';
import { contribute, newKey } from '../../src/setup.js';
import {
  describeCurves,
  endCurves,
  ffCurveOf,
  memoryFile,
  type ProverCurve,
  powersOf,
  secretsOf,
  snarkjs,
} from '../support/proving.js';
import { type Combination, type Row, r1csOf, unevenCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';
import { sectionsOf } from '../support/snarkjs-files.js';

/** The generator of snarkjs's randomness. */
const { ChaCha } = createRequire(import.meta.url)('ffjavascript') as {
  readonly ChaCha: new (seed: readonly number[]) => object;
};

const { zKey } = snarkjs as unknown as {
  readonly zKey: { newZKey(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<Uint8Array> };
};

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(endCurves);

/** Constraints around powers of two, with rows for public signals and the constant 1. */
const counts = [1, 2, 3, 4, 6, 7, 8, 13, 14, 15, 16, 17, 29, 30, 31, 32, 33, 61, 62, 63] as const;

/**
 * 40 circuits, with zeros, constants and duplicate terms in their sums; every fourth has sums of thousands
 * of terms, every second no public signals, and some more private signals than their sums name.
 */
const circuits = Array.from({ length: 40 }, (_, i) => ({
  i,
  curve: i % 5 === 4 ? 'bls12-381' : 'bn254',
  publicInputs: i % 2 === 0 ? 0 : 1 + (i % 4),
  privateInputs: i % 3 === 0 ? 60 : 1 + (i % 7),
  constraints: counts[i % counts.length] as number,
  longest: i % 4 === 1 ? 2500 + i : 5,
  seed: BigInt(100 + i),
}));

const expectThatOfSnarkjs = async ({ curve, longest, ...shape }: (typeof circuits)[number]): Promise<void> => {
  const { r } = await ffCurveOf(curve as ProverCurve);
  const r1cs = unevenCircuit(BigInt(r), shape, longest);
  const power = Math.max(1, Math.ceil(Math.log2(shape.constraints + shape.publicInputs + 1)));
  const ptau = await powersOf(curve as ProverCurve, power, 2 ** (power + 1) - 1, true);
  const theirs = await made((file) => zKey.newZKey(memoryFile(r1cs), memoryFile(ptau), file));
  expectSame(await newKey({ system: 'groth16', r1cs, ptau }, quiet), theirs);
};

describe('a key of Groth16 is that of snarkjs', () => {
  it.each(circuits.slice(0, 3))('for circuit $i: $publicInputs public, $constraints constraints', expectThatOfSnarkjs);

  it.each(circuits.slice(3))(
    'for circuit $i: $publicInputs public, $constraints constraints',
    {
      tags: 'long',
      timeout: 120_000,
    },
    expectThatOfSnarkjs,
  );
});

/** Points with these logarithms as files have them: x‖y in Montgomery form, little-endian; infinity is zeros. */
const pointsOf = (curve: ProverCurve, group: 'g1' | 'g2', logs: readonly bigint[]): Uint8Array => {
  const { Point } = oracleOf({ curve, group }) as unknown as {
    readonly Point: {
      readonly BASE: {
        multiplyUnsafe(log: bigint): { toAffine(): Record<'x' | 'y', bigint | Record<'c0' | 'c1', bigint>> };
      };
    };
  };
  const p = (oracleOf({ curve, group: 'g1' }) as unknown as { Point: { Fp: { ORDER: bigint } } }).Point.Fp.ORDER;
  const bytes = Math.ceil(p.toString(16).length / 16) * 8;
  const degree = group === 'g1' ? 1 : 2;
  const all = new Uint8Array(logs.length * 2 * degree * bytes);
  for (const [i, log] of logs.entries()) {
    if (log === 0n) continue;
    const { x, y } = Point.BASE.multiplyUnsafe(log).toAffine();
    const values = [x, y].flatMap((value) => (typeof value === 'bigint' ? [value] : [value.c0, value.c1]));
    for (const [k, value] of values.entries()) {
      let rest = (value << BigInt(8 * bytes)) % p;
      for (let at = 0; at < bytes; at++, rest >>= 8n) all[(2 * degree * i + k) * bytes + at] = Number(rest & 255n);
    }
  }
  return all;
};

const shape = { variables: 9, publicInputs: 2, privateInputs: 6 } as const;

/** Constraints with a constant, a zero, duplicate terms, and a variable that none of them names. */
const rows: readonly Row[] = [
  [[[1, 3n]], [[2, 1n]], [[3, 1n]]],
  [
    [
      [3, 1n],
      [3, 5n],
    ],
    [[0, 7n]],
    [[4, -1n]],
  ],
  [[], [[5, 2n ** 64n]], [[0, 9n]]],
  [
    [[6, 0n]],
    [
      [1, 1n],
      [7, -2n],
    ],
    [],
  ],
  [[[7, 12345678901234567890n]], [[7, 1n]], [[2, -3n]]],
];

describeCurves('each point of a key on %s', (curve) => {
  it('is what the definition says, before and after a contribution', async () => {
    const ff = await ffCurveOf(curve);
    const r = BigInt(ff.r);
    const mod = (value: bigint): bigint => ((value % r) + r) % r;
    const power = (base: bigint, exponent: bigint): bigint => {
      let [result, square] = [1n, mod(base)];
      for (let rest = exponent; rest > 0n; rest >>= 1n) {
        if (rest & 1n) result = (result * square) % r;
        square = (square * square) % r;
      }
      return result;
    };
    const inverse = (value: bigint): bigint => power(value, r - 2n);
    const [log, n] = [3, 8];
    const positive = rows.map(
      (row) => row.map((terms) => terms.map(([at, factor]) => [at, mod(factor)] as const)) as unknown as Row,
    );
    const r1cs = r1csOf(r, { ...shape, rows: positive });
    const ptau = await powersOf(curve, log, 2 ** (log + 1) - 1, true);
    const [tau, alpha, beta] = secretsOf(curve, log) as [bigint, bigint, bigint];
    const root = ff.Fr.toObject(ff.Fr.w[log + 1] as Uint8Array);
    /** L_i(τ) of the domain of a root of order m: (τ^m − 1)·w^i/(m·(τ − w^i)). */
    const lagrange = (w: bigint, m: number): bigint[] =>
      Array.from({ length: m }, (_, i) => {
        const at = power(w, BigInt(i));
        return mod((power(tau, BigInt(m)) - 1n) * at * inverse(mod(BigInt(m) * (tau - at))));
      });
    const small = lagrange(mod(root * root), n);
    const odd = lagrange(root, 2 * n).filter((_, i) => i % 2 === 1);
    const sums = (which: 0 | 1 | 2): bigint[] =>
      Array.from({ length: shape.variables }, (_, variable) => {
        const terms = positive.flatMap((row, i) =>
          (row[which] as Combination)
            .filter(([at]) => at === variable)
            .map(([, factor]) => factor * (small[i] as bigint)),
        );
        // a row for the constant 1 and each public signal
        const more = which === 0 && variable <= shape.publicInputs ? (small[rows.length + variable] as bigint) : 0n;
        return mod(terms.reduce((sum, term) => sum + term, more));
      });
    const [a, b, c] = [sums(0), sums(1), sums(2)];
    const joint = a.map((value, i) => mod(beta * value + alpha * (b[i] as bigint) + (c[i] as bigint)));
    const isPublic = shape.publicInputs + 1;

    const expectKey = (zkey: Uint8Array, delta: bigint): void => {
      const by = (value: bigint): bigint => mod(value * inverse(delta));
      const expected: readonly (readonly [id: number, points: Uint8Array])[] = [
        [3, pointsOf(curve, 'g1', joint.slice(0, isPublic))],
        [5, pointsOf(curve, 'g1', a)],
        [6, pointsOf(curve, 'g1', b)],
        [7, pointsOf(curve, 'g2', b)],
        [8, pointsOf(curve, 'g1', joint.slice(isPublic).map(by))],
        [9, pointsOf(curve, 'g1', odd.map(by))],
      ];
      for (const [id, points] of expected) expectSame(sectionsOf(zkey).get(id) as Uint8Array, points);
      const header = [
        ...[pointsOf(curve, 'g1', [alpha, beta]), pointsOf(curve, 'g2', [beta, 1n])],
        ...[pointsOf(curve, 'g1', [delta]), pointsOf(curve, 'g2', [delta])],
      ];
      expectSame(
        (sectionsOf(zkey).get(2) as Uint8Array).slice(-header.reduce((sum, { length }) => sum + length, 0)),
        Buffer.concat(header),
      );
    };

    const first = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
    expectKey(first, 1n);
    drawSame(1);
    const { zkey } = await contribute(first, { entropy: 'dice' }, quiet);
    const system = crypto.getRandomValues(new Uint8Array(64));
    const hash = blake2b(Buffer.concat([system, Buffer.from('dice')]), { dkLen: 64 });
    const words = new DataView(hash.buffer, hash.byteOffset);
    const stream = new ChaCha(Array.from({ length: 8 }, (_, i) => words.getUint32(4 * i)));
    expectKey(zkey, ff.Fr.toObject((ff.Fr as unknown as { fromRng(rng: unknown): Uint8Array }).fromRng(stream)));
  });
});
