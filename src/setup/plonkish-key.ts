/**
 * Keys of PLONK and FFLONK: the polynomials of a circuit's gates and of its permutation, each with its
 * coefficients and its values at the 4n-th roots of unity, and their commitments ("PLONK",
 * https://eprint.iacr.org/2019/953, section 6; "fflonK", https://eprint.iacr.org/2021/1167, section 7).
 */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { AffinePoint } from '../api/values.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument, MsmError } from '../errors.js';
import { invert } from '../field/modulus.js';
import { power } from '../field/powers.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import type { R1cs } from '../formats/r1cs.js';
import type { Output } from '../formats/sink.js';
import { joined } from '../formats/source.js';
import { createMsmEngine } from '../index.js';
import { ELEMENT_BYTES } from '../proofs/key-memory.js';
import { VECTOR_BYTES } from '../proofs/key-vectors.js';
import { SCALAR_BYTES } from '../proofs/witness.js';
import { sumOf } from './checks.js';
import { u32 } from './contributions.js';
import { type Gates, gatesOf, type Selectors } from './gates.js';
import { affineOf, filePoint } from './groups.js';
import { headerOfCircuit, number, SectionWriter } from './key-writer.js';
import { hasRoom, planRounds, type Tables } from './memory.js';
import { rootOf } from './point-transform.js';
import { domainFor, domainOf, type PreparedPowers } from './prepared-powers.js';
import type { KeyPlan, Run, RunOptions } from './run.js';

type SelectorName = keyof Selectors<unknown>;

/** Differences of the keys of both proof systems. */
interface Layout {
  readonly protocol: number;
  /** Number of sections. */
  readonly sections: number;
  readonly dropsZeros: boolean;
  /** Rows at the end of the domain whose wires the prover blinds. */
  readonly blindedRows: number;
  /** Selectors in the order of their sections, from 7 on. */
  readonly selectors: readonly SelectorName[];
  /** Sections of the three permutations; PLONK has all in one. */
  readonly permutations: readonly number[];
  readonly lagrange: number;
  readonly powers: { readonly section: number; count(domainSize: number): number };
}

const layouts: Readonly<Record<'plonk' | 'fflonk', Layout>> = {
  plonk: {
    protocol: 2,
    sections: 14,
    dropsZeros: false,
    blindedRows: 0,
    selectors: ['qm', 'ql', 'qr', 'qo', 'qc'],
    permutations: [12],
    lagrange: 13,
    powers: { section: 14, count: (n) => n + 6 },
  },
  fflonk: {
    protocol: 10,
    sections: 17,
    dropsZeros: true,
    blindedRows: 2,
    selectors: ['ql', 'qr', 'qm', 'qo', 'qc'],
    permutations: [12, 13, 14],
    lagrange: 15,
    powers: { section: 16, count: (n) => 9 * n + 18 },
  },
};

const section = { protocol: 1, header: 2, additions: 3, wires: 4, selectors: 7, interleaved: 17 } as const;

/** Logarithm of the smallest domain: quotients have more coefficients than four times one of 4. */
const LEAST_POWER = 3;

/** Factors of the identity on the wires b and c: 2 and 3 are no roots of unity of a power of two. */
const [K1, K2] = [2n, 3n] as const;

/** A circuit as gates, and the powers of tau. */
interface Input {
  readonly layout: Layout;
  readonly publicSignals: number;
  readonly gates: Gates;
  readonly powers: PreparedPowers;
  readonly domainSize: number;
}

