/** `key.verify` and `verifyProof`, against the verifiers of snarkjs. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, describe, expect, test } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { openProvingKey as openGroth16 } from '../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import { endCurves, makeStatement, type ProverCurve, type Statement } from '../support/proving.js';

const systems = ['groth16', 'plonk', 'fflonk'] as const;
type System = (typeof systems)[number];
const curves: readonly ProverCurve[] = ['bn254', 'bls12-381'];
// snarkjs proves FFLONK on BN254 alone
const cases = systems.flatMap((system) =>
  curves.filter((curve) => curve === 'bn254' || system !== 'fflonk').map((curve) => [system, curve] as const),
);

const nobles = { bn254, 'bls12-381': bls12_381 } as const;

/** Position of the values in a witness file. */
const VALUES_AT = 76;
/** Parts of a proof, for progress. */
const PARTS = {
  groth16: ['quotient', 'A', 'B1', 'B2', 'C', 'H', 'assembly'],
  plonk: ['round 1', 'round 2', 'round 3', 'round 4', 'round 5'],
  fflonk: ['round 1', 'round 2', 'round 3', 'round 4', 'round 5'],
} as const;

/** Parts of a proof: numbers, points and pairs, and records of them in FFLONK. */
type Part = string | readonly Part[] | { readonly [name: string]: Part };
interface Result {
  readonly proof: Readonly<Record<string, Part>>;
  readonly publicSignals: string[];
}

/** A key of any proof system. */
interface Key {
  prove(witness: Uint8Array, options?: object): Promise<Result>;
  verify(proof: unknown, publicSignals: unknown, options?: object): Promise<boolean>;
  destroy(): void;
  [Symbol.dispose](): void;
}

const open = async (system: System, zkey: Uint8Array): Promise<Key> => {
  const openKey = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk }[system];
  return (await openKey(zkey, { backend: 'cpu' })) as unknown as Key;
};

const statements = new Map<string, Promise<Statement>>();
const statementOf = (system: System, curve: ProverCurve): Promise<Statement> => {
  const name = `${system} ${curve}`;
  const statement = statements.get(name) ?? makeStatement(system, curve, 5, 'dense');
  statements.set(name, statement);
  return statement;
};

afterAll(endCurves);

/** Lists the numbers of a proof by their places, without the protocol and the curve. */
const placesOf = (part: Part | Result['proof'], path: readonly string[] = []): (readonly string[])[] =>
  typeof part === 'string'
    ? [path]
    : Object.entries(part)
        .filter(([name]) => !['protocol', 'curve'].includes(name))
        .flatMap(([name, inner]) => placesOf(inner as Part, [...path, name]));

/** Lists the places of points and values. */
const partsOf = (proof: Result['proof']): (readonly string[])[] =>
  Object.entries(proof)
    .filter(([name]) => !['protocol', 'curve'].includes(name))
    .flatMap(([name, part]) =>
      typeof part === 'string' || Array.isArray(part) ? [[name]] : Object.keys(part).map((inner) => [name, inner]),
    );

const valueAt = (proof: Result['proof'], place: readonly string[]): Part =>
  place.reduce((part: unknown, name) => (part as Record<string, Part>)[name], proof) as Part;

/** Returns a copy with another value at a place. */
const changed = <Of>(value: Of, [first, ...rest]: readonly string[], change: (before: never) => unknown): Of => {
  if (first === undefined) return change(value as never) as Of;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[first] = changed(copy[first], rest, change);
  return copy as Of;
};

