/** Constraints that witnesses do not satisfy: their numbers by snarkjs, their sums by BigInts. */
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { namesOfVariables } from '../../src/circom/variable-names.js';
import type { Circuit, CircuitFiles, ConstraintSum, UnsatisfiedConstraint } from '../../src/circom.js';
import { openCircuit } from '../../src/circom.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { type CompiledCircuit, compileCircuit, shapes } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { describeCurves, ffCurveOf, memoryFile, snarkjs } from '../support/proving.js';

const primes = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;
const input = { a: [[1, 2], [3, 4], ['5', 6n]], k: 4, turns: 2 }; // biome-ignore format: a matrix

/** Bytes of a `.wtns` file before its values, and of a value. */
const [HEAD, VALUE] = [76, 32];

/** A sum by variable. */
type Terms = Readonly<Record<string, string>>;

const { r1cs: reader, wtns: checker } = snarkjs as unknown as {
  readonly r1cs: { exportJson(file: object): Promise<{ readonly prime: string; readonly constraints: Terms[][] }> };
  readonly wtns: {
    check(
      r1cs: object,
      wtns: object,
      logger: Record<'info' | 'warn' | 'debug', (line: string) => void>,
    ): Promise<boolean>;
  };
};

/** Returns the first constraint that a witness does not satisfy by snarkjs; null if it satisfies all. */
const bySnarkjs = async (r1cs: Uint8Array, witness: Uint8Array): Promise<number | null> => {
  const lines: string[] = [];
  const logger = { info: () => undefined, debug: () => undefined, warn: (line: string) => void lines.push(line) };
  if (await checker.check(memoryFile(r1cs), memoryFile(witness), logger)) return null;
  return Number(/at constraint (\d+)/.exec(lines.join('\n'))?.[1]);
};

/** Names of variables as snarkjs reads them, `|` between those of one variable. */
const namesBySnarkjs = async (sym: Uint8Array): Promise<readonly (string | undefined)[]> => {
  const path = `${process.cwd()}/node_modules/snarkjs/src/loadsyms.js`;
  const { default: load } = await import(/* @vite-ignore */ pathToFileURL(path).href);
  return (await load(memoryFile(sym))).varIdx2Name;
};

const opened: Circuit[] = [];
const open = async (files: CircuitFiles, warnings: string[] = []): Promise<Circuit> => {
  const onWarning = (message: string) => void warnings.push(message);
  const circuit = await openCircuit(files, { worker: false, backend: 'cpu', maxWorkers: 0, onWarning });
  opened.push(circuit);
  return circuit;
};
afterEach(() => {
  for (const circuit of opened.splice(0)) circuit.destroy();
});

/** Returns a witness with another value of a variable. */
const spoil = (witness: Uint8Array, variable: number, value: number): Uint8Array => {
  const spoilt = witness.slice();
  spoilt.fill(0, HEAD + variable * VALUE, HEAD + (variable + 1) * VALUE);
  spoilt[HEAD + variable * VALUE] = value;
  return spoilt;
};

const valueAt = (witness: Uint8Array, variable: number): bigint =>
  witness
    .subarray(HEAD + variable * VALUE, HEAD + (variable + 1) * VALUE)
    .reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);

