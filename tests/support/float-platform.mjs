/**
 * Run by tests/cpu/float-faults.test.ts in a process of its own:
 * `node float-platform.mjs <library>`. Prints what the platform does with fused multiply-adds.
 */
import { bn254 } from '@noble/curves/bn254.js';

const [, , library = ''] = process.argv;
/** @type {typeof import('../../src/index.js')} */
const { createMsmEngine } = await import(`${library}/index.js`);
/** @type {typeof import('./float-parts.js')} */
const parts = await import(`${library}/parts.js`);

/** Returns the name of the error with which a kernel on floats opens, or 'none'. */
const errorOfOpening = async () => {
  const curve = parts.curveContext(parts.bn254);
  const kernel = await parts.compileKernel(parts.wasmCurve(curve), 'wasm-fma', parts.kernelTest(curve));
  if (kernel === null) return 'no kernel';
  try {
    await parts.PointAdder.open(kernel);
    return 'none';
  } catch (error) {
    return /** @type {Error} */ (error).name;
  }
};

const { Point } = bn254.G1;
const { BASE, Fn } = Point;
const logs = Array.from({ length: 60 }, (_, i) => Fn.create(7n ** BigInt(3 * i + 90)));
const scalars = Array.from({ length: 60 }, (_, i) => Fn.create(11n ** BigInt(2 * i + 80)));
const points = logs.map((log) => ({ ...BASE.multiply(log).toAffine(), infinity: false }));
const expected = BASE.multiply(Fn.create(logs.reduce((sum, log, i) => sum + log * (scalars[i] ?? 0n), 0n))).toAffine();

const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
const { x, y } = await engine.msm(await engine.loadBases(points), scalars);
const run = engine.lastRun;
console.log(
  JSON.stringify({
    isFused: parts.isFused(),
    opening: await errorOfOpening(),
    isRight: x === expected.x && y === expected.y,
    arithmetic: run?.on === 'cpu' ? run.arithmetic : null,
  }),
);
engine.destroy();
