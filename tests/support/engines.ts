/**
 * Engines that destroy themselves: after the test that opens them, or after the file if a hook
 * opens them.
 */
import { afterAll, onTestFinished, TestRunner } from 'vitest';
import { engineIn } from '../../dev/cases/msm-case.js';
import { createCheckedEngine } from '../../dev/checks/engine.js';
import type { CurveGroup } from '../../dev/oracle/curves.js';
import { type Coordinate, createMsmEngine, type MsmEngine, type MsmEngineOptions } from '../../src/index.js';
import { getDevice } from './gpu.js';

/** Knobs of a walk that compiles fast, with nothing left to the CPU. */
export const quick = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 0 } as const;

const ofFile: MsmEngine<Coordinate>[] = [];
afterAll(() => {
  for (const engine of ofFile.splice(0)) engine.destroy();
});

/** Options of `openEngine`; `checks` has the stages checked on the GPU, by default not. */
export type EngineOptions = Partial<MsmEngineOptions> & { readonly checks?: boolean };

/** Returns the file's shared device, unless options say where the engine computes. */
const placeOf = async ({ device, gpu, deviceOf, backend }: EngineOptions): Promise<{ device?: GPUDevice }> => {
  const isGiven = (device ?? gpu ?? deviceOf) !== undefined || backend === 'cpu';
  return isGiven ? {} : { device: await getDevice() };
};

/** Opens an engine: by default BN254 on the shared device with the knobs `quick`. */
export const openEngine = async ({ checks = false, ...options }: EngineOptions = {}): Promise<MsmEngine> => {
  const create = checks ? createCheckedEngine : createMsmEngine;
  const tuning = { ...quick, ...options.tuning };
  const engine = await create({ curve: 'bn254', ...(await placeOf(options)), ...options, tuning });
  if (TestRunner.getCurrentTest() === undefined) ofFile.push(engine);
  else onTestFinished(() => engine.destroy());
  return engine;
};

const kept = new Map<string, Promise<MsmEngine<Coordinate>>>();

/**
 * Returns the file's only engine with some options in a group, with the knobs `quick`. The first
 * call opens it.
 */
export const keptEngine = <C extends Coordinate = Coordinate>(
  { curve, group }: CurveGroup,
  options: Pick<MsmEngineOptions, 'backend' | 'memoryBudget' | 'selfTest' | 'tuning'> = {},
): Promise<MsmEngine<C>> => {
  const key = JSON.stringify([curve, group, options]);
  const open = async (): Promise<MsmEngine<Coordinate>> => {
    const tuning = { ...quick, ...options.tuning };
    const engine = await engineIn(
      createMsmEngine,
      { curve, group },
      { ...(await placeOf(options)), ...options, tuning },
    );
    ofFile.push(engine);
    return engine;
  };
  const engine = kept.get(key) ?? open();
  kept.set(key, engine);
  return engine as unknown as Promise<MsmEngine<C>>;
};