/** Plans a key. @throws MsmError `bad-argument` if the files do not fit each other */
export const planPlonkishKey = async (
  system: 'plonk' | 'fflonk',
  circuit: R1cs,
  powers: PreparedPowers,
  options: RunOptions,
  pause: () => Promise<void>,
): Promise<KeyPlan> => {
  const { groups, ptau } = powers;
  // snarkjs has the roots of unity of the header for this curve alone
  if (system === 'fflonk' && groups.name !== 'bn254') {
    throw badArgument(`ptau: the powers are on ${groups.name}; FFLONK of snarkjs has bn254 alone`);
  }
  const layout = layouts[system];
  const { tauG1 } = ptau.sections;
  const tablesOf = (count: number, additions: number): Tables => {
    const n = domainOf(count + layout.blindedRows, LEAST_POWER);
    return { bytes: tableBytes(system, count + additions, n, tauG1.pointBytes), pointBytes: tauG1.pointBytes };
  };
  const gates = await gatesOf(circuit, layout.dropsZeros, pause, (...counts) =>
    hasRoom(options.memoryLimit, tablesOf(...counts)),
  );
  const rows = gates.count + layout.blindedRows;
  if (rows === 0) throw badArgument('r1cs: the circuit has neither constraints nor public signals');
  const domainSize = domainFor(rows, powers, LEAST_POWER);
  const count = layout.powers.count(domainSize);
  if (count > tauG1.count) {
    throw badArgument(`ptau: a domain of ${domainSize} takes ${count} powers, and the file has ${tauG1.count}`);
  }
  const tables = tablesOf(gates.count, gates.additionCount);
  // gates that found no room are not kept
  planRounds(options, options.memoryLimit, tables);
  const { publicSignals } = circuit;
  const polynomials = 8 + Math.max(1, publicSignals);
  return {
    total: polynomials * domainSize,
    tables,
    write: (run, output) => writeKey({ layout, publicSignals, gates, powers, domainSize }, run, output),
  };
};

/**
 * Bytes of a gate: its variables and factors, in lists and as BigInts, and the rows that it was made of, which
 * are collected late. Chosen so that the peaks of PLONK with 16,000 and 65,000 gates are within the plan.
 */
const GATE_BYTES = 2048;

/**
 * Bytes of an element of the domain in vectors: a polynomial, its coefficients, its values at the 4n-th
 * roots of unity and their coefficients before, the constants 1, and the identity of the permutation.
 */
const VECTORS_BYTES = 15 * ELEMENT_BYTES;

/** Bytes of an element of the domain that FFLONK keeps: eight polynomials, and these interleaved. */
const INTERLEAVED_BYTES = 2 * 8 * SCALAR_BYTES;

/** Returns the bytes of gates and additions, vectors and points that are in memory at the same time. */
const tableBytes = (system: 'plonk' | 'fflonk', gates: number, domainSize: number, pointBytes: number): number => {
  // values that are read and written, and points as they are read and as they are computed with
  const copied = 2 * 4 * SCALAR_BYTES;
  const points = 4 * pointBytes;
  const kept = system === 'fflonk' ? INTERLEAVED_BYTES : points;
  const coefficients = system === 'fflonk' ? Math.min(8 * domainSize, COMMITTED_AT_ONCE) : 0;
  const committed = coefficients * (points + SCALAR_BYTES + ELEMENT_BYTES);
  return gates * GATE_BYTES + domainSize * (VECTORS_BYTES + copied + kept) + committed;
};

/** Writes a key by engines of its own: a GPU commits to polynomials where it is asked for by name. */
const writeKey = async (input: Input, run: Run, output: Output): Promise<void> => {
  const { createWorker, backend, device, gpu } = run.options;
  const curve = input.powers.groups.name;
  const onGpu = { backend: 'gpu', ...(device && { device }), ...(gpu && { gpu }) } as const;
  const g1: MsmEngine = await createMsmEngine({
    ...{ curve, maxWorkers: run.workers },
    ...(backend === 'gpu' ? onGpu : { backend: 'cpu' }),
    ...(createWorker === undefined ? {} : { createWorker }),
  });
  try {
    const fr = await createFieldEngine({
      ...{ field: `${curve}-fr`, backend: 'cpu', deviceOf: g1, memoryBudget: VECTOR_BYTES },
    });
    try {
      const writer = await SectionWriter.begin(output, 'zkey', input.layout.sections);
      await new PlonkishKey(input, { fr, g1 }, run, writer).write();
    } finally {
      fr.destroy();
    }
  } finally {
    g1.destroy();
  }
};

/** A key that is being written. */
class PlonkishKey {
  readonly #input: Input;
  readonly #fr: FieldEngine;
  readonly #g1: MsmEngine;
  readonly #run: Run;
  readonly #writer: SectionWriter;
  /** A root of unity whose order is the size of the domain. */
  readonly #root: bigint;

  constructor(
    input: Input,
    { fr, g1 }: { readonly fr: FieldEngine; readonly g1: MsmEngine },
    run: Run,
    writer: SectionWriter,
  ) {
    this.#input = input;
    this.#fr = fr;
    this.#g1 = g1;
    this.#run = run;
    this.#writer = writer;
    this.#root = rootOf(input.domainSize, fr.p);
  }