const verifies = (system: (typeof systems)[number], curve: (typeof curves)[number]): void => {
  const noble = nobles[curve];
  const { ORDER: p } = noble.fields.Fp;
  const r = noble.fields.Fr.ORDER;
  const flipped = (witness: Uint8Array): Uint8Array => {
    const wrong = witness.slice();
    wrong[VALUES_AT + 5 * 32] = (wrong[VALUES_AT + 5 * 32] as number) ^ 1;
    return wrong;
  };
  const infinity = (point: Part): Part =>
    Array.isArray((point as readonly Part[])[0])
      ? [
          ['0', '0'],
          ['1', '0'],
          ['0', '0'],
        ]
      : ['0', '1', '0'];

  test('a right proof verifies, and none that differs in a number, as snarkjs says', async () => {
    const { zkey, circuit, verify } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    const { proof, publicSignals } = await key.prove(circuit.witness, { verifyProof: true });
    const expectBoth = async (isRight: boolean, given: Result['proof'], signals = publicSignals): Promise<void> => {
      expect(await key.verify(given, signals)).toBe(isRight);
      // snarkjs calls a logger that it was not given
      const theirs = verify({ proof: given, publicSignals: signals }).catch(() => false);
      expect(await theirs).toBe(isRight);
    };
    await expectBoth(true, proof);
    // the verifier contract alone looks at this number
    expect(
      await key.verify(
        changed(proof, ['evaluations', 'inv'], () => '1'),
        publicSignals,
      ),
    ).toBe(system !== 'fflonk');
    const places = placesOf(proof).filter(
      ([, second, third]) => ![second, third].some((each) => each === '2' || each === 'inv'),
    );
    expect(places.length).toBe({ groth16: 8, plonk: 24, fflonk: 23 }[system]);
    for (const place of places) {
      await expectBoth(
        false,
        changed(proof, place, (before) => String((BigInt(before) + 1n) % p)),
      );
    }
    for (const place of partsOf(proof).filter((each) => typeof valueAt(proof, each) !== 'string')) {
      await expectBoth(false, changed(proof, place, infinity));
    }
    await expectBoth(false, proof, [String((BigInt(publicSignals[0] as string) + 1n) % r)]);
    await expectBoth(false, proof, [String(BigInt(publicSignals[0] as string) + r)]);
  });

  test('no proof of another statement, key or curve verifies, and none with another number of signals', async () => {
    const { zkey, circuit } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    const { proof, publicSignals } = await key.prove(circuit.witness);
    const other = await makeStatement(system, curve, 6, 'dense');
    using otherKey = await open(system, other.zkey.data);
    const theirs = await otherKey.prove(other.circuit.witness);
    expect(await otherKey.verify(theirs.proof, theirs.publicSignals)).toBe(true);
    expect(await otherKey.verify(proof, publicSignals)).toBe(false);
    expect(await key.verify(theirs.proof, theirs.publicSignals)).toBe(false);
    // parts of two proofs of one statement
    const second = await key.prove(circuit.witness);
    const isOfCircuit = (value: Part, place: readonly string[]): boolean =>
      JSON.stringify(valueAt(proof, place)) === JSON.stringify(value);
    for (const place of partsOf(proof)) {
      const part = valueAt(second.proof, place);
      if (isOfCircuit(part, place)) continue;
      expect(
        await key.verify(
          changed(proof, place, () => part),
          publicSignals,
        ),
      ).toBe(false);
    }
    for (const signals of [[], [...publicSignals, '0'], [...publicSignals, ...publicSignals]])
      expect(await key.verify(proof, signals)).toBe(false);
    if (system === 'fflonk') return;
    const foreign = await statementOf(system, curve === 'bn254' ? 'bls12-381' : 'bn254');
    using foreignKey = await open(system, foreign.zkey.data);
    const away = await foreignKey.prove(foreign.circuit.witness);
    expect(
      await key.verify(
        away.proof,
        away.publicSignals.map((each) => String(BigInt(each) % r)),
      ),
    ).toBe(false);
  });

  test('a coordinate that is not below the prime, or a value not below the order, is no number of a proof', async () => {
    const { zkey, circuit } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    const { proof, publicSignals } = await key.prove(circuit.witness);
    for (const place of placesOf(proof).filter(
      ([, second, third]) => second !== '2' && (third !== '2' || system === 'groth16'),
    )) {
      const modulus = place.length === 1 || place[0] === 'evaluations' ? r : p;
      const same = changed(proof, place, (before) => String(BigInt(before) + modulus));
      expect(await key.verify(same, publicSignals)).toBe(false);
    }
  });

  test('what is no proof is refused by name', async () => {
    const { zkey, circuit } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    const { proof, publicSignals } = await key.prove(circuit.witness);
    const place = { groth16: ['pi_a'], plonk: ['Wxi'], fflonk: ['polynomials', 'W1'] }[system];
    const point = place.join('.');
    const withPoint = (value: unknown) => changed(proof, place, () => value);
    for (const [given, signals, message] of [
      [null, publicSignals, `proof must be a proof of ${system}, an object, got null`],
      [
        JSON.stringify(proof),
        publicSignals,
        `proof must be a proof of ${system}, an object, got string; read the text`,
      ],
      [
        { ...proof, protocol: 'another' },
        publicSignals,
        `proof must be a proof of ${system}, but its protocol is 'another'`,
      ],
      [{}, publicSignals, 'proof.'],
      [withPoint(5), publicSignals, `proof.${point} must be an array, got number`],
      [withPoint(['1']), publicSignals, `proof.${point} must have the coordinates x, y and 1, got 1`],
      [withPoint(['1', '2', '3']), publicSignals, `proof.${point}[2] must be 1, or 0 for infinity`],
      [withPoint(['1', -2, '1']), publicSignals, `proof.${point}[1] must be a non-negative integer`],
      [proof, undefined, 'publicSignals must be an array, got undefined'],
      ...([
        ['-1', "got '-1'"],
        [-1, 'got -1'],
        [-1n, 'got -1'],
        [1.5, 'got 1.5'],
        [Number.NaN, 'got NaN'],
        ['', "got ''"],
        [' 1', "got ' 1'"],
        ['0x', "got '0x'"],
        ['1e3', "got '1e3'"],
        [null, 'got null'],
        [true, 'got true'],
        [['1'], 'got Array'],
        ['z'.repeat(1000), `got '${'z'.repeat(23)}… (1002 characters)`],
      ].map(([signal, got]) => [
        proof,
        [signal],
        `publicSignals[0] must be a non-negative integer (a bigint, a number, or a string of decimal digits or 0x and hexadecimal ones), ${got}`,
      ]) as [object, unknown[], string][]),
      [proof, [2 ** 53], 'publicSignals[0] is 9007199254740992, more than a double holds exactly'],
    ] as const) {
      await expect(key.verify(given, signals)).rejects.toMatchObject({
        ...{ code: 'bad-argument', message: expect.stringContaining(message) },
      });
    }
    await expect(key.prove(circuit.witness, { verifyProof: 1 })).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: 'options.verifyProof must be true or false, got 1' },
    });
    expect(await key.verify(proof, publicSignals)).toBe(true);
  });

  test('an unsatisfied witness is refused with verifyProof, and the next proof verifies', async () => {
    const { zkey, circuit, verify } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    await expect(key.prove(flipped(circuit.witness), { verifyProof: true })).rejects.toMatchObject({
      ...{
        code: 'bad-argument',
        message: expect.stringMatching(
          system === 'groth16'
            ? /^witness: .* does not satisfy the circuit/
            : /^witness: it does not satisfy constraint \d+ of the key$/,
        ),
      },
    });
    if (system === 'groth16') {
      const wrong = await key.prove(flipped(circuit.witness));
      expect(await key.verify(wrong.proof, wrong.publicSignals)).toBe(false);
    }
    const [first, second] = await Promise.all([0, 1].map(() => key.prove(circuit.witness, { verifyProof: true })));
    for (const each of [first, second]) expect(await verify(each as Result)).toBe(true);
  });

  test('verification is the last part of a proof; an abort in it leaves the key usable', async () => {
    const { zkey, circuit, verify } = await statementOf(system, curve);
    using key = await open(system, zkey.data);
    const { length: parts } = PARTS[system];
    const seen: { readonly part: string }[] = [];
    const onProgress = (progress: { readonly part: string }) => seen.push(progress);
    const { proof, publicSignals } = await key.prove(circuit.witness, { verifyProof: true, onProgress });
    const total = parts + 1;
    expect(seen).toMatchObject(Array.from({ length: total }, (_, i) => ({ phase: 'prove', done: i + 1, total })));
    expect(seen.map(({ part }) => part).sort()).toEqual([...PARTS[system], 'verification'].sort());
    expect(seen.at(-1)?.part).toBe('verification');
    for (const last of [parts, total]) {
      const controller = new AbortController();
      const proving = key.prove(circuit.witness, {
        ...{ verifyProof: true, signal: controller.signal },
        onProgress: ({ done }: { done: number }) => void (done === last && controller.abort('enough')),
      });
      await expect(proving).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    }
    const controller = new AbortController();
    const verifying = key.verify(proof, publicSignals, { signal: controller.signal });
    controller.abort('enough');
    await expect(verifying).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    await expect(key.verify(proof, publicSignals, { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(await verify(await key.prove(circuit.witness, { verifyProof: true }))).toBe(true);
    const own = await open(system, zkey.data);
    const onDestroy = ({ done }: { done: number }) => void (done === parts && own.destroy());
    await expect(own.prove(circuit.witness, { verifyProof: true, onProgress: onDestroy })).rejects.toMatchObject({
      code: 'destroyed',
    });
    await expect(own.verify(proof, publicSignals)).rejects.toMatchObject({ code: 'destroyed' });
  });
};
describe.each(cases.filter(([, curve]) => curve === 'bn254'))('%s on %s', verifies);
describe.each(cases.filter(([, curve]) => curve !== 'bn254'))('%s on %s', { tags: 'long' }, verifies);
