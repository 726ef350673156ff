/**
 * Stands in for snarkjs as its open request 628 has it, with request 185 of ffjavascript: the same
 * functions of a curve are called, in the same order, with the same arguments. Facts from
 * https://github.com/iden3/snarkjs/pull/628; the code is our own.
 */
import { type FfCurve, ffCurveOf, type ProverCurve, type Statement } from './proving.js';
import { sectionsOf } from './snarkjs-files.js';
import { sleep } from './time.js';

/** Gives the bytes [offset, offset + length) of points. */
export type PointReader = (offset: number, length: number) => Promise<Uint8Array>;

export type MultiExpAffineChunked = (
  reader: PointReader,
  bytes: number,
  scalars: Uint8Array,
  logger?: unknown,
  text?: string,
  options?: object,
) => Promise<Uint8Array>;

type Groups = Pick<FfCurve, 'G1' | 'G2'>;

/** A group with what the request adds. */
export type ChunkedGroup = Groups['G1'] & {
  multiExpAffineChunked: MultiExpAffineChunked;
  add(left: Uint8Array, right: Uint8Array): Uint8Array;
  timesFr(point: Uint8Array, factor: Uint8Array): Uint8Array;
  toAffine(point: Uint8Array): Uint8Array;
  toObject(point: Uint8Array): readonly unknown[];
  readonly zero: Uint8Array;
};

interface Field {
  readonly n8: number;
  readonly w: readonly Uint8Array[];
  readonly s: number;
  readonly shift: Uint8Array;
  e(value: bigint | number): Uint8Array;
  add(left: Uint8Array, right: Uint8Array): Uint8Array;
  sub(left: Uint8Array, right: Uint8Array): Uint8Array;
  mul(left: Uint8Array, right: Uint8Array): Uint8Array;
  neg(value: Uint8Array): Uint8Array;
  fromMontgomery(value: Uint8Array): Uint8Array;
  random(): Uint8Array;
  fft(values: Uint8Array, ...told: unknown[]): Promise<Uint8Array>;
  ifft(values: Uint8Array, ...told: unknown[]): Promise<Uint8Array>;
  batchApplyKey(values: Uint8Array, first: Uint8Array, ratio: Uint8Array): Promise<Uint8Array>;
}

/** Points of a chunk, few enough that a small key has several. */
const CHUNK = 24;

/** Adds the function to both groups of a curve. @returns what takes it away again */
export const addChunked = ({ G1, G2 }: Groups, name = 'multiExpAffineChunked'): (() => void) => {
  const groups = [G1, G2] as unknown as (ChunkedGroup & Record<string, MultiExpAffineChunked>)[];
  for (const group of groups) {
    const whole = group.multiExpAffine.bind(group);
    group[name] = async (reader, bytes, scalars, ...told) => {
      const pointBytes = 2 * group.F.n8;
      const count = bytes / pointBytes;
      const each = scalars.byteLength / count;
      let sum = group.zero;
      for (let from = 0; from < count; from += CHUNK) {
        const to = Math.min(count, from + CHUNK);
        const points = await reader(from * pointBytes, (to - from) * pointBytes);
        sum = group.add(sum, await whole(points, scalars.slice(from * each, to * each), ...told));
      }
      return sum;
    };
  }
  return () => {
    for (const group of groups) Reflect.deleteProperty(group, name);
  };
};

/** Reads of one proof from its key. */
export interface ReadLog {
  /** Bytes that were asked for, by section. */
  readonly bytes: Map<number, number>;
  /** The longest piece. */
  longest: number;
}

/**
 * A proof of Groth16.
 *
 * @param name of the function that computes MSMs
 * @param fail is called with each section that is read, and may throw
 */
