/**
 * F_p[u] / (u² − nonResidue) as a field of noble, over noble's F_p. Noble has such fields only for
 * nonResidue = −1.
 */
import { Field, FpInvertBatch, FpPow, type IField } from '@noble/curves/abstract/modular.js';
import type { Fp2 } from './known-bases.js';

export const quadraticField = (p: bigint, nonResidue: bigint): IField<Fp2> => {
  const Fp = Field(p);
  const ZERO = { c0: 0n, c1: 0n };
  const ONE = { c0: 1n, c1: 0n };
  const create = ({ c0, c1 }: Fp2): Fp2 => ({ c0: Fp.create(c0), c1: Fp.create(c1) });
  const number = (value: Fp2 | bigint): Fp2 => (typeof value === 'bigint' ? { c0: value, c1: 0n } : value);
  const mul = (a: Fp2, other: Fp2 | bigint): Fp2 => {
    const b = number(other);
    return create({ c0: a.c0 * b.c0 + nonResidue * a.c1 * b.c1, c1: a.c0 * b.c1 + a.c1 * b.c0 });
  };
  const inv = ({ c0, c1 }: Fp2): Fp2 => {
    const inverse = Fp.inv(Fp.create(c0 * c0 - nonResidue * c1 * c1));
    return create({ c0: c0 * inverse, c1: -c1 * inverse });
  };
  const add = (a: Fp2, b: Fp2): Fp2 => create({ c0: a.c0 + b.c0, c1: a.c1 + b.c1 });
  const sub = (a: Fp2, b: Fp2): Fp2 => create({ c0: a.c0 - b.c0, c1: a.c1 - b.c1 });
  const is0 = ({ c0, c1 }: Fp2): boolean => c0 === 0n && c1 === 0n;
  const isValid = ({ c0, c1 }: Fp2): boolean => Fp.isValid(c0) && Fp.isValid(c1);
  const field: IField<Fp2> = {
    ORDER: p * p,
    BYTES: 2 * Fp.BYTES,
    BITS: 2 * Fp.BITS,
    isLE: Fp.isLE,
    ZERO,
    ONE,
    create,
    isValid,
    is0,
    isValidNot0: (a) => isValid(a) && !is0(a),
    neg: (a) => sub(ZERO, a),
    inv,
    sqrt: () => {
      throw new Error('the oracle field has no square roots');
    },
    sqr: (a) => mul(a, a),
    eql: (a, b) => a.c0 === b.c0 && a.c1 === b.c1,
    add,
    sub,
    mul,
    pow: (a, power) => FpPow(field, a, power),
    div: (a, b) => mul(a, inv(number(b))),
    addN: add,
    subN: sub,
    mulN: mul,
    sqrN: (a) => mul(a, a),
    isOdd: ({ c0, c1 }) => (c0 !== 0n ? c0 : c1) % 2n === 1n,
    toBytes: () => {
      throw new Error('the oracle field writes no bytes');
    },
    fromBytes: () => {
      throw new Error('the oracle field reads no bytes');
    },
    cmov: (a, b, condition) => (condition ? b : a),
    invertBatch: (all) => FpInvertBatch(field, all) as Fp2[],
  };
  return field;
};
