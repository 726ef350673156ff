/**
 * Makes Groth16 keys for a circuit from secrets that are drawn here. There is no ceremony: whoever
 * draws the secrets can prove false statements, so these keys are for trials only.
 *
 * The protocol is from "On the Size of Pairing-based Non-interactive Arguments" (Groth 2016),
 * section 3.2; the file format is that of snarkjs.
 */
import { Field, type IField } from '@noble/curves/abstract/modular.js';
import { Bytes, fileOf } from './bytes.js';
import { type Circuit, type Combination, PUBLIC } from './circuit.js';

/** The part of a group of ffjavascript that keys need. */
export interface KeyGroup {
  readonly g: Uint8Array;
  readonly zero: Uint8Array;
  readonly F: { readonly n8: number };
  /** Adds a Jacobian point and a point of either kind. */
  add(left: Uint8Array, right: Uint8Array): Uint8Array;
  double(point: Uint8Array): Uint8Array;
  batchToAffine(points: Uint8Array): Promise<Uint8Array>;
}

/** A curve of ffjavascript: `snarkjs.curves.getCurveFromName('bn128')`. */
export interface KeyCurve {
  readonly q: bigint;
  readonly r: bigint;
  readonly G1: KeyGroup;
  readonly G2: KeyGroup;
  readonly Fr: {
    /** Roots of unity: w[k] has order 2^k. */
    readonly w: readonly Uint8Array[];
    random(): Uint8Array;
    toObject(element: Uint8Array): bigint;
  };
}

/** Numbers of a pairing-friendly curve and multiples of its generators, from which keys are computed. */
export interface KeyArithmetic {
  readonly q: bigint;
  readonly r: bigint;
  /** Bytes of an element of F_q. */
  readonly fieldBytes: number;
  /** Returns the root of unity of order 2^log that provers use. */
  rootOf(log: number): bigint;
  random(): bigint;
  /**
   * Returns multiples of a generator as the file has them: x and y, little-endian in Montgomery form.
   *
   * @param onMultiples called, and awaited, after each or after some, with their number
   */
  multiples(
    group: 'g1' | 'g2',
    scalars: readonly bigint[],
    onMultiples: (count: number) => void | Promise<void>,
  ): Promise<Uint8Array>;
}

/** Called at intervals with the finished share. It may wait, and an exception ends the work. */
export type OnProgress = (share: number) => void | Promise<void>;

const FIELD_BYTES = 32;
const SECTION = { protocol: 1, header: 2, ic: 3, coefficients: 4, a: 5, b1: 6, b2: 7, c: 8, h: 9 } as const;
const GROTH16 = 1;

/**
 * Returns L_i(tau) on the powers of a root of order `size`: ω^i · (tau^size − 1) / (size · (tau −
 * ω^i)).
 */
const lagrangeAt = (tau: bigint, root: bigint, size: number, Fr: IField<bigint>): bigint[] => {
  const roots = [1n];
  while (roots.length < size) roots.push(Fr.mul(roots.at(-1) as bigint, root));
  const below = Fr.invertBatch(roots.map((element) => Fr.create((tau - element) * BigInt(size))));
  const above = Fr.pow(tau, BigInt(size)) - 1n;
  return roots.map((element, i) => Fr.mul(Fr.mul(element, above), below[i] as bigint));
};

/** Returns the values at tau of the polynomials of each wire. */
const wiresAtTau = (
  { wires, constraints, r }: Circuit,
  lagrange: readonly bigint[],
): Readonly<Record<'a' | 'b' | 'c', readonly bigint[]>> => {
  const at = {
    a: new Array<bigint>(wires).fill(0n),
    b: new Array<bigint>(wires).fill(0n),
    c: new Array<bigint>(wires).fill(0n),
  };
  for (const [i, constraint] of constraints.entries()) {
    for (const side of ['a', 'b', 'c'] as const) {
      for (const [wire, factor] of constraint[side]) {
        at[side][wire] = ((at[side][wire] as bigint) + (factor + r) * (lagrange[i] as bigint)) % r;
      }
    }
  }
  // one more row for the 1 and each public wire keeps their polynomials independent
  for (let wire = 0; wire <= PUBLIC; wire++) {
    at.a[wire] = ((at.a[wire] as bigint) + (lagrange[constraints.length + wire] as bigint)) % r;
  }
  return at;
};

/**
 * Encodes sides a and b of all constraints for the prover. The numbers are multiplied by 2^512, so
 * that a Montgomery product with the witness is in Montgomery form.
 */
const coefficientsOf = ({ constraints, r }: Circuit): Uint8Array => {
  const montgomery = 2n ** 512n % r;
  const rows: readonly (readonly [matrix: number, row: number, of: Combination])[] = [
    ...constraints.flatMap(({ a, b }, row) => [[0, row, a] as const, [1, row, b] as const]),
    ...Array.from({ length: PUBLIC + 1 }, (_, wire) => [0, constraints.length + wire, new Map([[wire, 1n]])] as const),
  ];
  const section = new Bytes().u32(rows.reduce((sum, [, , { size }]) => sum + size, 0));
  for (const [matrix, row, combination] of rows) {
    for (const [wire, factor] of combination) {
      section
        .u32(matrix)
        .u32(row)
        .u32(wire)
        .number(((factor + r) * montgomery) % r, FIELD_BYTES);
    }
  }
  return section.done();
};

/** Bits of a scalar for each addition. */
const WINDOW = 8;

/**
 * Returns a function that multiplies the generator, from a table of d · 2^(8·w), d < 256: one
 * addition for each byte of a scalar, and no doublings.
 */