describeCurves('on %s', (curve) => {
  test('names the constraint that snarkjs stops at, and its sums', async () => {
    const { wasm, r1cs, sym } = await compileCircuit(shapes, { prime: primes[curve] });
    await ffCurveOf(curve);
    const { prime, constraints } = await reader.exportJson(memoryFile(r1cs));
    const p = BigInt(prime);
    const names = await namesBySnarkjs(sym);
    const circuit = await open({ wasm, r1cs, sym });
    const withoutNames = await open({ wasm, r1cs });
    const witness = await circuit.witness(input);
    expect(await circuit.check(witness)).toBeNull();
    const seen = new Set<number | undefined>();
    for (let variable = 1; variable < circuit.values; variable++) {
      const spoilt = spoil(witness, variable, 200 + variable);
      const expected = await bySnarkjs(r1cs, spoilt);
      const found = await circuit.check(spoilt, { withValues: true });
      expect(found?.constraint ?? null).toBe(expected);
      seen.add(found?.constraint);
      // an input that no constraint has
      if (found === null) continue;
      const sums = [found.a, found.b, found.c].map(({ terms, value }, i) => {
        const json = constraints[found.constraint]?.[i] as Terms;
        expect(terms.map((term) => [String(term.variable), term.coefficient])).toEqual(
          Object.entries(json).map(([index, number]) => [index, around0(BigInt(number), p)]),
        );
        for (const term of terms) {
          expect(term.value).toBe(valueAt(spoilt, term.variable));
          const name = term.variable === 0 ? '' : names[term.variable];
          expect(term.signals.join('|')).toBe(name);
        }
        const sum = terms.reduce((all, term) => all + term.coefficient * (term.value as bigint), 0n);
        expect(value).toBe(((sum % p) + p) % p);
        return value as bigint;
      }) as [bigint, bigint, bigint];
      expect((sums[0] * sums[1] - sums[2]) % p).not.toBe(0n);
      // without values, and without names
      const bare = (sum: ConstraintSum, isNamed: boolean) => ({
        terms: sum.terms.map((term) => ({ ...term, value: null, ...(!isNamed && { signals: [] }) })),
        value: null,
      });
      const without = ({ constraint, a, b, c }: UnsatisfiedConstraint, isNamed: boolean) => ({
        ...{ constraint, a: bare(a, isNamed), b: bare(b, isNamed), c: bare(c, isNamed) },
      });
      expect(await circuit.check(spoilt)).toEqual(without(found, true));
      expect(await withoutNames.check(spoilt)).toEqual(without(found, false));
    }
    expect(seen.size).toBeGreaterThanOrEqual(3);
  });

  test('refuses to prove a witness of another version of the circuit', async () => {
    const source = (assignment: string) => `pragma circom 2.0.0;
template Version() { signal input a; signal input b; signal output product; signal output sum;
  sum <== a + b; product ${assignment}; }
component main = Version();`;
    const options = { level: 0, prime: primes[curve] } as const;
    const right = await compileCircuit(source('<== a * b'), options);
    const wrong = await compileCircuit(source('<-- a * b + 77777'), options);
    const zkey = await makeZkey('groth16', curve, right.r1cs);
    const values = { a: 1234, b: 5678 };
    const { wasm } = wrong;
    const circuit = await open({ wasm, zkey, r1cs: right.r1cs, sym: right.sym });
    const witness = await circuit.witness(values);
    const constraint = (await bySnarkjs(right.r1cs, witness)) as number;
    const failed = circuit.prove(values);
    await expect(failed).rejects.toMatchObject({ code: 'unsatisfied' });
    await expect(failed).rejects.toThrow(`constraint ${constraint} of the 2 in r1cs`);
    await expect(failed).rejects.not.toThrow(/1234|5678|77777/);
    const found = await circuit.check(witness, { withValues: true });
    expect(found?.constraint).toBe(constraint);
    const signals = [found?.a, found?.b, found?.c].flatMap((sum) => sum?.terms.flatMap((term) => term.signals));
    expect(signals).toEqual(['main.a', 'main.b', 'main.product']);
    // without the constraints the proof is made, and does not verify
    const trusting = await open({ wasm, zkey });
    const { proof, publicSignals } = await trusting.prove(values);
    expect(await trusting.verify(proof, publicSignals)).toBe(false);
    const proving = await open({ wasm: right.wasm, zkey, r1cs: right.r1cs });
    expect((await proving.prove(values, { verifyProof: true })).publicSignals).toEqual(['7006652', '6912']);
  });
});

/** Returns a number as the one nearest to 0 that equals it modulo p. */
const around0 = (number: bigint, p: bigint): bigint => (2n * number > p ? number - p : number);

