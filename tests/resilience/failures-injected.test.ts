/**
 * A GPU that is out of memory, refuses commands, does not compile, or computes wrongly: see
 * tests/support/failure-table.ts.
 */
import { expect, test } from 'vitest';
import type { Bases } from '../../src/index.js';
import { Bench, expectOutcome, large, prove, small, strikeAt } from '../support/failure-bench.js';
import { allocations, kernelNames, passNames, type Row, sections } from '../support/failure-table.js';
import type { Call, LeasedDevice, Tap } from '../support/leased-gpu.js';

type Job = 'loadBases' | 'msm' | 'a larger msm';

/** The two halves of a stage. */
const parse = (stage: `${Job}: ${string}`): [Job, string] => stage.split(': ') as [Job, string];

/**
 * Up to a job of a new engine; `run` is the job itself, `resident` what is on the GPU before and
 * after it.
 */
const upTo = async (job: Job) => {
  const bench = await Bench.open();
  const resident: Bases[] = [];
  if (job === 'loadBases') {
    const run = async (): Promise<void> => void resident.push(await bench.load());
    return { bench, run, resident };
  }
  const bases = await bench.load(large);
  resident.push(bases);
  if (job === 'a larger msm') expect(await bench.msm(bases)).toEqual(small.expected);
  const wanted = job === 'msm' ? small : large;
  const run = async (): Promise<void> => expect(await bench.msm(bases, wanted)).toEqual(wanted.expected);
  return { bench, run, resident };
};

/** Has a job fail at a call of WebGPU, and sees what is left and what comes next. */
const failIn = async (
  job: Job,
  row: Row,
  matches: (call: Call) => boolean,
  instead: (call: Call, device: LeasedDevice) => unknown,
  leaves: 'no scratch' | 'all as it was' = 'no scratch',
): Promise<string> => {
  const { bench, run, resident } = await upTo(job);
  const before = bench.alive;
  const strikes = strikeAt(bench.lease, matches, (call) => instead(call, bench.lease));
  const message = await expectOutcome(row, run());
  expect(strikes.count).toBe(1);
  const none = { bases: before.bases, scratch: 0, buffers: resident.length };
  expect(bench.alive).toEqual(leaves === 'no scratch' ? none : before);
  await run();
  await bench.expectNext(row, resident[0] as Bases);
  bench.close();
  return message;
};

test('the table names every allocation, every pass and every kernel', async () => {
  for (const job of ['loadBases', 'msm', 'a larger msm'] as const) {
    const { bench, run } = await upTo(job);
    const labels: Record<string, string[]> = {};
    bench.lease.tap = (call) => {
      labels[call.method] = [...(labels[call.method] ?? []), call.label];
      return call.proceed();
    };
    await run();
    bench.close();
    expect([...(labels.createBuffer ?? [])].sort(), job).toEqual([...allocations[job]].sort());
    if (job === 'a larger msm') continue;
    expect([...new Set(labels.beginComputePass)]).toEqual(passNames[job]);
    expect([...new Set(labels.createBindGroup)]).toEqual(kernelNames[job]);
    expect([...new Set(labels.createShaderModule)]).toEqual(kernelNames[job]);
  }
});

const isBuffer =
  (name: string) =>
  ({ method, label }: Call): boolean =>
    method === 'createBuffer' && label === name;
const isQuerySet = ({ method }: Call): boolean => method === 'createQuerySet';
/** No buffer may be mapped both ways: MAP_READ | MAP_WRITE. */
const invalidBuffer = (call: Call): unknown => call.proceed([{ ...(call.args[0] as GPUBufferDescriptor), usage: 3 }]);
/** A query set has at most 4096 queries. */
const invalidQuerySet = (call: Call): unknown =>
  call.proceed([{ ...(call.args[0] as GPUQuerySetDescriptor), count: 4097 }]);

/**
 * Behaves like a device that is out of memory: reports the error, and returns an invalid object.
 */
const outOfMemory =
  (invalid: (call: Call) => unknown) =>
  (call: Call, device: LeasedDevice): unknown => {
    device.report('out-of-memory', 'injected');
    return device.unreported(() => invalid(call));
  };

prove(sections.memory.title, sections.memory.rows, {
  buffers: async (stage, row) => {
    const [job, name] = parse(stage);
    await failIn(job, row, isBuffer(name), outOfMemory(invalidBuffer));
    await failIn(job, row, isBuffer(name), () => {
      throw new RangeError('injected');
    });
  },
  queries: (stage, row) => failIn(parse(stage)[0], row, isQuerySet, outOfMemory(invalidQuerySet)),
});

const isPipelineOf =
  (method: string, name: string) =>
  (call: Call): boolean =>
    call.method === method && call.label === name;

/**
 * Arguments that a method takes and WebGPU then refuses: offsets are multiples of 4, an index that
 * is far too high.
 */