const byGenerator = async (group: KeyGroup): Promise<(scalar: bigint) => Uint8Array> => {
  const { zero, F } = group;
  const width = 2 ** WINDOW;
  const bytes = 3 * F.n8;
  const multiples = new Uint8Array(FIELD_BYTES * width * bytes);
  let base = group.g;
  for (let window = 0; window < FIELD_BYTES; window++) {
    let multiple = zero;
    for (let digit = 0; digit < width; digit++) {
      multiples.set(multiple, (window * width + digit) * bytes);
      multiple = group.add(multiple, base);
    }
    for (let i = 0; i < WINDOW; i++) base = group.double(base);
  }
  const affine = await group.batchToAffine(multiples);
  return (scalar) => {
    let sum = zero;
    let rest = scalar;
    for (let window = 0; rest > 0n; window++, rest >>= BigInt(WINDOW)) {
      const at = window * width + Number(BigInt.asUintN(WINDOW, rest));
      sum = group.add(sum, affine.subarray(at * 2 * F.n8, (at + 1) * 2 * F.n8));
    }
    return sum;
  };
};

const arithmeticOf = ({ q, r, G1, G2, Fr }: KeyCurve): KeyArithmetic => {
  const groups = { g1: G1, g2: G2 };
  const multipliers = new Map<KeyGroup, Promise<(scalar: bigint) => Uint8Array>>();
  return {
    q,
    r,
    fieldBytes: G1.F.n8,
    rootOf: (log) => Fr.toObject(Fr.w[log] as Uint8Array),
    random: () => Fr.toObject(Fr.random()),
    async multiples(name, scalars, onMultiples) {
      const group = groups[name];
      const pointBytes = 3 * group.F.n8;
      const multiplier = multipliers.get(group) ?? byGenerator(group);
      multipliers.set(group, multiplier);
      const multiply = await multiplier;
      const jacobian = new Uint8Array(scalars.length * pointBytes);
      for (const [i, scalar] of scalars.entries()) {
        jacobian.set(multiply(scalar), i * pointBytes);
        await onMultiples(1);
      }
      return group.batchToAffine(jacobian);
    },
  };
};

/** Multiplications between two reports of progress. */
const REPORT_INTERVAL = 256;

/**
 * Makes a `.zkey` for a circuit with a curve of ffjavascript.
 *
 * @param secrets tau, alpha, beta, gamma and delta, for tests; drawn by default
 */
export const makeKeys = (
  curve: KeyCurve,
  circuit: Circuit,
  onProgress?: OnProgress,
  secrets?: readonly bigint[],
): Promise<Uint8Array> => makeKeysBy(arithmeticOf(curve), circuit, onProgress, secrets);

/** Makes a `.zkey` for a circuit with any arithmetic; parameters as those of `makeKeys`. */
export const makeKeysBy = async (
  { q, r, fieldBytes, rootOf, random, multiples }: KeyArithmetic,
  circuit: Circuit,
  onProgress: OnProgress = () => undefined,
  secrets: readonly bigint[] = Array.from({ length: 5 }, random),
): Promise<Uint8Array> => {
  const { wires, constraints } = circuit;
  const [tau, alpha, beta, gamma, delta] = secrets as [bigint, bigint, bigint, bigint, bigint];
  const Fr = Field(r);
  const log = Math.ceil(Math.log2(constraints.length + PUBLIC + 1));
  const size = 2 ** log;
  const { a, b, c } = wiresAtTau(circuit, lagrangeAt(tau, rootOf(log), size, Fr));
  const [byGamma, byDelta] = [gamma, delta].map((secret) => Fr.inv(secret)) as [bigint, bigint];
  const joint = a.map((value, i) => (beta * value + alpha * (b[i] as bigint) + (c[i] as bigint)) % r);
  // h is given by its values on the odd coset, between the elements of the domain
  const odd = lagrangeAt(tau, rootOf(log + 1), 2 * size, Fr).filter((_, i) => i % 2 === 1);

  const total = 4 * wires + size;
  let done = 0;
  const points = (group: 'g1' | 'g2', scalars: readonly bigint[]): Promise<Uint8Array> =>
    multiples(group, scalars, (count) => {
      const before = Math.floor(done / REPORT_INTERVAL);
      done += count;
      return Math.floor(done / REPORT_INTERVAL) > before ? onProgress(Math.min(1, done / total)) : undefined;
    });
  const scaled = (values: readonly bigint[], factor: bigint) => values.map((value) => (value * factor) % r);

  const header = new Bytes().u32(fieldBytes).number(q, fieldBytes).u32(FIELD_BYTES).number(r, FIELD_BYTES);
  header.u32(wires).u32(PUBLIC).u32(size);
  for (const [group, secret] of [
    ['g1', alpha],
    ['g1', beta],
    ['g2', beta],
    ['g2', gamma],
    ['g1', delta],
    ['g2', delta],
  ] as const) {
    header.raw(await points(group, [secret]));
  }
  return fileOf('zkey', 1, [
    [SECTION.protocol, new Bytes().u32(GROTH16).done()],
    [SECTION.header, header.done()],
    [SECTION.ic, await points('g1', scaled(joint.slice(0, PUBLIC + 1), byGamma))],
    [SECTION.coefficients, coefficientsOf(circuit)],
    [SECTION.a, await points('g1', a)],
    [SECTION.b1, await points('g1', b)],
    [SECTION.b2, await points('g2', b)],
    [SECTION.c, await points('g1', scaled(joint.slice(PUBLIC + 1), byDelta))],
    [SECTION.h, await points('g1', scaled(odd, byDelta))],
  ]);
};
