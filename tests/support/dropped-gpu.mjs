/**
 * Run by tests/cpu/exit.test.ts in a process of its own:
 * `node --expose-gc dropped-gpu.mjs <library> <how>`.
 *
 * Nothing here keeps Dawn's object once the engine has it, and the garbage collector runs as often
 * as it can.
 */
import { create } from 'webgpu';

const [, , library = '', how] = process.argv;
/** @type {typeof import('../../src/index.js')} */
const { createMsmEngine } = await import(library);

const start = async () => {
  const engine = await createMsmEngine({ curve: 'bn254', gpu: create([]), tuning: { walkerSlots: 4, cpuBelow: 0 } });
  const generator = { x: 1n, y: 2n, infinity: false };
  const bases = await engine.loadBases([generator, generator, generator]);
  return { engine, call: engine.msm(bases, [1n, 2n, 3n]) };
};

const { engine, call } = await start();
const collecting = setInterval(() => /** @type {{ gc(): void }} */ (/** @type {unknown} */ (globalThis)).gc(), 50);
const said = call.then(
  ({ x }) => `result ${x}`,
  (error) => `error ${error.code}`,
);
if (how === 'destroyed at once') engine.destroy();
if (how === 'thrown over') setTimeout(() => Promise.reject(new Error('of the program')), 100);
console.log(await said);
clearInterval(collecting);
if (how === 'destroyed afterwards') engine.destroy();
