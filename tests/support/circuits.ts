/** Circuits and witnesses as snarkjs reads them, made in code. */
import { Random } from '../../dev/oracle/known-bases.js';

/** A sum of wires, each with a factor. */
type Combination = ReadonlyMap<number, bigint>;

/** a · b = c. */
interface Constraint {
  readonly a: Combination;
  readonly b: Combination;
  readonly c: Combination;
}

export interface Circuit {
  /** An `.r1cs` file. */
  readonly r1cs: Uint8Array;
  /** A `.wtns` file. */
  readonly witness: Uint8Array;
  readonly publicSignals: readonly bigint[];
}

/** Little-endian numbers, one behind the other. */
class Writer {
  readonly #bytes: number[] = [];

  text(text: string): this {
    for (const letter of text) this.#bytes.push(letter.charCodeAt(0));
    return this;
  }

  number(value: bigint | number, bytes: number): this {
    let rest = BigInt(value);
    for (let i = 0; i < bytes; i++) {
      this.#bytes.push(Number(rest & 0xffn));
      rest >>= 8n;
    }
    return this;
  }

  section(type: number, content: Writer): this {
    this.number(type, 4).number(content.#bytes.length, 8);
    for (const byte of content.#bytes) this.#bytes.push(byte);
    return this;
  }

  done(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Iden3's binary format of R1CS, version 1. */
const r1csFile = (r: bigint, wires: number, publics: number, constraints: readonly Constraint[]): Uint8Array => {
  const header = new Writer().number(32, 4).number(r, 32).number(wires, 4).number(publics, 4).number(0, 4);
  header
    .number(wires - 1 - publics, 4)
    .number(wires, 8)
    .number(constraints.length, 4);
  const body = new Writer();
  for (const { a, b, c } of constraints) {
    for (const combination of [a, b, c]) {
      body.number(combination.size, 4);
      for (const [wire, factor] of combination) body.number(wire, 4).number(((factor % r) + r) % r, 32);
    }
  }
  const labels = new Writer();
  for (let wire = 0; wire < wires; wire++) labels.number(wire, 8);
  return new Writer()
    .text('r1cs')
    .number(1, 4)
    .number(3, 4)
    .section(1, header)
    .section(2, body)
    .section(3, labels)
    .done();
};

const witnessFile = (r: bigint, values: readonly bigint[]): Uint8Array => {
  const header = new Writer().number(32, 4).number(r, 32).number(values.length, 4);
  const body = new Writer();
  for (const value of values) body.number(value, 32);
  return new Writer().text('wtns').number(2, 4).number(2, 4).section(1, header).section(2, body).done();
};

/**
 * A circuit of so many constraints, one public signal and a witness of random numbers (`dense`: each is the product of the one before and a sum with it), or of bits,
 * of which one of eight is set (`sparse`).
 *
 * @param r the order of the curve
 */
export const makeCircuit = (r: bigint, constraints: number, kind: 'dense' | 'sparse', seed = 1): Circuit => {
  const random = new Random(seed);
  const all: Constraint[] = [];
  // 1, the public signal, and what is secret
  const values: bigint[] = [1n, 0n];
  const wire = (value: bigint): number => values.push(value) - 1;
  let at = wire(random.belowBig(r));
  let last = values[at] as bigint;
  const chain = (): void => {
    const constant = BigInt(all.length + 1);
    const next = (last * (last + constant)) % r;
    const to = all.length === constraints - 1 ? 1 : wire(next);
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
    const bit = wire(BigInt(Number(random.below(8) === 0)));
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
    r1cs: r1csFile(r, values.length, 1, all),
    witness: witnessFile(r, values),
    publicSignals: [values[1] as bigint],
  };
};
