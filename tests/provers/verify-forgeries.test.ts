/** Proofs that are changed with knowledge of the equations, and damaged keys. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { type Groth16Proof, openProvingKey as openGroth16, type ProvingKey } from '../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import { describeCurves, endCurves, makeStatement, type ProverCurve, type Statement } from '../support/proving.js';

const nobles = { bn254, 'bls12-381': bls12_381 } as const;

/** Returns a point of a twist, outside of the group of order r. */
const outsideOfG2 = ({ G2, fields: { Fp2 } }: (typeof nobles)[ProverCurve]): typeof G2.Point.BASE => {
  for (let i = 1n; ; i++) {
    const x = Fp2.fromBigTuple([i, 1n]);
    const square = Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.Point.CURVE().b);
    try {
      return G2.Point.fromAffine({ x, y: Fp2.sqrt(square) });
    } catch {
      // no square: the next x
    }
  }
};

afterAll(endCurves);

describeCurves('proofs of Groth16 on %s', (curve) => {
  const { G1, G2, fields } = nobles[curve];
  const { Fp, Fp2, Fr } = fields;
  type Point1 = typeof G1.Point.BASE;
  type Point2 = typeof G2.Point.BASE;

  const decode1 = ([x, y]: readonly string[]): Point1 =>
    G1.Point.fromAffine({ x: BigInt(x as string), y: BigInt(y as string) });
  const decode2 = ([x, y]: readonly (readonly string[])[]): Point2 => {
    const pair = (given: readonly string[]) => Fp2.fromBigTuple(given.map(BigInt) as [bigint, bigint]);
    return G2.Point.fromAffine({ x: pair(x as string[]), y: pair(y as string[]) });
  };
  const encode1 = (point: Point1): Groth16Proof['pi_a'] => {
    const { x, y } = point.toAffine();
    return [String(x), String(y), '1'];
  };
  const encode2 = (point: Point2): Groth16Proof['pi_b'] => {
    const { x, y } = point.toAffine();
    const pair = ({ c0, c1 }: typeof x): [string, string] => [String(c0), String(c1)];
    return [pair(x), pair(y), ['1', '0']];
  };

  let statement: Statement;
  let key: ProvingKey;
  let proof: Groth16Proof;
  let publicSignals: string[];
  let verify: (changes: Partial<Groth16Proof>) => Promise<{ readonly ours: boolean; readonly theirs: boolean }>;

  beforeAll(async () => {
    statement = await makeStatement('groth16', curve, 5, 'dense');
    key = await openGroth16(statement.zkey.data, { backend: 'cpu' });
    ({ proof, publicSignals } = await key.prove(statement.circuit.witness));
    verify = async (changes) => {
      const changed = { ...proof, ...changes };
      const theirs = await statement.verify({ proof: changed, publicSignals });
      return { ours: await key.verify(changed, publicSignals), theirs };
    };
  });

  afterAll(() => key.destroy());

  test('that are blinded anew verify: A/k and k·B, or both negated', async () => {
    const [a, b] = [decode1(proof.pi_a), decode2(proof.pi_b)];
    for (const k of [2n, 12345678901234567890n, Fr.ORDER - 1n]) {
      const blinded = { pi_a: encode1(a.multiply(Fr.inv(k))), pi_b: encode2(b.multiply(k)) };
      expect(await verify(blinded)).toEqual({ ours: true, theirs: true });
      expect(await verify({ pi_b: blinded.pi_b })).toEqual({ ours: false, theirs: false });
    }
  });

  test('with other points of the group do not verify', async () => {
    const [a, b, c] = [decode1(proof.pi_a), decode2(proof.pi_b), decode1(proof.pi_c)];
    for (const changes of [
      { pi_a: encode1(a.negate()) },
      { pi_b: encode2(b.negate()) },
      { pi_c: encode1(c.negate()) },
      { pi_a: encode1(c), pi_c: encode1(a) },
      { pi_c: encode1(c.add(G1.Point.BASE)) },
      { pi_a: encode1(a.double()), pi_b: encode2(b.double()) },
    ])
      expect(await verify(changes)).toEqual({ ours: false, theirs: false });
  });

  test('with points outside of the groups do not verify, not even where pairings are the same', async () => {
    // r times a point of the curve has an order that r does not divide
    const anyPoint = outsideOfG2(nobles[curve]);
    const outside2 = anyPoint.multiplyUnsafe(Fr.ORDER - 1n).add(anyPoint);
    expect([outside2.is0(), outside2.isTorsionFree()]).toEqual([false, false]);
    expect((await verify({ pi_b: encode2(decode2(proof.pi_b).add(outside2)) })).ours).toBe(false);
    if (curve === 'bn254') return;
    const outside1 = (() => {
      for (let x = 1n; ; x++) {
        try {
          const point = G1.Point.fromAffine({ x, y: Fp.sqrt((x ** 3n + 4n) % Fp.ORDER) });
          return point.multiplyUnsafe(Fr.ORDER - 1n).add(point);
        } catch {
          // no square: the next x
        }
      }
    })();
    expect([outside1.is0(), outside1.isTorsionFree()]).toEqual([false, false]);
    for (const name of ['pi_a', 'pi_c'] as const)
      expect((await verify({ [name]: encode1(decode1(proof[name]).add(outside1)) })).ours).toBe(false);
  });
});