describe('refuses', () => {
  let compiled: CompiledCircuit;
  let zkey: Uint8Array;
  beforeAll(async () => {
    compiled = await compileCircuit(shapes);
    zkey = await makeZkey('groth16', 'bn254', compiled.r1cs);
  });
  const refused = async (work: Promise<unknown>, message: string, code = 'bad-argument'): Promise<void> => {
    await expect(work).rejects.toMatchObject({ code });
    await expect(work).rejects.toThrow(message);
  };

  test('constraints of another circuit, of another field, and other files', async () => {
    const { wasm, r1cs } = compiled;
    const other = await compileCircuit(shapes, { prime: 'bls12381' });
    await refused(open({ wasm, r1cs: other.r1cs }), 'wasm and r1cs are of different fields');
    const five = await compileCircuit('template Five() { signal output five; five <== 5; } component main = Five();');
    await refused(open({ wasm, r1cs: five.r1cs }), 'wasm and r1cs are of different circuits');
    await refused(open({ wasm, r1cs: wasm }), 'r1cs: the file must begin with the letters r1cs');
    await refused(open({ wasm, r1cs: r1cs.subarray(0, 100) }), 'r1cs: ');
    const goldilocks = await compileCircuit(shapes, { prime: 'goldilocks' });
    await refused(open({ wasm: goldilocks.wasm, r1cs: goldilocks.r1cs }), 'r1cs: the header has a prime of 8 bytes');
    // as many variables, and another number of public signals
    const secret = await compileCircuit(shapes.replace('{public [k]}', ''));
    await refused(open({ wasm, zkey, r1cs: secret.r1cs }), 'the key has 2 public signals, and the constraints have 1');
    const warnings: string[] = [];
    await open({ wasm, r1cs: Uint8Array.of(...r1cs, 7) }, warnings);
    expect(warnings.join()).toContain('r1cs: 1 bytes follow the last section');
  });

  test('witnesses of other circuits, and a file of symbols of another circuit', async () => {
    const { wasm, r1cs } = compiled;
    const sym = new TextEncoder().encode('1,1,0,main.q[0]\n2,99999,0,main.r\n');
    const circuit = await open({ wasm, r1cs, sym });
    const witness = await circuit.witness(input);
    expect(await circuit.check(witness)).toBeNull();
    await refused(circuit.check(spoil(witness, 1, 99)), 'sym: the file names variable 99999');
    await refused(circuit.check(witness.subarray(0, -VALUE)), 'witness: ');
    await refused(circuit.check(spoil(witness, 0, 2)), 'witness: variable 0 must have the value 1');
    await refused(circuit.check('witness' as never), 'witness: the file must be bytes');
    await refused(circuit.check(witness, { withvalues: true } as never), 'did you mean withValues?');
    await refused(circuit.check(witness, { withValues: 1 } as never), 'options.withValues');
    // the values alone are a witness, too
    expect(await circuit.check(spoil(witness, 0, 1).subarray(HEAD))).toBeNull();
  });

  test('checks without constraints, and ends checks', async () => {
    const { wasm, r1cs } = compiled;
    const plain = await open({ wasm });
    const witness = await plain.witness(input);
    await refused(plain.check(witness), 'the circuit was opened without an r1cs');
    const circuit = await open({ wasm, r1cs });
    await refused(circuit.check(witness, { signal: AbortSignal.abort() }), 'aborted', 'aborted');
    const ending = new AbortController();
    const aborted = circuit.check(witness, { signal: ending.signal });
    ending.abort();
    await refused(aborted, 'aborted', 'aborted');
    const late = circuit.check(witness);
    circuit.destroy();
    await refused(late, 'destroyed', 'destroyed');
    await refused(circuit.check(witness), 'destroyed', 'destroyed');
  });
});

test('reads names across the parts of a long file of symbols', async () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `${i + 1},${i % 3 === 0 ? -1 : i},0,main.é[${i}]`);
  const sym = new TextEncoder().encode(lines.join('\r\n'));
  const wanted = new Set(Array.from({ length: 30_000 }, (_, i) => i));
  const run = { variables: 30_000, slice: new TimeSlice(() => undefined), signal: undefined };
  const names = await namesOfVariables(sym, wanted, run);
  expect(names.size).toBe(20_000);
  for (const [variable, all] of names) expect(all).toEqual([`main.é[${variable}]`]);
});
