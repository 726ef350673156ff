/** Proofs in every form that the verifiers of snarkjs take, and those with points at infinity. */
import { afterAll, describe, expect, test } from 'vitest';
import { openProvingKeyWith as openFflonkWith } from '../../src/fflonk/open-proving-key.js';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { openProvingKeyWith as openGroth16With } from '../../src/groth16/open-proving-key.js';
import { openProvingKey as openGroth16 } from '../../src/groth16.js';
import { openProvingKeyWith as openPlonkWith } from '../../src/plonk/open-proving-key.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import { ffCurveOf, memoryFile, powersOf, snarkjs } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());

const systems = ['groth16', 'plonk', 'fflonk'] as const;
type System = (typeof systems)[number];

/** A proof or a part of it, as JSON has it. */
type Json = string | readonly Json[] | { readonly [name: string]: Json };
type Proof = Readonly<Record<string, Json>>;
interface Result {
  readonly proof: Proof;
  readonly publicSignals: readonly string[];
}

interface Key {
  prove(witness: Uint8Array): Promise<Result>;
  verify(proof: unknown, publicSignals: unknown): Promise<boolean>;
  [Symbol.dispose](): void;
}

/** Makes a key of snarkjs, and its verification key. @param power of Groth16's domain */
const setUp = async (system: System, r1cs: Uint8Array, power: number) => {
  const isGroth16 = system === 'groth16';
  const ptau = memoryFile(
    await (isGroth16 ? powersOf('bn254', power, 2 ** (power + 1), true) : powersOf('bn254', 5, 9 * 2 ** 5 + 18, false)),
  );
  const zkey = memoryFile() as { data?: Uint8Array };
  if (isGroth16) await snarkjs.zKey.newZKey(memoryFile(r1cs), ptau, zkey);
  else await snarkjs[system].setup(memoryFile(r1cs), ptau, zkey);
  const verificationKey = await snarkjs.zKey.exportVerificationKey(zkey);
  return { zkey: zkey.data as Uint8Array, verificationKey };
};

/** The verdict of snarkjs, which fails at some proofs that are none. */
const theirVerdict = (system: System, verificationKey: unknown, proof: unknown, signals: unknown): Promise<boolean> =>
  snarkjs[system].verify(structuredClone(verificationKey), signals as string[], proof).catch(() => false);

/** Returns a copy with each number in another form. */
const mapped = (part: Json, map: (number: bigint) => unknown): unknown => {
  if (typeof part === 'string') return map(BigInt(part));
  if (Array.isArray(part)) return part.map((each) => mapped(each, map));
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, mapped(each, map)]));
};

/** Returns a copy whose points have two coordinates. */
const affine = (part: Json): unknown => {
  if (typeof part === 'string') return part;
  if (Array.isArray(part)) return part.length === 3 ? part.slice(0, 2) : part;
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, affine(each)]));
};

const numbersOf = ({ protocol, curve, ...numbers }: Proof): Proof => numbers;

const hex = (number: bigint): string => `0x${number.toString(16)}`;
const small = (number: bigint): unknown => (number < 2n ** 53n ? Number(number) : String(number));

/** Forms of a proof without its names, and of public signals. */
const forms: Readonly<
  Record<string, (proof: Proof, signals: readonly string[]) => readonly [proof: unknown, signals: unknown]>
> = {
  'decimal, without names': (proof, signals) => [proof, signals],
  'decimal with leading zeros': (proof, signals) => [
    mapped(proof, (number) => `00${number}`),
    mapped(signals, (number) => `00${number}`),
  ],
  bigint: (proof, signals) => [mapped(proof, (number) => number), mapped(signals, (number) => number)],
  'numbers where they are small': (proof, signals) => [mapped(proof, small), mapped(signals, small)],
  hexadecimal: (proof, signals) => [mapped(proof, hex), mapped(signals, hex)],
  'hexadecimal, 32 bytes, upper case': (proof, signals) => {
    const padded = (number: bigint): string => `0x${number.toString(16).toUpperCase().padStart(64, '0')}`;
    return [mapped(proof, padded), mapped(signals, padded)];
  },
  'two coordinates': (proof, signals) => [affine(proof), signals],
};

