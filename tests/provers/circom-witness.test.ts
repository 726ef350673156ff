/** Witnesses by the programs of circom, beside snarkjs's own. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import * as module from 'snarkjs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readSignals } from '../../src/circom/input-signals.js';
import { compileProgram, WitnessProgram } from '../../src/circom/program.js';
import { type CompiledCircuit, compileCircuit, shapes } from '../support/circom.js';
import { drawnCircuit, drawnNumber, inputsFor } from '../support/generated-circuits.js';
import { memoryFile } from '../support/proving.js';
import { publishedPackage } from '../support/published-packages.js';

const { wtns } = module as unknown as {
  readonly wtns: { calculate(input: unknown, wasm: Uint8Array, to: object, options?: object): Promise<void> };
};

/** Computes a witness with snarkjs. Its runtime allocates 2 GiB unless it is told not to. */
const bySnarkjs = async (wasm: Uint8Array, input: unknown, memorySize = 1): Promise<Uint8Array> => {
  const file = memoryFile();
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    await wtns.calculate(input, wasm, file, { memorySize });
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
  return new Uint8Array((file as { data?: Uint8Array }).data as Uint8Array);
};

const open = async (wasm: Uint8Array): Promise<WitnessProgram> => WitnessProgram.open(await compileProgram(wasm));

const compute = async (program: WitnessProgram, input: unknown, log: string[] = []): Promise<Uint8Array> =>
  program.compute(readSignals(input, program.facts.prime), (line) => void log.push(line));

