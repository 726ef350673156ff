/**
 * Workers that are lost while an engine on the CPU computes with them, and calls that end early:
 * see tests/support/failure-table.ts.
 */
import { Worker } from 'node:worker_threads';
import { beforeAll, expect } from 'vitest';
import { type MsmCase, makeCase } from '../../dev/cases/msm-case.js';
import { type Bases, type ComputeWorker, createMsmEngine, type MsmEngine, type MsmOptions } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/start-worker.js';
import { useAllWorkers } from '../support/all-workers.js';
import { expectOutcome, prove } from '../support/failure-bench.js';
import { type Row, sections } from '../support/failure-table.js';
import { sleep } from '../support/time.js';

useAllWorkers();

/** Work for several workers. */
let large: MsmCase<bigint>;
beforeAll(() => {
  large = makeCase({ points: 'distinct', scalars: 'random', n: 8192, seed: 8 });
});

const start = workerStarter() as () => Worker;

/** A worker of another text. */
const actor = (text: string): Worker =>
  new Worker(`const { parentPort } = require('node:worker_threads');${text}`, { eval: true });

const saysReady = "parentPort.postMessage({ say: 'ready' });";

/** An engine, its bases, and the workers that it has started. */
class CpuBench {
  readonly engine: MsmEngine;
  readonly started: Worker[];
  bases!: Bases;

  private constructor(engine: MsmEngine, started: Worker[]) {
    this.engine = engine;
    this.started = started;
  }

  static async open(starter: () => Worker = start, maxWorkers = 1): Promise<CpuBench> {
    const started: Worker[] = [];
    const createWorker = (): ComputeWorker => {
      const worker = starter();
      started.push(worker);
      return worker;
    };
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', createWorker, maxWorkers });
    const bench = new CpuBench(engine, started);
    bench.bases = await engine.loadBases(large.points.bytes);
    return bench;
  }

  msm(options: MsmOptions = {}): Promise<unknown> {
    return this.engine.msm(this.bases, large.scalars.bytes, options);
  }

  /** Calls until so many workers take part. */
  async bring(workers: number): Promise<void> {
    for (let calls = 0; calls < 50; calls++) {
      expect(await this.msm()).toEqual(large.expected);
      if (this.engine.lastRun?.workers === workers) return;
    }
    expect.fail('the workers do not come');
  }

  /** The next call does what the row says. */
  async close(row: Row): Promise<void> {
    if (row.next === 'right') expect(await this.msm()).toEqual(large.expected);
    else if (row.next === 'same') await expectOutcome(row, this.msm());
    else {
      this.bases = await this.engine.loadBases(large.points.bytes);
      expect(await this.msm()).toEqual(large.expected);
    }
    this.engine.destroy();
  }
}

/**
 * The first call of an engine with such a worker, which is right, and says what became of the
 * worker.
 */
const expectLost = async (row: Row, starter: () => Worker, why: RegExp | null): Promise<CpuBench> => {
  const bench = await CpuBench.open(starter);
  await expectOutcome(row, bench.msm(), large.expected);
  if (why !== null) expect(bench.engine.lastRun?.retried).toMatch(why);
  expect(bench.engine.lastRun?.workers).toBe(0);
  return bench;
};

/** Ends a call that workers compute; it rejects as the row says. */
const endWhileComputing = async (row: Row, bench: CpuBench, end: () => void, options?: MsmOptions): Promise<void> => {
  const outcome = expectOutcome(row, bench.msm(options));
  await sleep(15);
  end();
  await outcome;
};

prove(sections.workers.title, sections.workers.rows, {
  terminated: async (stage, row) => {
    const bench = await CpuBench.open();
    if (stage !== 'before it is ready') await bench.bring(1);
    const call = stage === 'between two calls' ? null : bench.msm();
    const wait = stage === 'while it computes' ? 15 : 0;
    await sleep(wait);
    await bench.started[0]?.terminate();
    await expectOutcome(row, call ?? bench.msm(), large.expected);
    if (stage === 'while it computes') expect(bench.engine.lastRun?.retried).toMatch(/worker \d+ ended/);
    await bench.close(row);
  },

  dies: async (stage, row) => {
    const throws = `${saysReady}parentPort.on('message', () => { throw new Error('no more') });`;
    const says = "parentPort.postMessage({ say: 'failed', why: 'because' })";
    const [text, why] = {
      'it throws': [throws, /no more/] as const,
      'it says so': [`${saysReady}parentPort.on('message', () => ${says});`, /failed: because/] as const,
      // which may be after all was done
      'it ends by itself': ['', null] as const,
    }[stage];
    await (await expectLost(row, () => actor(text), why)).close(row);
  },

  silent: async (_, row) => {
    const mute = `${saysReady}parentPort.on('message', () => {});`;
    await (await expectLost(row, () => actor(mute), /was not heard of any more/)).close(row);
  },

  none: async (stage, row) => {
    const [starter, why] = {
      '`createWorker` throws': [
        () => {
          throw new Error('forbidden');
        },
        /could not be started: Error: forbidden/,
      ] as const,
      'it gives no worker': [() => ({}) as Worker, /could not be started/] as const,
      'there is no such script': [() => new Worker(new URL('file:///nowhere.js')), /died: /] as const,
    }[stage];
    await (await expectLost(row, starter, why)).close(row);
  },

  twice: async (_, row) => {
    const throws = `${saysReady}parentPort.on('message', () => { throw new Error('no more') });`;
    const bench = await expectLost(row, () => actor(throws), /no more/);
    await expectOutcome(row, bench.msm(), large.expected);
    expect(bench.engine.lastRun?.retried).toMatch(/no more/);
    await expectOutcome(row, bench.msm(), large.expected);
    expect(bench.engine.lastRun?.retried).toBeNull();
    expect(bench.started).toHaveLength(2);
    await bench.close(row);
  },

  aborted: async (_, row) => {
    const bench = await CpuBench.open(start, 2);
    await bench.bring(2);
    const controller = new AbortController();
    const ended = bench.started.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    await endWhileComputing(row, bench, () => controller.abort(), { signal: controller.signal });
    await Promise.all(ended);
    await bench.close(row);
  },

  basesDestroyed: async (_, row) => {
    const bench = await CpuBench.open();
    await bench.bring(1);
    await endWhileComputing(row, bench, () => bench.bases.destroy());
    await bench.close(row);
  },

  engineDestroyed: async (_, row) => {
    const bench = await CpuBench.open();
    await bench.bring(1);
    await endWhileComputing(row, bench, () => bench.engine.destroy());
    await bench.close(row);
  },
});
