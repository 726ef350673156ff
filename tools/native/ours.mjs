/**
 * Times sums of BN254 G1, or transforms of its scalar field, by the library on one thread. Usage:
 * ours.mjs msm|ntt|ntt-reversed LOGN REPETITIONS. Prints milliseconds, one line each, after untimed
 * runs.
 */
import { FpInvertBatch } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { createFieldEngine } from '../../dist/fields.js';
import { createMsmEngine } from '../../dist/index.js';

/** The first runs, in which V8 optimises. */
const WARM_UPS = { msm: 3, ntt: 20 };

const [operation = '', ...numbers] = process.argv.slice(2);
const [logn = 0, repetitions = 0] = numbers.map(Number);
const n = 2 ** logn;

/** Returns random scalars in little-endian bytes, below the order. */
const drawScalars = () => {
  const bytes = new Uint8Array(32 * n);
  for (let i = 0; i < bytes.length; i += 65_536) crypto.getRandomValues(bytes.subarray(i, i + 65_536));
  for (let i = 31; i < bytes.length; i += 32) bytes[i] = (bytes[i] ?? 0) & 0x1f;
  return bytes;
};

/** Returns n points, each a random point further than the one before. */
const drawPoints = () => {
  const { Point } = bn254.G1;
  const random = () => Point.BASE.multiply(1n + BigInt(`0x${crypto.randomUUID().replaceAll('-', '')}`));
  const [first, step] = [random(), random()];
  const all = [];
  for (let point = first; all.length < n; point = point.add(step)) all.push(point);
  const inverses = FpInvertBatch(
    Point.Fp,
    all.map(({ Z }) => Z),
  );
  return all.map((point, i) => ({ ...point.toAffine(inverses[i]), infinity: false }));
};

const timeSums = async () => {
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  const bases = await engine.loadBases(drawPoints());
  for (let i = -WARM_UPS.msm; i < repetitions; i++) {
    const scalars = drawScalars();
    const begun = performance.now();
    await engine.msm(bases, scalars);
    if (i >= 0) console.log(performance.now() - begun);
  }
  engine.destroy();
};

/** @param {'natural' | 'reversed'} to order of the result */
const timeTransforms = async (to) => {
  const fr = await createFieldEngine({ field: 'bn254-fr', backend: 'cpu' });
  const bytes = drawScalars();
  const coefficients = await fr.load(bytes);
  for (let i = -WARM_UPS.ntt; i < repetitions; i++) {
    const begun = performance.now();
    const values = await fr.run((ops) => ops.keep(ops.ntt(coefficients, { to })));
    const ms = performance.now() - begun;
    // the first value is the sum, whatever the order
    const sum = await fr.run((ops) => ops.keep(ops.evaluate(coefficients, 1n)));
    const first = (await fr.read(values)).subarray(0, 32);
    if (Buffer.compare(first, await fr.read(sum)) !== 0) throw new Error('a wrong result');
    values.destroy();
    sum.destroy();
    if (i >= 0) console.log(ms);
  }
  fr.destroy();
};

if (operation === 'msm') await timeSums();
else await timeTransforms(operation === 'ntt' ? 'natural' : 'reversed');