const refusedArguments: Readonly<Record<string, (args: readonly unknown[]) => readonly unknown[]>> = {
  writeBuffer: ([buffer, , ...rest]) => [buffer, 2, ...rest],
  clearBuffer: ([buffer, , ...rest]) => [buffer, 2, ...rest],
  copyBufferToBuffer: ([from, , ...rest]) => [from, 2, ...rest],
  resolveQuerySet: ([set, , ...rest]) => [set, 4000, ...rest],
  dispatchWorkgroups: () => [65536, 1],
  dispatchWorkgroupsIndirect: ([buffer]) => [buffer, 2],
};

prove(sections.refused.title, sections.refused.rows, {
  buffer: (stage, row) => {
    const [job, name] = parse(stage);
    return failIn(job, row, isBuffer(name), invalidBuffer);
  },
  queries: (stage, row) => failIn(parse(stage)[0], row, isQuerySet, invalidQuerySet),
  bindings: (stage, row) => {
    const [job, name] = parse(stage);
    return failIn(job, row, isPipelineOf('createBindGroup', name), (call) => {
      const descriptor = call.args[0] as GPUBindGroupDescriptor;
      return call.proceed([{ ...descriptor, entries: [...descriptor.entries].slice(1) }]);
    });
  },
  dispatch: (stage, row) => {
    const [job, pass] = parse(stage);
    return failIn(
      job,
      row,
      ({ method, label }) => method.startsWith('dispatchWorkgroups') && label === pass,
      (call) => call.proceed(refusedArguments[call.method]?.(call.args)),
    );
  },
  other: (stage, row) => {
    const [job, method] = parse(stage);
    return failIn(
      job,
      row,
      (call) => call.method === method,
      (call) => {
        const change = refusedArguments[method];
        if (change !== undefined) return call.proceed(change(call.args));
        call.proceed();
        return call.proceed(); // commands can be submitted once
      },
    );
  },
  map: (stage, row) => {
    const [job, method] = parse(stage);
    return failIn(
      job,
      row,
      (call) => call.method === method,
      () => {
        const error = new DOMException('injected', 'OperationError');
        if (method === 'mapAsync') return Promise.reject(error);
        throw error;
      },
    );
  },
  shader: async (stage, row) => {
    const [job, name] = parse(stage);
    let line = 0;
    const spoil = (call: Call): unknown => {
      const descriptor = call.args[0] as GPUShaderModuleDescriptor;
      const lines = descriptor.code.split('\n');
      line = lines.findIndex((text) => text.startsWith('@compute')) + 1;
      lines[line - 1] = `garbage ${lines[line - 1]}`;
      return call.proceed([{ ...descriptor, code: lines.join('\n') }]);
    };
    const message = await failIn(job, row, isPipelineOf('createShaderModule', name), spoil, 'all as it was');
    expect(message).toContain(`the pipeline of ${name} does not compile: line ${line}: `);
    expect(message).toMatch(/\n {2}@compute/);
  },
  pipeline: async (stage, row) => {
    const [job, name] = parse(stage);
    const fail = (): unknown => Promise.reject(new DOMException('injected', 'OperationError'));
    const message = await failIn(job, row, isPipelineOf('createComputePipelineAsync', name), fail, 'all as it was');
    expect(message).toContain(`the pipeline of ${name} does not compile: injected`);
  },
});

/** The device computes something else than the shaders say, from here on. */
const spoilSubtraction: Tap = (call) => {
  const [descriptor] = call.args as [GPUShaderModuleDescriptor];
  if (call.method !== 'createShaderModule' || call.label !== 'walk') return call.proceed();
  const code = descriptor.code.replace('less = words_sum(sum, other);', 'less = words_sum(sum, sum);');
  expect(code).not.toBe(descriptor.code);
  return call.proceed([{ ...descriptor, code }]);
};

/** Carries out no dispatch. */
const idle: Tap = (call) => (call.method.startsWith('dispatchWorkgroups') ? undefined : call.proceed());
const honest: Tap = (call) => call.proceed();

prove(sections.wrong.title, sections.wrong.rows, {
  computes: async (_, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    bench.lease.tap = spoilSubtraction;
    await expectOutcome(row, bench.msm(bases));
    await bench.expectNext(row, bases);
    bench.close();
  },
  idleMsm: async (_, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    expect(await bench.msm(bases)).toEqual(small.expected);
    bench.lease.tap = idle;
    await expectOutcome(row, bench.msm(bases));
    bench.lease.tap = honest;
    await bench.expectNext(row, bases);
    bench.close();
  },
  idleImport: async (_, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    bench.lease.tap = idle;
    await expectOutcome(row, bench.load(large));
    expect(bench.engine.memory.bases).toBe(bases.byteLength);
    bench.lease.tap = honest;
    await bench.expectNext(row, bases);
    bench.close();
  },
});