describe('a circuit of circom 2', () => {
  let circuit: CompiledCircuit;
  let program: WitnessProgram;
  beforeAll(async () => {
    circuit = await compileCircuit(shapes);
    program = await open(circuit.wasm);
  });

  const a = [1, 2, 3, 4, 5, 6];

  test('has the witness of snarkjs, and logs', async () => {
    const input = { a, k: 4, turns: 2 };
    const log: string[] = [];
    expect(await compute(program, input, log)).toEqual(await bySnarkjs(circuit.wasm, input));
    // ((4·1 + 2)·3 + 4)·5 + 6
    expect(log).toEqual(['out 116 4', 'second']);
  });

  test.each([
    [
      'nested arrays',
      {
        a: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        k: 4,
        turns: 0,
      },
    ],
    ['negative numbers', { a: [-1, '-2', -3n, -4, -5, -6], k: -4, turns: 0 }],
    ['strings', { a: ['0x1f', '2', ' 3 ', '0b11', '0o17', '000123'], k: '4', turns: '0' }],
    ['booleans', { a: [true, false, true, true, false, true], k: true, turns: false }],
    [
      'numbers above the prime',
      { a: [2n ** 254n, 2n ** 255n, 2n ** 300n, -(2n ** 300n), 2n ** 31n, 2n ** 32n], k: 2 ** 53 - 1, turns: 0 },
    ],
    ['a list in a list for one value', { a: [[[1]], 2, [3, [4, [5]], 6]], k: [[4]], turns: [0] }],
  ])('takes %s as snarkjs does', async (_, input) => {
    expect(await compute(program, input)).toEqual(await bySnarkjs(circuit.wasm, input));
  });

  test('takes typed arrays', async () => {
    const expected = await bySnarkjs(circuit.wasm, { a, k: 4, turns: 0 });
    for (const List of [Uint8Array, Int32Array, Float64Array]) {
      expect(await compute(program, { a: List.from(a), k: 4, turns: 0 })).toEqual(expected);
    }
    expect(await compute(program, { a: BigUint64Array.from(a, BigInt), k: 4, turns: 0 })).toEqual(expected);
  });

  test.each([
    ['a name that no input has', { a, k: 4, turns: 0, b: 1 }, 'input.b is not an input signal of the circuit'],
    ['too few values', { a: [1, 2], k: 4, turns: 0 }, 'input.a has 2 values, but the signal takes 6: too few'],
    ['too many values', { a, k: [4, 4], turns: 0 }, 'input.k has 2 values, but the signal takes 1: too many'],
    ['a signal that is missing', { a, k: 4 }, 'input has 7 values, but the input signals of the circuit take 8'],
    ['no values', { a: [], k: 4, turns: 0 }, 'input.a has 0 values, but the signal takes 6'],
    [
      'a number that a double rounds',
      { a: [0, 0, 0, 2 ** 53], k: 4, turns: 0 },
      'input.a: value 3 is a number beyond 2^53 − 1',
    ],
    ['a fraction', { a, k: 1.5, turns: 0 }, 'input.k: value 0 must be an integer'],
    ['no number', { a, k: Number.NaN, turns: 0 }, 'input.k: value 0 must be an integer'],
    ['an empty string', { a, k: '', turns: 0 }, 'input.k: value 0 must be a string of decimal digits'],
    ['another string', { a, k: '4a', turns: 0 }, 'input.k: value 0 must be a string of decimal digits'],
    [
      'null',
      { a, k: null, turns: 0 },
      'input.k: value 0 must be a bigint, an integer, a boolean or a string of digits, got null',
    ],
    ['a hole', { a: Object.assign(Array(6).fill(1, 0, 1), { 5: 6 }), k: 4, turns: 0 }, 'input.a: value 1 must be'],
    ['a member of a signal', { a, k: { x: 1 }, turns: 0 }, 'input.k.x is not an input signal of the circuit'],
    ['one signal twice', { a, k: 4, turns: 0, 'p.x': 1, p: { x: 1 } }, 'input.p.x is given twice'],
    ['text', '{"a": 1}', 'input must be an object with the values of each input signal, got string; read the text'],
    ['a list', [1], 'input must be an object'],
    ['null for all', null, 'input must be an object'],
  ])('refuses %s', async (_, input, message) => {
    const failed = compute(program, input);
    await expect(failed).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(failed).rejects.toThrow(message);
  });

  test('refuses a list that has itself as an element', async () => {
    const list: unknown[] = [];
    list.push(list);
    await expect(compute(program, { a: list, k: 4, turns: 0 })).rejects.toThrow('input.a is nested more than 64 deep');
  });

  test.each([
    ['an assertion', 7],
    ['a constraint', 9],
  ])('says where %s does not hold, and goes on', async (_, k) => {
    const fails = compute(program, { a, k, turns: 0 });
    await expect(fails).rejects.toMatchObject({ code: 'unsatisfied' });
    const said = await bySnarkjs(circuit.wasm, { a, k, turns: 0 }).catch((error: Error) => error.message);
    // "Error: Assert Failed. Error in template Shapes_0 line: 15"
    const [, text] = /(Assert Failed.*line: \d+)/.exec(String(said).replaceAll('\n', ' ')) ?? [];
    expect(text).toMatch(/template Shapes_\d+ line: \d+/);
    await expect(fails).rejects.toThrow(text as string);
    const input = { a, k: 5, turns: 1 };
    expect(await compute(program, input)).toEqual(await bySnarkjs(circuit.wasm, input));
  });

  test('serves calls at once, and one after the other', async () => {
    const inputs = [2, 7, 3, 9, 4, 4].map((k) => ({ a: a.map((each) => each * k), k, turns: k }));
    const computed = await Promise.allSettled(inputs.map((input) => compute(program, input)));
    for (const [i, input] of inputs.entries()) {
      const expected = await bySnarkjs(circuit.wasm, input).catch(() => null);
      const each = computed[i] as PromiseSettledResult<Uint8Array>;
      expect(each.status === 'fulfilled' ? each.value : null).toEqual(expected);
    }
  });

  test('passes on what onLog throws', async () => {
    const thrown = new Error('of the caller');
    const fail = () => {
      throw thrown;
    };
    await expect(program.compute(readSignals({ a, k: 4, turns: 0 }, program.facts.prime), fail)).rejects.toBe(thrown);
    expect(await compute(program, { a, k: 4, turns: 0 })).toEqual(await bySnarkjs(circuit.wasm, { a, k: 4, turns: 0 }));
  });
});

/** Returns the number of values that a witness file has, and their bytes. */
const countIn = (file: Uint8Array): number => new DataView(file.buffer, file.byteOffset).getUint32(60, true);

test('takes no memory beyond that of the program but 4 MB and 32 bytes a value', async () => {
  const values = 10_000;
  const { wasm } = await compileCircuit(`pragma circom 2.0.0;
    template Wide(n) { signal input in; signal output out[n]; for (var i = 0; i < n; i++) { out[i] <== in + i; } }
    component main = Wide(${values});`);
  const made = vi.spyOn(WebAssembly, 'Memory');
  try {
    const program = await open(wasm);
    await compute(program, { in: 1 });
    const before = process.memoryUsage().arrayBuffers;
    const witness = await compute(program, { in: 2 });
    expect(witness.length).toBeGreaterThan(32 * values);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4e6 + 32 * values);
    // a program of circom 2 brings its memory
    expect(made).not.toHaveBeenCalled();
  } finally {
    made.mockRestore();
  }
});