  get #options() {
    const { signal } = this.#run.options;
    return signal === undefined ? {} : { signal };
  }

  /** Writes all sections, in the order in which snarkjs has them in the file. */
  write(): Promise<void> {
    return this.#input.layout.protocol === layouts.plonk.protocol ? this.#writePlonk() : this.#writeFflonk();
  }

  async #writePlonk(): Promise<void> {
    const { layout, powers, domainSize: n } = this.#input;
    await this.#writeWiring();
    const commitments: Uint8Array[] = [];
    await withBases(this.#g1, await powers.lagrange('tauG1', n), this.#options, async (bases) => {
      await this.#writePolynomials(async (_, values) => {
        commitments.push(this.#pointOf(await this.#g1.msm(bases, values, this.#options)));
      });
    });
    await this.#writeLagrange();
    await this.#writePowers();
    await this.#writer.whole(section.protocol, u32(layout.protocol));
    await this.#writeHeader([], [...commitments, await this.#tau2()]);
  }

  async #writeFflonk(): Promise<void> {
    const { layout, domainSize: n } = this.#input;
    await this.#writer.whole(section.protocol, u32(layout.protocol));
    await this.#writeWiring();
    const coefficients = {} as Record<PolynomialName, Uint8Array>;
    await this.#writePolynomials(async (name, _, bytes) => {
      coefficients[name] = bytes;
    });
    await this.#writeLagrange();
    await this.#writePowers();
    const { ql, qr, qo, qm, qc, s1, s2, s3 } = coefficients;
    const c0 = trimmed(interleaved([ql, qr, qo, qm, qc, s1, s2, s3]));
    await this.#writer.whole(section.interleaved, c0);
    await this.#writeHeader(rootsOfFflonk(n, this.#fr.p), [await this.#tau2(), await this.#commitTo(c0)]);
  }

  /** Writes the header. */
  async #writeHeader(roots: readonly bigint[], points: readonly Uint8Array[]): Promise<void> {
    const { powers, publicSignals, gates, domainSize } = this.#input;
    const { variables, additions, count } = gates;
    const parts = [
      headerOfCircuit(powers.groups, { variables, publicSignals, domainSize }),
      ...[additions.length, count].map(u32),
      ...[K1, K2, ...roots].map((value) => this.#scalar(value)),
      ...points,
    ];
    await this.#writer.whole(section.header, joined(parts));
  }

  /** Writes the additions, and the variables of each wire. */
  async #writeWiring(): Promise<void> {
    const { additions, wires } = this.#input.gates;
    await this.#writer.section(section.additions, additions.length * ADDITION_BYTES);
    for (let from = 0; from < additions.length; from += ADDITIONS_AT_ONCE) {
      const parts = additions
        .slice(from, from + ADDITIONS_AT_ONCE)
        .flatMap(([[first, ofFirst], [second, ofSecond]]) => [
          ...[u32(first), u32(second), this.#scalar(ofFirst), this.#scalar(ofSecond)],
        ]);
      await this.#writer.write(joined(parts));
      await this.#run.pause();
    }
    for (const [i, wire] of wires.entries()) {
      await this.#writer.whole(section.wires + i, new Uint8Array(wire.buffer, wire.byteOffset, wire.byteLength));
    }
  }

  /** Writes the polynomials of the gates and of the permutation. */
  async #writePolynomials(use: UsePolynomial): Promise<void> {
    const { layout, gates, domainSize: n } = this.#input;
    for (const [i, name] of layout.selectors.entries()) {
      await this.#writer.section(section.selectors + i, this.#polynomialBytes);
      const numbers = await this.#fr.load(gates.selectors[name], this.#options);
      await this.#writePolynomial(name, await this.#keep((ops) => ops.pad(numbers, n)), use);
      numbers.destroy();
    }
    const targets = permutationOf(gates, n, layout.blindedRows);
    const identity = await this.#identity();
    for (const [i, name] of (['s1', 's2', 's3'] as const).entries()) {
      const id = layout.permutations[i];
      const count = 3 / layout.permutations.length;
      if (id !== undefined) await this.#writer.section(id, count * this.#polynomialBytes);
      const indices = targets.subarray(i * n, (i + 1) * n);
      await this.#writePolynomial(name, await this.#keep((ops) => ops.gather(identity, indices)), use);
    }
    identity.destroy();
  }

  /** Returns the numbers of all places: w^i, k1·w^i and k2·w^i. */
  async #identity(): Promise<FieldVector> {
    const { domainSize: n } = this.#input;
    const ones = await this.#ones();
    const identity = await this.#keep((ops) =>
      [1n, K1, K2]
        .map((factor, i) => ops.pad(ops.scalePowers(ones, this.#root, { factor }), 3 * n, i * n))
        .reduce((sum, part) => ops.add(sum, part)),
    );
    ones.destroy();
    return identity;
  }

  #ones(): Promise<FieldVector> {
    return this.#fr.load(new Array<bigint>(this.#input.domainSize).fill(1n), this.#options);
  }

  /** Writes the Lagrange polynomials of the public signals, and at least one. */
  async #writeLagrange(): Promise<void> {
    const { layout, publicSignals, domainSize: n } = this.#input;
    const { p } = this.#fr;
    const count = Math.max(1, publicSignals);
    await this.#writer.section(layout.lagrange, count * this.#polynomialBytes);
    const ones = await this.#ones();
    const factor = invert(BigInt(n), p);
    for (let i = 0; i < count; i++) {
      const base = power(this.#root, BigInt(n - i), p);
      await this.#writeCoefficients(await this.#keep((ops) => ops.scalePowers(ones, base, { factor })));
    }
    ones.destroy();
  }

  /** Writes a polynomial by its values, which `use` gets with its coefficients, and frees them. */
  async #writePolynomial(name: PolynomialName, values: FieldVector, use: UsePolynomial): Promise<void> {
    const bytes = await this.#writeCoefficients(await this.#keep((ops) => ops.intt(values)));
    await use(name, values, bytes);
    values.destroy();
  }

  /** Writes coefficients, and the values at the 4n-th roots of unity, and frees the vector. */
  async #writeCoefficients(coefficients: FieldVector): Promise<Uint8Array> {
    const { domainSize: n } = this.#input;
    const encoding = { encoding: 'le-montgomery', ...this.#options } as const;
    const values = await this.#keep((ops) => ops.ntt(ops.pad(coefficients, 4 * n)));
    const bytes = await this.#fr.read(coefficients, encoding);
    await this.#writer.write(bytes);
    await this.#writer.write(await this.#fr.read(values, encoding));
    for (const vector of [coefficients, values]) vector.destroy();
    this.#run.progress(n);
    return bytes;
  }

  /** Copies the powers of tau in G1. */
  async #writePowers(): Promise<void> {
    const { layout, powers, domainSize } = this.#input;
    const { tauG1 } = powers.ptau.sections;
    const count = layout.powers.count(domainSize);
    await this.#writer.section(layout.powers.section, count * tauG1.pointBytes);
    for await (const bytes of tauG1.chunks({ to: count })) await this.#writer.write(bytes);
  }

  /** Commits to the interleaved polynomials, some coefficients at a time. */
  async #commitTo(c0: Uint8Array): Promise<Uint8Array> {
    const { groups, ptau } = this.#input.powers;
    const count = c0.length / SCALAR_BYTES;
    let sum: Affine = null;
    for (let from = 0; from < count; from += COMMITTED_AT_ONCE) {
      const to = Math.min(count, from + COMMITTED_AT_ONCE);
      const some = c0.subarray(SCALAR_BYTES * from, SCALAR_BYTES * to);
      const scalars = await this.#fr.load(some, { encoding: 'le-montgomery', ...this.#options });
      const points = await ptau.sections.tauG1.points(from, to);
      const part = await withBases(this.#g1, points, this.#options, (bases) =>
        this.#g1.msm(bases, scalars, this.#options),
      );
      scalars.destroy();
      sum = sumOf(groups.g1, sum, affineOf(part));
    }
    return filePoint(groups.g1, groups.scale, sum);
  }

  /** Reads τ·G2. */
  #tau2(): Promise<Uint8Array> {
    return this.#input.powers.ptau.sections.tauG2.points(1, 2);
  }

  #keep(record: (ops: FieldOperations) => FieldVector): Promise<FieldVector> {
    return this.#fr.run((ops) => ops.keep(record(ops)), this.#options);
  }

  get #polynomialBytes(): number {
    return 5 * this.#input.domainSize * this.#fr.numberBytes;
  }

  /** Returns a scalar as files have it. */
  #scalar(value: bigint): Uint8Array {
    const { numberBytes, p } = this.#fr;
    return number((value << BigInt(8 * numberBytes)) % p, numberBytes);
  }

  #pointOf({ x, y, infinity }: AffinePoint): Uint8Array {
    const { g1, scale } = this.#input.powers.groups;
    return filePoint(g1, scale, infinity ? null : { x, y });
  }
}

