/**
 * Times sums of BN254 G1 by the library on one thread. Usage: ours.mjs LOGN REPETITIONS. Prints
 * milliseconds, one line each, after untimed runs.
 */
import { FpInvertBatch } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { createMsmEngine } from '../../dist/index.js';

/** The first runs, in which V8 optimises. */
const WARM_UPS = 3;

const [logn = 0, repetitions = 0] = process.argv.slice(2).map(Number);
const n = 2 ** logn;
const { Point } = bn254.G1;
const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });

/** Returns random scalars in little-endian bytes, below the order. */
const drawScalars = () => {
  const bytes = new Uint8Array(32 * n);
  for (let i = 0; i < bytes.length; i += 65_536) crypto.getRandomValues(bytes.subarray(i, i + 65_536));
  for (let i = 31; i < bytes.length; i += 32) bytes[i] = (bytes[i] ?? 0) & 0x1f;
  return bytes;
};

/** Returns n points, each a random point further than the one before. */
const drawPoints = () => {
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

const bases = await engine.loadBases(drawPoints());
for (let i = -WARM_UPS; i < repetitions; i++) {
  const scalars = drawScalars();
  const begun = performance.now();
  await engine.msm(bases, scalars);
  if (i >= 0) console.log(performance.now() - begun);
}
engine.destroy();
