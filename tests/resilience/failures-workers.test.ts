/**
 * Workers that are lost while an engine on the CPU computes with them, and calls that end early:
 * see tests/support/failure-table.ts.
 */
import { Worker } from 'node:worker_threads';
import { beforeAll, expect } from 'vitest';
import { type MsmCase, makeCase } from '../../dev/cases/msm-case.js';
import { type Bases, type ComputeWorker, createMsmEngine, type MsmEngine, type MsmOptions } from '../../src/index.js';
import { workerStarter } from '../../src/msm/cpu/cpu-threads.js';
import { nextTurn } from '../../src/scheduling/time-slice.js';
import { useAllWorkers } from '../support/all-workers.js';
import { expectOutcome, prove } from '../support/failure-bench.js';
import { type Row, sections } from '../support/failure-table.js';
import { cpuRunOf } from '../support/runs.js';

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

/** Workers, and when they are sent their parts of sums. */
class Workers {
  readonly started: Worker[] = [];
  #sent = 0;
  #onSent: () => void = () => undefined;

  /** Starts one more. */
  readonly create = (starter: () => Worker): ComputeWorker => {
    const worker = starter();
    const { postMessage } = worker;
    worker.postMessage = (...message) => {
      postMessage?.apply(worker, message);
      this.#sent++;
      this.#onSent();
    };
    this.started.push(worker);
    return worker;
  };

  /** Resolves at once when so many messages more were sent. */
  sent(count: number): Promise<void> {
    const until = this.#sent + count;
    return new Promise((resolve) => {
      this.#onSent = () => {
        if (this.#sent === until) resolve();
      };
    });
  }
}

/**
 * An engine, its bases and its workers. Every thread has a fixed share of a sum: the sum waits for
 * workers that are starting, and all of them take part, whichever thread is quick.
 */
class CpuBench {
  readonly engine: MsmEngine;
  readonly workers: Workers;
  bases!: Bases;

  private constructor(engine: MsmEngine, workers: Workers) {
    this.engine = engine;
    this.workers = workers;
  }

  static async open(starter: () => Worker = start, maxWorkers = 1): Promise<CpuBench> {
    const workers = new Workers();
    const engine = await createMsmEngine({
      ...{ curve: 'bn254', backend: 'cpu', maxWorkers },
      createWorker: () => workers.create(starter),
      tuning: { cpuDistribution: 'static' },
    });
    const bench = new CpuBench(engine, workers);
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
      if (cpuRunOf(this.engine).workers === workers) return;
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
  expect(cpuRunOf(bench.engine).workers).toBe(0);
  return bench;
};

/** Ends a call as soon as its workers have their parts; it rejects as the row says. */
const endWhileComputing = async (
  row: Row,
  bench: CpuBench,
  end: () => void,
  { count = 1, ...options }: MsmOptions & { readonly count?: number } = {},
): Promise<void> => {
  const sent = bench.workers.sent(count);
  const outcome = expectOutcome(row, bench.msm(options));
  await sent;
  end();
  await outcome;
};

prove(sections.workers.title, sections.workers.rows, {
  terminated: async (stage, row) => {
    const bench = await CpuBench.open();
    if (stage !== 'before it is ready') await bench.bring(1);
    const { workers } = bench;
    const sent = stage === 'while it computes' ? workers.sent(1) : null;
    const call = stage === 'between two calls' ? null : bench.msm();
    await sent;
    // it is started in the first turn of the call
    while (workers.started.length === 0) await nextTurn();
    await workers.started[0]?.terminate();
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
    expect(bench.workers.started).toHaveLength(2);
    await bench.close(row);
  },

  aborted: async (_, row) => {
    const bench = await CpuBench.open(start, 2);
    await bench.bring(2);
    const controller = new AbortController();
    const ended = bench.workers.started.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    await endWhileComputing(row, bench, () => controller.abort(), { signal: controller.signal, count: 2 });
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