/** Returns where a section of a key begins. */
const sectionAt = (file: Uint8Array, wanted: number): number => {
  const view = new DataView(file.buffer, file.byteOffset);
  for (let at = 12; ; at += 12 + Number(view.getBigUint64(at + 4, true))) {
    if (view.getUint32(at, true) === wanted) return at + 12;
  }
};

/** Returns where γ is: behind the primes and their sizes, three counts, α, β and β in G2. */
const gammaAt = (file: Uint8Array): number => sectionAt(file, 2) + 72 + 12 + 2 * 64 + 128;

const copied = (file: Uint8Array, from: number, to: number, bytes: number): Uint8Array => {
  const damaged = file.slice();
  damaged.copyWithin(to, from, from + bytes);
  return damaged;
};

describe('a key that is damaged so that it loads and proves', () => {
  const notVerified = {
    ...{
      code: 'bad-argument',
      message: expect.stringMatching(/^witness: its proof does not verify.*the key is damaged/),
    },
  };

  test('of Groth16 makes no proof with verifyProof', async () => {
    const { zkey, circuit } = await makeStatement('groth16', 'bn254', 5, 'dense');
    const h = sectionAt(zkey.data, 9);
    // the second point in place of the first
    using key = await openGroth16(copied(zkey.data, h + 64, h, 64), { backend: 'cpu' });
    await expect(key.prove(circuit.witness, { verifyProof: true })).rejects.toMatchObject(notVerified);
    expect((await key.prove(circuit.witness)).proof.protocol).toBe('groth16');
  });

  test.each([
    ['plonk', openPlonk, 14],
    ['fflonk', openFflonk, 16],
  ] as const)('of %s makes no proof with verifyProof', async (system, open, section) => {
    const { zkey, circuit } = await makeStatement(system, 'bn254', 5, 'dense');
    const powers = sectionAt(zkey.data, section);
    using key = await open(copied(zkey.data, powers + 64, powers, 64), { backend: 'cpu' });
    await expect(key.prove(circuit.witness, { verifyProof: true })).rejects.toMatchObject(notVerified);
    expect((await key.prove(circuit.witness)).proof.protocol).toBe(system);
  });

  test.each([
    // behind the primes and their sizes, five counts, k1 and k2; the last is τ·G2
    ['plonk', openPlonk, [0, 8 * 64]],
    // behind four roots of unity: τ·G2, and the commitment
    ['fflonk', openFflonk, [128, 128 + 128]],
  ] as const)('of %s in the points of the verifier is named', async (system, open, points) => {
    const { zkey, circuit } = await makeStatement(system, 'bn254', 5, 'dense');
    const first = sectionAt(zkey.data, 2) + 72 + 20 + 64;
    for (const at of points) {
      const damaged = zkey.data.slice();
      damaged[first + at] = (damaged[first + at] as number) ^ 1;
      using key = await open(damaged, { backend: 'cpu' });
      await expect(key.prove(circuit.witness, { verifyProof: true })).rejects.toMatchObject({
        ...{ code: 'not-on-curve', message: expect.stringContaining('zkey: section 2 (header): ') },
      });
    }
  });

  test('of Groth16 with a point outside of its group verifies nothing', async () => {
    const { zkey, circuit } = await makeStatement('groth16', 'bn254', 5, 'dense');
    const gamma = gammaAt(zkey.data);
    const damaged = zkey.data.slice();
    const { x, y } = outsideOfG2(nobles.bn254).toAffine();
    for (const [i, part] of [x.c0, x.c1, y.c0, y.c1].entries()) {
      let number = (part * 2n ** 256n) % bn254.fields.Fp.ORDER;
      for (let k = 0; k < 32; k++, number >>= 8n) damaged[gamma + 32 * i + k] = Number(number & 255n);
    }
    using key = await openGroth16(damaged, { backend: 'cpu' });
    const { proof, publicSignals } = await key.prove(circuit.witness);
    await expect(key.verify(proof, publicSignals)).rejects.toMatchObject({
      ...{ code: 'not-in-subgroup', message: expect.stringContaining('zkey: section 2 (header): ') },
    });
  });

  test('of Groth16 in the points of the verifier is refused', async () => {
    const { zkey } = await makeStatement('groth16', 'bn254', 5, 'dense');
    const gamma = gammaAt(zkey.data);
    for (const [at, name] of [
      [gamma, 'gamma2'],
      [sectionAt(zkey.data, 3), 'IC'],
    ] as const) {
      const damaged = zkey.data.slice();
      damaged[at] = (damaged[at] as number) ^ 1;
      await expect(openGroth16(damaged, { backend: 'cpu' })).rejects.toMatchObject({
        ...{ code: 'not-on-curve', message: expect.stringContaining(`zkey: section ${name}: `) },
      });
    }
  });
});