describe.each(systems)('proofs of %s', (system) => {
  test('verify in every form that snarkjs takes, and not with another number', async () => {
    const { r } = await ffCurveOf('bn254');
    const circuitOf = (seed: bigint) =>
      randomCircuit(BigInt(r), { publicInputs: 2, privateInputs: 2, constraints: 3, seed });
    // two public values that a double holds
    let seed = 1n;
    while (circuitOf(seed).publicSignals.some((value) => value > 1n)) seed++;
    const { r1cs, witness } = circuitOf(seed);
    const { zkey, verificationKey } = await setUp(system, r1cs, 3);
    const openKey = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk }[system];
    using key = (await openKey(zkey, { backend: 'cpu' })) as unknown as Key;
    const { proof, publicSignals } = await key.prove(witness);
    for (const [name, form] of Object.entries(forms)) {
      const expectBoth = async (isRight: boolean, numbers: Proof, signals: readonly string[]): Promise<void> => {
        const [inForm, signalsInForm] = form(numbers, signals);
        expect(await theirVerdict(system, verificationKey, inForm, signalsInForm), name).toBe(isRight);
        expect(await key.verify(inForm, signalsInForm), name).toBe(isRight);
      };
      await expectBoth(true, numbersOf(proof), publicSignals);
      await expectBoth(false, numbersOf(proof), [...publicSignals.slice(0, 1), '5']);
      const wrong = mapped(numbersOf(proof), (number) => String(number > 1n ? number - 1n : number)) as Proof;
      await expectBoth(false, wrong, publicSignals);
    }
  });
});

/** Points of a proof that are at infinity when nothing blinds it and all public values are 0. */
const atInfinity = { groth16: ['pi_c'], plonk: ['A', 'B', 'C', 'T3'], fflonk: ['C1'] } as const;

/** Forms of infinity that snarkjs takes: it reads no coordinates before 0, and (0, 0) as infinity. */
const infinities = [
  ['0', '1', '0'],
  ['7', '9', '0'],
  ['0', '0', '1'],
  ['0', '0'],
] as const;

test.each(systems)('a proof of %s with points at infinity verifies as with snarkjs', async (system) => {
  const { r } = await ffCurveOf('bn254');
  const shape = { publicInputs: 2, privateInputs: 0, constraints: 0, seed: 3n };
  const { r1cs, witness } = randomCircuit(BigInt(r), shape);
  const { zkey, verificationKey } = await setUp(system, r1cs, 2);
  const openWith = { groth16: openGroth16With, plonk: openPlonkWith, fflonk: openFflonkWith }[system];
  using key = (await openWith(zkey, { backend: 'cpu' }, () => new Uint8Array(32))) as unknown as Key;
  const { proof, publicSignals } = await key.prove(witness.fill(0, -2 * 32));
  const holder = (system === 'fflonk' ? proof.polynomials : proof) as Proof;
  const names = Object.keys(holder).filter((name) => Array.isArray(holder[name]) && holder[name][2] === '0');
  expect(names).toEqual(atInfinity[system]);
  const expectBoth = async (isRight: boolean, name: string, point: Json): Promise<void> => {
    const points = { ...holder, [name]: point };
    const changed = system === 'fflonk' ? { ...proof, polynomials: points } : points;
    expect(await theirVerdict(system, verificationKey, changed, publicSignals), `${name}: ${point}`).toBe(isRight);
    expect(await key.verify(changed, publicSignals), `${name}: ${point}`).toBe(isRight);
  };
  for (const name of names) {
    for (const point of infinities) await expectBoth(true, name, point);
    // the generator
    await expectBoth(false, name, ['1', '2', '1']);
  }
  await expect(key.verify(proof, ['0', '1'])).resolves.toBe(false);
});