type PolynomialName = SelectorName | 's1' | 's2' | 's3';

/** Uses a polynomial: its values at the n-th roots of unity, and its coefficients as files have them. */
type UsePolynomial = (name: PolynomialName, values: FieldVector, coefficients: Uint8Array) => Promise<void>;

/** Bytes of an addition: two variables and two factors. */
const ADDITION_BYTES = 72;

/** Coefficients that FFLONK commits to at a time. */
const COMMITTED_AT_ONCE = 2 ** 17;

/** Additions that are written at a time. */
const ADDITIONS_AT_ONCE = 2 ** 10;

/** Loads points of the powers of tau for some sums. @throws MsmError `bad-argument` */
const withBases = async <Result>(
  g1: MsmEngine,
  points: Uint8Array | Uint32Array<ArrayBuffer>,
  options: { readonly signal?: AbortSignal },
  work: (bases: Bases) => Promise<Result>,
): Promise<Result> => {
  const bytes = new Uint8Array(points.buffer, points.byteOffset, points.byteLength);
  const bases = await g1.loadBases(bytes, { encoding: 'le-montgomery', ...options }).catch((cause: unknown) => {
    if (!(cause instanceof MsmError) || cause.code !== 'not-on-curve') throw cause;
    throw new MsmError('bad-argument', `ptau: ${cause.message}`, { cause });
  });
  try {
    return await work(bases);
  } finally {
    bases.destroy();
  }
};

