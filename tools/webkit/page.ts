/** The page: computes, and sends rows to its server. */
import * as snarkjs from 'snarkjs';
import { createMsmEngine, type MsmEngineOptions, MsmError } from 'webgpu-msm';
import { accelerate } from 'webgpu-msm/snarkjs';
import { encodedPoints, makeCase } from '../../dev/cases/msm-case.js';
import { makeCircuit } from '../../dev/trial-keys/circuit.js';
import { type KeyCurve, makeKeys } from '../../dev/trial-keys/keys.js';

/** Options that limit an engine to one thread and one arithmetic. */
type Limits = Pick<MsmEngineOptions, 'maxWorkers' | 'tuning'>;

/** Later calls of each sum, and pairs of proofs. */
const REPETITIONS = 7;

const timed = async <Result>(work: () => Promise<Result>): Promise<readonly [ms: number, result: Result]> => {
  const begun = performance.now();
  const result = await work();
  return [performance.now() - begun, result];
};

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));

const runReadme = async () => {
  const { log } = console;
  const printed: string[] = [];
  console.log = (...values: readonly unknown[]) => printed.push(values.map(textOf).join(' '));
  try {
    const [ms] = await timed(() => import('virtual:readme'));
    return { event: 'readme' as const, ms, printed: printed.join('\n') };
  } finally {
    console.log = log;
  }
};

/** @param options limits of the engine; by default it has workers and the fastest arithmetic */
const sumIn = async (group: 'g1' | 'g2', n: number, options: Limits = {}) => {
  const made = makeCase({ group, points: 'distinct', scalars: 'random', n, seed: 1 });
  const common = { curve: 'bn254', backend: 'cpu', ...options } as const;
  const engine = await (group === 'g1' ? createMsmEngine(common) : createMsmEngine({ ...common, group }));
  try {
    const bases = await engine.loadBases(encodedPoints(made));
    const all: number[] = [];
    let isRight = true;
    for (let call = 0; call <= REPETITIONS; call++) {
      const [ms, sum] = await timed<unknown>(() => engine.msm(bases, made.scalars.bytes));
      isRight &&= textOf(sum) === textOf(made.expected);
      all.push(ms);
    }
    const [firstMs = Number.NaN, ...ms] = all;
    const run = engine.lastRun;
    if (run?.on !== 'cpu') throw new Error('the CPU did not compute');
    const { arithmetic, workers } = run;
    return { event: 'sum' as const, group, n, arithmetic, workers, firstMs, ms, isRight };
  } finally {
    engine.destroy();
  }
};

/** Returns a sum on one thread in each arithmetic that the browser has. */
const sumsByArithmetic = async (n: number) => {
  const rows: Awaited<ReturnType<typeof sumIn>>[] = [];
  for (const cpuArithmetic of ['wasm-fma', 'wasm-wide', 'wasm-simd', 'wasm'] as const) {
    try {
      rows.push(await sumIn('g1', n, { maxWorkers: 0, tuning: { cpuArithmetic } }));
    } catch (error) {
      if (!(error instanceof MsmError && error.code === 'bad-argument')) throw error;
    }
  }
  return rows;
};

/** Proves with snarkjs alone and with `accelerate` in turns, after a first proof of each. */
const prove = async (logn: number) => {
  const curve = (await snarkjs.curves.getCurveFromName('bn128')) as unknown as KeyCurve;
  const circuit = makeCircuit(curve.r, 2 ** logn - 3, 'dense');
  const zkey = { type: 'mem' as const, data: await makeKeys(curve, circuit, () => undefined) };
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  const accelerated = await accelerate(snarkjs, { backend: 'cpu' });
  const times = { snarkjs: [] as number[], accelerated: [] as number[] };
  const provers = { snarkjs: snarkjs.groth16, accelerated: accelerated.groth16 };
  let verified = true;
  for (let pair = 0; pair <= REPETITIONS; pair++) {
    const sides = ['snarkjs', 'accelerated'] as const;
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) {
      const [ms, made] = await timed(() => provers[side].prove(zkey, { type: 'mem', data: circuit.witness }));
      verified &&= await snarkjs.groth16.verify(key, made.publicSignals, made.proof);
      if (pair > 0) times[side].push(ms);
    }
  }
  return { event: 'proof' as const, logn, snarkjsMs: times.snarkjs, acceleratedMs: times.accelerated, verified };
};

/** Rows that the page sends to its server. */
export type Row =
  | { readonly event: 'browser'; readonly userAgent: string; readonly cores: number; readonly isolated: boolean }
  | Awaited<ReturnType<typeof runReadme | typeof sumIn | typeof prove>>
  | { readonly event: 'failed'; readonly text: string }
  | { readonly event: 'end' };

const send = (row: Row): Promise<unknown> => fetch('rows', { method: 'POST', body: JSON.stringify(row) });

const run = async (): Promise<void> => {
  const query = new URLSearchParams(location.search);
  const logn = Number(query.get('logn') ?? 12);
  const { userAgent, hardwareConcurrency: cores } = navigator;
  await send({ event: 'browser', userAgent, cores, isolated: crossOriginIsolated });
  await send(await runReadme());
  for (const group of ['g1', 'g2'] as const) await send(await sumIn(group, 2 ** logn));
  for (const row of await sumsByArithmetic(2 ** logn)) await send(row);
  await send(await prove(logn));
};

run()
  .catch((error: unknown) => send({ event: 'failed', text: String(error) }))
  .finally(() => send({ event: 'end' }));