test('computes the witness of a circuit without inputs', async () => {
  const { wasm } = await compileCircuit(
    'pragma circom 2.0.0; template Five() { signal output five; five <== 5; } component main = Five();',
  );
  const witness = await compute(await open(wasm), {});
  expect(witness).toEqual(await bySnarkjs(wasm, {}));
  expect(countIn(witness)).toBe(2);
});

test('takes buses by the names of their members', async () => {
  const { wasm } = await compileCircuit(`pragma circom 2.2.0;
    bus Point() { signal x; signal y[2]; }
    template Sum() {
      input Point() p[2];
      signal input z;
      signal output sum;
      sum <== p[0].x * p[1].y[1] + z;
    }
    component main = Sum();`);
  const program = await open(wasm);
  const p = [
    { x: 3, y: [1, 2] },
    { x: 4, y: [5, 6] },
  ];
  const flat = { 'p[0].x': 3, 'p[0].y': [1, 2], 'p[1].x': 4, 'p[1].y': [5, 6], z: 7 };
  expect(await compute(program, { p, z: 7 })).toEqual(await bySnarkjs(wasm, flat));
});

describe('programs that are none', () => {
  /** A module of WebAssembly without anything. */
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

  test.each([
    ['bytes that are no module', Uint8Array.of(1, 2, 3), 'wasm: the file is no module that can be compiled'],
    ['a module without the functions', empty, 'wasm: the module does not export getFieldNumLen32, getInputSize'],
  ])('refuses %s', async (_, bytes, message) => {
    const failed = compileProgram(bytes);
    await expect(failed).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(failed).rejects.toThrow(message);
  });

  test('explains a trap', async () => {
    // deep enough for the stack of WebAssembly
    const { wasm } = await compileCircuit(`pragma circom 2.0.0;
      function deep(n) { if (n == 0) { return 0; } return 1 + deep(n - 1); }
      template Deep() { signal input n; signal output depth; depth <-- deep(n); depth * 0 === 0; }
      component main = Deep();`);
    const program = await open(wasm);
    expect(await compute(program, { n: 3 })).toEqual(await bySnarkjs(wasm, { n: 3 }));
    const failed = compute(program, { n: 10 ** 9 });
    await expect(failed).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(failed).rejects.toThrow('wasm: the program ended in an error of WebAssembly');
    expect(await compute(program, { n: 4 })).toEqual(await bySnarkjs(wasm, { n: 4 }));
  });
});

describe('beside snarkjs', { tags: 'long' }, () => {
  const include = (name: string, main: string) =>
    `pragma circom 2.0.0; include "circomlib/circuits/${name}.circom"; component main = ${main};`;
  const circuits = {
    shapes,
    poseidon: include('poseidon', 'Poseidon(3)'),
    bits: include('bitify', 'Num2Bits_strict()'),
    comparison: include('comparators', 'LessThan(32)'),
    babyJubjub: include('babyjub', 'BabyAdd()'),
  };
  const number = drawnNumber;
  const list = (length: number) => fc.array(number, { minLength: length, maxLength: length });
  const inputs: Readonly<Record<keyof typeof circuits, fc.Arbitrary<object>>> = {
    shapes: fc.record({ a: fc.array(list(2), { minLength: 3, maxLength: 3 }), k: number, turns: fc.nat(50) }),
    poseidon: fc.record({ inputs: list(3) }),
    bits: fc.record({ in: number }),
    comparison: fc.record({ in: fc.tuple(fc.nat(), fc.oneof(fc.nat(), number)) }),
    babyJubjub: fc.record({ x1: number, y1: number, x2: number, y2: number }),
  };
  const cases = Object.keys(circuits).flatMap((name) =>
    ([0, 1, 2] as const).flatMap((level) =>
      (['bn128', 'bls12381'] as const).map((prime) => [name as keyof typeof circuits, level, prime] as const),
    ),
  );

  /** Compares witnesses of drawn inputs, of which some must satisfy the circuit. */
  const agrees = async (wasm: Uint8Array, drawn: fc.Arbitrary<object>, numRuns: number): Promise<void> => {
    const program = await open(wasm);
    let satisfied = 0;
    const property = fc.asyncProperty(drawn, async (input) => {
      const expected = await bySnarkjs(wasm, input).catch(() => null);
      if (expected !== null) satisfied++;
      const computed = await compute(program, input).catch((error: { readonly code?: string }) => error.code);
      expect(computed).toEqual(expected ?? 'unsatisfied');
    });
    await fc.assert(property, { numRuns });
    expect(satisfied).toBeGreaterThan(0);
  };

  test.each(cases)('%s at O%d on %s', async (name, level, prime) => {
    const { wasm } = await compileCircuit(circuits[name], { level, prime });
    await agrees(wasm, inputs[name], 20);
  });

  test.each(fc.sample(drawnCircuit, { numRuns: 40, seed: 52 }).map((circuit, i) => [i, circuit] as const))(
    'drawn circuit %d',
    async (_, circuit) => {
      const { wasm } = await compileCircuit(circuit.source, circuit);
      await agrees(wasm, inputsFor(circuit), 25);
    },
  );
});