export const proveChunked = async (
  curveName: ProverCurve,
  { zkey, circuit }: Statement,
  {
    log,
    name = 'multiExpAffineChunked',
    fail,
  }: { log?: ReadLog; name?: string; fail?: (section: number) => void } = {},
) => {
  const curve = await ffCurveOf(curveName);
  const [G1, G2] = [curve.G1, curve.G2] as unknown as (ChunkedGroup & Record<string, MultiExpAffineChunked>)[];
  if (G1 === undefined || G2 === undefined) throw new Error('a curve has two groups');
  const Fr = curve.Fr as unknown as Field;
  const key = sectionsOf(zkey.data);
  const section = (id: number): Uint8Array => key.get(id) as Uint8Array;
  const witness = new Uint8Array(sectionsOf(circuit.witness).get(2) as Uint8Array);
  const header = section(2);
  const fields = new DataView(header.buffer, header.byteOffset);
  const bytesOfQ = fields.getUint32(0, true);
  const counts = 8 + bytesOfQ + fields.getUint32(4 + bytesOfQ, true);
  const publicSignals = fields.getUint32(counts + 4, true);
  const domain = fields.getUint32(counts + 8, true);
  let at = counts + 12;
  const single = (group: ChunkedGroup): Uint8Array => {
    const from = at;
    at += 2 * group.F.n8;
    return header.slice(from, at);
  };
  const [alpha1, beta1, beta2, , delta1, delta2] = [G1, G1, G2, G2, G1, G2].map(single) as [
    ...Uint8Array[],
  ] as unknown as Uint8Array[];
  const multiply = (group: typeof G1, id: number, scalars: Uint8Array, text: string): Promise<Uint8Array> => {
    const points = section(id);
    const reader: PointReader = async (offset, length) => {
      await sleep();
      fail?.(id);
      if (offset + length > points.length) throw new Error(`read out of range of section ${id}`);
      log?.bytes.set(id, (log.bytes.get(id) ?? 0) + length);
      if (log !== undefined) log.longest = Math.max(log.longest, length);
      return points.slice(offset, offset + length);
    };
    const msm = group[name] as MultiExpAffineChunked;
    return msm.call(group, reader, points.length, scalars, undefined, text, { batch: 'auto' });
  };
  const quotient = async (): Promise<Uint8Array> => {
    await undefined;
    const coefficients = section(4);
    const view = new DataView(coefficients.buffer, coefficients.byteOffset);
    const { n8 } = Fr;
    const [a, b, c] = [0, 1, 2].map(() => new Uint8Array(domain * n8)) as [Uint8Array, Uint8Array, Uint8Array];
    for (let from = 4; from < coefficients.length; from += 12 + n8) {
      const target = view.getUint32(from, true) === 0 ? a : b;
      const row = n8 * view.getUint32(from + 4, true);
      const signal = n8 * view.getUint32(from + 8, true);
      const product = Fr.mul(coefficients.slice(from + 12, from + 12 + n8), witness.slice(signal, signal + n8));
      target.set(Fr.add(target.slice(row, row + n8), product), row);
    }
    for (let row = 0; row < a.length; row += n8) c.set(Fr.mul(a.slice(row, row + n8), b.slice(row, row + n8)), row);
    const power = Math.log2(domain);
    const root = (power === Fr.s ? Fr.shift : Fr.w[power + 1]) as Uint8Array;
    const odd = async (values: Uint8Array, text: string): Promise<Uint8Array> => {
      const inverse = await Fr.ifft(values, '', '', undefined, `IFFT_${text}`, true);
      const shifted = await Fr.batchApplyKey(inverse, Fr.e(1), root);
      return Fr.fft(shifted, '', '', undefined, `FFT_${text}`, true);
    };
    const [A, B, C] = (await Promise.all([odd(a, 'A'), odd(b, 'B'), odd(c, 'C')])) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    for (let row = 0; row < A.length; row += n8) {
      const of = (values: Uint8Array): Uint8Array => values.slice(row, row + n8);
      A.set(Fr.fromMontgomery(Fr.sub(Fr.mul(of(A), of(B)), of(C))), row);
    }
    return A;
  };

  const quotientMade = quotient();
  const aMade = multiply(G1, 5, witness, 'multiexp A');
  const b1Made = multiply(G1, 6, witness, 'multiexp B1');
  const b2Made = multiply(G2, 7, witness, 'multiexp B2');
  const cMade = multiply(G1, 8, witness.slice((publicSignals + 1) * Fr.n8), 'multiexp C');
  const hMade = (async () => multiply(G1, 9, await quotientMade, 'multiexp H'))();
  for (const each of [aMade, b1Made, b2Made, cMade, hMade]) each.catch(() => undefined);
  const [r, s] = [Fr.random(), Fr.random()];
  const d1 = delta1 as Uint8Array;
  const a = G1.add(G1.add(await aMade, alpha1 as Uint8Array), G1.timesFr(d1, r));
  const b = G2.add(G2.add(await b2Made, beta2 as Uint8Array), G2.timesFr(delta2 as Uint8Array, s));
  const b1 = G1.add(G1.add(await b1Made, beta1 as Uint8Array), G1.timesFr(d1, s));
  let c = G1.add(await cMade, await hMade);
  c = G1.add(G1.add(c, G1.timesFr(a, s)), G1.timesFr(b1, r));
  c = G1.add(c, G1.timesFr(d1, Fr.neg(Fr.mul(r, s))));
  const told = (value: unknown): unknown => (Array.isArray(value) ? value.map(told) : String(value));
  return {
    proof: {
      pi_a: told(G1.toObject(G1.toAffine(a))),
      pi_b: told(G2.toObject(G2.toAffine(b))),
      pi_c: told(G1.toObject(G1.toAffine(c))),
      protocol: 'groth16',
      curve: { bn254: 'bn128', 'bls12-381': 'bls12381' }[curveName],
    },
    publicSignals: circuit.publicSignals.slice(0, publicSignals).map(String),
  };
};