/**
 * Returns the permutation of the places of all wires: place p = i + n·w is that of gate i on wire w. The
 * places of a variable, taken gate by gate, form a cycle, each of which leads to the one before. Rows
 * without gates have the constant 1, and blinded ones are on their own.
 */
const permutationOf = ({ count, variables, wires }: Gates, n: number, blindedRows: number): Uint32Array => {
  const targets = Uint32Array.from({ length: 3 * n }, (_, place) => place);
  const first = new Int32Array(variables).fill(-1);
  const last = new Int32Array(variables);
  for (let gate = 0; gate < n - blindedRows; gate++) {
    for (const [w, wire] of wires.entries()) {
      const place = gate + w * n;
      const variable = gate < count ? (wire[gate] as number) : 0;
      if (first[variable] === -1) first[variable] = place;
      else targets[place] = last[variable] as number;
      last[variable] = place;
    }
  }
  for (let variable = 0; variable < variables; variable++) {
    const place = first[variable] as number;
    if (place !== -1) targets[place] = last[variable] as number;
  }
  return targets;
};

/**
 * Roots of unity in the header of FFLONK on BN254: of the orders 3, 4 and 8, and a cubic root of the
 * domain's. The first is a power of 31624; the last is a power of this cubic root of the field's root
 * of order 2^28.
 */
const rootsOfFflonk = (n: number, p: bigint): readonly bigint[] => {
  const cubic = 467799165886069610036046866799264026481344299079011762026774533774345988080n;
  return [power(31624n, (p - 1n) / 18n, p), rootOf(4, p), rootOf(8, p), power(cubic, 2n ** 28n / BigInt(n), p)];
};

/** Interleaves the coefficients of eight polynomials: Σ X^i·P_i(X^8). */
const interleaved = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const count = parts.length;
  const length = (parts[0] as Uint8Array).length;
  const words = new BigUint64Array((count * length) / 8);
  for (const [i, part] of parts.entries()) {
    const from = new BigUint64Array(part.slice().buffer);
    for (let at = 0; at < from.length; at += 4) {
      for (let word = 0; word < 4; word++) words[count * at + 4 * i + word] = from[at + word] as bigint;
    }
  }
  return new Uint8Array(words.buffer);
};

/** Cuts zeros off from the end of a polynomial, as snarkjs does: to a power of two. */
const trimmed = (coefficients: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const last = Math.floor(coefficients.findLastIndex((byte) => byte !== 0) / 32);
  const length = 2 ** (Math.floor(Math.log2(Math.max(1, last))) + 1);
  return coefficients.subarray(0, 32 * length);
};
