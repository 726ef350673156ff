/** Makes a circuit and a witness in code, without a compiler. */
import { Bytes, fileOf } from './bytes.js';

/** A linear combination of wires. */
export type Combination = ReadonlyMap<number, bigint>;

/** The constraint a · b = c. */
export interface Constraint {
  readonly a: Combination;
  readonly b: Combination;
  readonly c: Combination;
}

export interface Circuit {
  /** Order of the group, whose field the circuit is over. */
  readonly r: bigint;
  /** Number of wires, including the constant 1 (first) and the public one (second). */
  readonly wires: number;
  readonly constraints: readonly Constraint[];
  /** Content of an `.r1cs` file. */
  readonly r1cs: Uint8Array;
  /** Content of a `.wtns` file. */
  readonly witness: Uint8Array;
  readonly publicSignals: readonly bigint[];
}

/** Number of public wires. */
export const PUBLIC = 1;

/** Bytes of a field element. */
const FIELD_BYTES = 32;

/**
 * Returns a deterministic generator of varied numbers, x ↦ x · a + c modulo r. It has no
 * cryptographic quality.
 */
const drawFrom = (r: bigint, seed: number): (() => bigint) => {
  let state = BigInt(seed);
  return () => {
    state = (state * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95n + 0xbf58476d1ce4e5b9n) % r;
    return state;
  };
};

/** Makes a file in iden3's binary format of R1CS, version 1. */
const r1csFile = (r: bigint, wires: number, constraints: readonly Constraint[]): Uint8Array => {
  const header = new Bytes().u32(FIELD_BYTES).number(r, FIELD_BYTES).u32(wires).u32(PUBLIC).u32(0);
  header
    .u32(wires - 1 - PUBLIC)
    .u64(wires)
    .u32(constraints.length);
  const body = new Bytes();
  for (const { a, b, c } of constraints) {
    for (const combination of [a, b, c]) {
      body.u32(combination.size);
      for (const [wire, factor] of combination) body.u32(wire).number(((factor % r) + r) % r, FIELD_BYTES);
    }
  }
  const labels = new Bytes();
  for (let wire = 0; wire < wires; wire++) labels.u64(wire);
  return fileOf('r1cs', 1, [
    [1, header.done()],
    [2, body.done()],
    [3, labels.done()],
  ]);
};

const witnessFile = (r: bigint, values: readonly bigint[]): Uint8Array => {
  const header = new Bytes().u32(FIELD_BYTES).number(r, FIELD_BYTES).u32(values.length);
  const body = new Bytes();
  for (const value of values) body.number(value, FIELD_BYTES);
  return fileOf('wtns', 2, [
    [1, header.done()],
    [2, body.done()],
  ]);
};

/**
 * Makes a circuit with `constraints` constraints and one public signal. `dense`: a chain in which
 * each value is the previous one times itself plus a constant, so all values are large. `sparse`:
 * bits, of which one in eight is set.
 *
 * @param r order of the group
 */
export const makeCircuit = (r: bigint, constraints: number, kind: 'dense' | 'sparse', seed = 1): Circuit => {
  const draw = drawFrom(r, seed);
  const all: Constraint[] = [];
  const values: bigint[] = [1n, 0n];
  const wire = (value: bigint): number => values.push(value) - 1;
  let at = wire(draw());
  let last = values[at] as bigint;
  const chain = (): void => {
    const constant = BigInt(all.length + 1);
    const next = (last * (last + constant)) % r;
    // the last value is the public one
    const to = all.length === constraints - 1 ? PUBLIC : wire(next);
    values[to] = next;
    all.push({
      a: new Map([[at, 1n]]),
      b: new Map([
        [at, 1n],
        [0, constant],
      ]),
      c: new Map([[to, 1n]]),
    });
    [at, last] = [to, next];
  };
  while (all.length < constraints - 1) {
    if (kind === 'dense') {
      chain();
      continue;
    }
    const bit = wire(BigInt(draw() % 8n === 0n));
    all.push({
      a: new Map([[bit, 1n]]),
      b: new Map([
        [bit, 1n],
        [0, -1n],
      ]),
      c: new Map(),
    });
  }
  chain();
  return {
    r,
    wires: values.length,
    constraints: all,
    r1cs: r1csFile(r, values.length, all),
    witness: witnessFile(r, values),
    publicSignals: [values[PUBLIC] as bigint],
  };
};