describe('programs of other versions', { tags: 'long' }, () => {
  test.each([
    ['2.0.3', '0.2.0'],
    ['2.1', '0.2.10'],
  ])('circom %s', async (_, version) => {
    const compiler = join(await publishedPackage(`circom2@${version}`), 'node_modules');
    const source = version < '0.2.10' ? shapes.replace(/log\(.*\);/g, 'log(out);') : shapes;
    const { wasm } = await compileCircuit(source, { compiler });
    const program = await open(wasm);
    const input = { a: [1, 2, 3, 4, 5, 6], k: -4, turns: 2 };
    const log: string[] = [];
    expect(await compute(program, input, log)).toEqual(await bySnarkjs(wasm, input));
    expect(log).toHaveLength(2);
    expect(log[0]).toMatch(/\d{4}/);
    await expect(compute(program, { ...input, b: 1 })).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(compute(program, { ...input, turns: [] })).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(compute(program, { ...input, k: 9 })).rejects.toMatchObject({ code: 'unsatisfied' });
    expect(await compute(program, { ...input, k: 8 })).toEqual(await bySnarkjs(wasm, { ...input, k: 8 }));
  });

  test('circom 1, with no more memory than it asks for', async () => {
    const folder = await publishedPackage('circom@0.5.46');
    const source = `template Old() {
      signal input a[2][2]; signal private input k; signal output out; signal sums[3];
      sums[0] <== k;
      for (var i = 0; i < 2; i++) { sums[i + 1] <== sums[i] * a[i][0] + a[i][1]; }
      out <== sums[2];
      log(out);
      signal isNine; isNine <-- k == 9; isNine === 0;
    }
    component main = Old();`;
    const files = mkdtempSync(join(tmpdir(), 'webgpu-msm-circom1-'));
    writeFileSync(join(files, 'old.circom'), source);
    const cli = join(folder, 'node_modules/circom/cli.js');
    execFileSync(process.execPath, [cli, 'old.circom', '--wasm', 'old.wasm'], { cwd: files });
    const wasm = new Uint8Array(readFileSync(join(files, 'old.wasm')));
    rmSync(files, { recursive: true });
    const compiled = await compileProgram(wasm);
    expect(compiled.pages).toBe(2000);
    const program = await WitnessProgram.open(compiled);
    const numbers = [3, 2n ** 31n, -(2n ** 31n), -(2n ** 31n) - 1n, 2n ** 31n - 1n, 2n ** 260n, -1, '0x1234', true];
    for (const k of numbers) {
      const input = {
        a: [
          [k, 2],
          [3, k],
        ],
        k,
      };
      const log: string[] = [];
      const expected = await bySnarkjs(wasm, input, 2000);
      expect(await compute(program, input, log)).toEqual(expected);
      expect(log).toHaveLength(1);
    }
    const log: string[] = [];
    await compute(program, { a: [1, 2, 3, 4], k: -4 }, log);
    // (−4·1 + 2)·3 + 4
    expect(BigInt(log[0] as string)).toBe(program.facts.prime - 2n);
    await expect(compute(program, { a: [1, 2, 3, 4], q: 4 })).rejects.toThrow('input.q is not an input signal');
    const failed = compute(program, { a: [1, 2, 3, 4], k: 9 });
    await expect(failed).rejects.toMatchObject({ code: 'unsatisfied' });
    const tooMany = compute(program, { a: [1, 2, 3, 4], k: [4, 5] });
    await expect(tooMany).rejects.toThrow('wasm: the program stopped: Signal assigned twice');
    const after = { a: [1, 2, 3, 4], k: 8 };
    expect(await compute(program, after)).toEqual(await bySnarkjs(wasm, after, 2000));
  });
});
