/** Multi-scalar multiplication as an operation of a session. */

import type { GpuRun } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { GpuFault, MsmError } from '../../errors.js';
import type { Submission, SubmissionResult, Upload } from '../../gpu/submission.js';
import type { Call } from '../../scheduling/call.js';
import type { DeviceView, KnownAnswer, Operation, Report, Resident, Step } from '../../session/operation.js';
import { phasesOf } from '../../session/run-steps.js';
import type { Command } from '../../shaders/kernel.js';
import type { MsmDone, MsmRequest } from '../backend.js';
import { type BasesLoader, LoadedBases } from '../inputs/loaded-bases.js';
import type { ScalarStore, ScalarVector, SurveyedScalars } from '../inputs/scalars.js';
import { learnedRate } from '../plan/cost.js';
import { type Plan, walksOf } from '../plan/planner.js';
import { type Batch, type Job, schedule } from '../plan/schedule.js';
import type { Knobs } from '../plan/tuning.js';
import { loadedTables } from '../plan/workload.js';
import { areSame, combineWindows, PartialSums } from '../stages/combine-windows.js';
import { IN_A_ROW, Vector } from '../stages/decompose.js';
import { audit, auditSums, type ExpectedDigests, expectedOf } from './audit.js';
import { ADDITIONS, type MsmSetup, rateOf, roomOf } from './gpu-setup.js';
import { recordJob } from './record-job.js';
import { type Check, drawCheck, type KnownAnswer as KnownMsm, knownAnswer, otherwise } from './verify-sums.js';

/** Types of a multiplication as an operation. */
interface MsmTypes {
  readonly input: MsmInput;
  readonly result: MsmResult;
  readonly step: MsmStep;
  readonly expected: ExpectedDigests;
  readonly part: JobOutcome;
}

/** A job of the result, or of a check vector. */
interface MsmStep extends Step {
  readonly job: Job;
  readonly vectors: readonly SurveyedScalars[];
  /** 0: the job is of the result; i > 0: it is of vector i − 1 of `check`. */
  readonly of: number;
  readonly check: Check | null;
}

/** Looks at the scalars that plans depend on. */
export interface Surveyor {
  /** Returns true if zero scalars are left out of calls over these bases. */
  picks(bases: LoadedBases): boolean;
  /** Returns the vectors with their nonzero scalars and digits counted. */
  survey(bases: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[];
}

/** Computes a request without the GPU. */
type OnCpu = (request: MsmRequest, call: Call) => Promise<MsmDone>;

type Done = { readonly step: MsmStep; readonly part: JobOutcome };

/** Returns the plan of the first job. */
export const planOf = (jobs: readonly Job[]): Plan => ((jobs[0] as Job).batches[0] as Batch).plan;

/** Adds up the sums of the chunks of each vector. @param count number of vectors */
const sumsOf = (curve: CurveContext, count: number, done: readonly Done[]): AffinePoint<Coordinate>[] => {
  const totals = new PartialSums(curve, count);
  for (const { step, part } of done) {
    for (const [i, { chunks }] of step.job.batches.entries()) totals.add(chunks, part.sums[i] ?? []);
  }
  return totals.points();
};

/** Multi-scalar multiplication: Pippenger's bucket method on a device. */
export class MsmOperation implements Operation<MsmTypes, MsmSetup> {
  declare readonly types?: MsmTypes;
  readonly name = 'msm';
  readonly unit = ADDITIONS;
  readonly canShrink = true;
  readonly showsHealth = true;
  readonly #surveyor: Surveyor;
  readonly #curve: CurveContext;
  readonly #loader: BasesLoader;
  readonly onCpu?: (input: MsmInput, call: Call) => Promise<MsmResult>;

  /** @param onCpu computes a request without the GPU; absent where only the GPU has the bases */
  constructor(curve: CurveContext, surveyor: Surveyor, loader: BasesLoader, onCpu?: OnCpu) {
    this.#curve = curve;
    this.#surveyor = surveyor;
    this.#loader = loader;
    if (onCpu === undefined) return;
    this.onCpu = async ({ request }, call) => {
      const cpu = await onCpu(request as MsmRequest, call);
      return { sums: cpu.sums, gpu: null, cpu };
    };
  }

  residents({ bases, placed, vectors }: MsmInput): readonly Resident[] {
    return [bases, ...placed, ...vectors.flatMap(({ computed }) => computed?.onDevice ?? [])];
  }

  /** Returns the bases, and all scalars on the device, whichever engine uploaded them. */
  suspects({ bases, vectors }: MsmInput): readonly Resident[] {
    return [bases, ...vectors.flatMap(({ loaded }) => loaded?.store ?? [])];
  }

  mustConfirm({ gpu }: MsmResult): boolean {
    return gpu?.isVerified === true;
  }

  /** Plans the jobs of the result and, with probability `verify`, the jobs that check it. */
  async plan(
    { bases, vectors, verify, knobs, surveyed }: MsmInput,
    device: DeviceView<MsmSetup>,
    call: Call,
  ): Promise<readonly MsmStep[]> {
    const { curve } = device.setup;
    const tuning = knobs ?? device.setup.tuning;
    const room = roomOf(device);
    const jobsOf = (some: readonly SurveyedScalars[], more: Knobs = {}): Job[] =>
      schedule(some, curve, room, { ...tuning, ...more });
    const isCurrent = surveyed !== null && surveyed.picks === this.#surveyor.picks(bases);
    const own = isCurrent ? surveyed.vectors : this.#surveyor.survey(bases, vectors);
    const jobs = jobsOf(own);
    const stepsOf = (some: readonly Job[], given: readonly SurveyedScalars[], of: number, check: Check | null) =>
      some.map(
        (job, i): MsmStep => ({
          job,
          vectors: given,
          submits: job.submits,
          of,
          check,
          isCheck: of > 0,
          // a check has other windows, so it could not use the scratch of the result
          startsAfresh: of === 1 && i === 0,
        }),
      );
    if (Math.random() >= verify) return stepsOf(jobs, own, 0, null);
    const slice = call.timeSlice();
    const check = await drawCheck(curve, vectors, bases.source, slice);
    const checks = this.#surveyor.survey(bases, check.vectors).flatMap((vector, i) => {
      const other = otherwise(planOf(jobs), (more) => jobsOf([vector], more));
      return stepsOf(other, [vector], i + 1, check);
    });
    return [...stepsOf(jobs, own, 0, check), ...checks];
  }

  record({ bases }: MsmInput, step: MsmStep, device: DeviceView<MsmSetup>, call: Call): Submission<ExpectedDigests> {
    const buffer = device.bufferOf(bases) as GPUBuffer;
    const find = ({ loaded, onDevice }: SurveyedScalars): GPUBuffer | null => {
      const resident = onDevice ?? loaded?.store;
      return resident === undefined ? null : device.bufferOf(resident);
    };
    return jobSubmission(device.setup, step, { bases: buffer, find }, call);
  }

  cost(_: MsmInput, { job }: MsmStep, device: DeviceView<MsmSetup>): number {
    return job.batches.reduce((sum, { plan }) => sum + plan.additions, 0) / rateOf(device);
  }

  read(
    _: MsmInput,
    { job }: MsmStep,
    result: SubmissionResult<ExpectedDigests>,
    { setup }: DeviceView<MsmSetup>,
    call: Call,
  ): Promise<JobOutcome> {
    return readJob(setup, job, result, call);
  }

  async finish({ vectors }: MsmInput, done: readonly Done[]): Promise<MsmResult> {
    const own = done.filter(({ step }) => step.of === 0);
    const sums = sumsOf(this.#curve, vectors.length, own);
    const { check } = (own[0] as Done).step;
    if (check !== null) {
      const others = check.vectors.map((_, i) => {
        const some = done.filter(({ step }) => step.of === i + 1);
        return sumsOf(this.#curve, 1, some)[0] as AffinePoint<Coordinate>;
      });
      await check.assertAgree(sums, others);
    }
    const plan = planOf(own.map(({ step }) => step.job));
    const total = (what: 'entries' | 'combineMs'): number => own.reduce((sum, { part }) => sum + part[what], 0);
    const facts = { entries: total('entries'), combineMs: total('combineMs') };
    return { sums, gpu: { plan, ...facts, isVerified: check !== null }, cpu: null };
  }

  /** Learns the additions a millisecond from the time of the walk, or of all phases without it. */
  learn({ gpu }: MsmResult, { timeline, hostTimes }: Report, before: number | null): number | null {
    if (gpu === null) return before;
    const { entries, combineMs } = gpu;
    const phases = timeline && phasesOf(timeline, combineMs);
    const walkMs = phases?.find(({ name }) => name === 'walk')?.ms;
    // a clock of low resolution can show 0, which is no measurement
    return learnedRate(before, entries, walkMs || hostTimes.submitToResultMs);
  }

  knownAnswer({ bases }: MsmInput, setup: MsmSetup): KnownAnswer<MsmInput, MsmResult> {
    return knownMsm(setup, bases.tables.count > 1, this.#loader);
  }
}

/* Input and result of a multiplication on the GPU. */

/** Input of a multiplication on the GPU. */
interface MsmInput {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  /** Probability that the result is verified. */
  readonly verify: number;
  /** Stores of scalars that the call uses from the device. */
  readonly placed: readonly ScalarStore[];
  /** Knobs instead of the setup's; null: the setup's. */
  readonly knobs: Knobs | null;
  /** The request, for the CPU to compute; null for a self-test. */
  readonly request: MsmRequest | null;
  /** The vectors after a look at their scalars; null: not looked at yet. */
  readonly surveyed: SurveyedVectors | null;
}

/** Surveyed vectors, and whether zero scalars were left out. */
interface SurveyedVectors {
  readonly vectors: readonly SurveyedScalars[];
  readonly picks: boolean;
}

/** Sums of a multiplication, with facts from the GPU or with the record of the CPU. */
interface MsmResult {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly gpu: GpuFacts | null;
  readonly cpu: MsmDone | null;
}

/** Facts about a multiplication on the GPU. */
interface GpuFacts {
  readonly plan: Plan;
  readonly entries: number;
  readonly combineMs: number;
  readonly isVerified: boolean;
}

/* The submission of a job: its uploads and commands, and the audit of its result. */

/** Outcome of a job. */
interface JobOutcome {
  /** The sums of the chunks, batch by batch. */
  readonly sums: readonly (readonly AffinePoint<Coordinate>[])[];
  /** Number of nonzero digits that the walk read. */
  readonly entries: number;
  /** Time of combining windows on the CPU, in ms. */
  readonly combineMs: number;
}

/** Finds a resident's buffer on the device; null if it is not there. */
type FindBuffer = (resident: SurveyedScalars) => GPUBuffer | null;

/** Buffers that a job reads and does not upload. */
interface ResidentBuffers {
  readonly bases: GPUBuffer;
  /** Finds the buffer of scalars. */
  readonly find: FindBuffer;
}

/** Records the job of a step. The host computes the digests that decompose has to report meanwhile. */
const jobSubmission = (
  { curve, kernels, horner }: MsmSetup,
  { job, vectors }: MsmStep,
  { bases, find: findBuffer }: ResidentBuffers,
  call: Call,
): Submission<ExpectedDigests> => {
  // the first job waits for its kernels meanwhile
  void horner.prepare();
  return {
    scratch: job.scratch,
    external: { bases, ...vectorBuffers(vectors, findBuffer) },
    uploads: job.batches.flatMap((batch) => uploadsOf(batch, vectors, curve.scalarBytes, findBuffer)),
    commands: [
      ...job.batches.flatMap((batch) => conversionsOf(batch, vectors)),
      ...recordJob(kernels, job, ({ plan, bases: { first, count } }) => {
        const baseBytes = plan.tables * curve.pointBytes;
        return { buffer: 'bases', offset: first * baseBytes, size: count * baseBytes };
      }),
    ],
    accounts: job.accounts,
    result: job.bitSums,
    meanwhile: () => expectedOf(curve, job, vectors, call.timeSlice()),
  };
};

/**
 * Audits the accounts and sums of a job, and combines its windows.
 *
 * @throws GpuFault where the GPU computed wrongly
 */
const readJob = async (
  { curve, horner }: MsmSetup,
  { batches }: Job,
  { accounts, result, expected }: SubmissionResult<ExpectedDigests>,
  call: Call,
): Promise<JobOutcome> => {
  const slice = call.timeSlice();
  const [{ plan: first }] = batches as readonly [Batch];
  // a job with an instrument has one batch
  const found = first.instrument?.read(accounts, first.levelTasks.length, walksOf(first));
  if (found) throw new GpuFault(...found);
  const entries = batches.reduce(
    (sum, batch, i) => sum + audit(batch, expected[i] as ExpectedDigests[number], accounts),
    0,
  );
  const sumsOf = ({ at }: Batch): Uint32Array => result.subarray(at.bitSums / 4);
  for (const batch of batches) await auditSums(curve, batch, accounts, sumsOf(batch), slice);
  const combining = performance.now();
  const sums: AffinePoint<Coordinate>[][] = [];
  for (const batch of batches) {
    const own: AffinePoint<Coordinate>[] = [];
    for (let vector = 0; vector < batch.chunks.length; vector++) {
      own.push(combineWindows(curve, batch.plan, sumsOf(batch), vector, horner.now));
      if (slice.isOver) await slice.yield();
    }
    sums.push(own);
  }
  return { sums, entries, combineMs: performance.now() - combining };
};

/** Name of the buffer of vector `i` on the device, in commands. */
const vectorName = (i: number): string => `vector${i}`;

/** Returns the buffers of the vectors that are on the device, by name. */
const vectorBuffers = (vectors: readonly SurveyedScalars[], findBuffer: FindBuffer): Record<string, GPUBuffer> =>
  Object.fromEntries(
    vectors.flatMap((vector, i) => {
      if (vector.onDevice === undefined) return [];
      const buffer = findBuffer(vector);
      if (buffer === null)
        throw new MsmError('device-lost', `scalars[${i}] was lost with the GPU device; load it again`);
      return [[vectorName(i), buffer] as const];
    }),
  );

/** Returns the commands that convert the vectors of a batch that are on the device. */
const conversionsOf = ({ chunks, n, bases, plan, at }: Batch, vectors: readonly SurveyedScalars[]): Command[] =>
  chunks.flatMap(({ vector, first, length, sentAt }, i) => {
    const { onDevice, offset } = vectors[vector] as SurveyedScalars;
    if (onDevice === undefined || sentAt === undefined) return [];
    const out = { buffer: 'scalars', offset: at.scalars, size: plan.scratch.scalars };
    const places = { out, firstOut: i * n, account: sentAt };
    const firstBase = offset + first - bases.first;
    return [onDevice.convert(vectorName(vector), { first, length, vector: i, firstBase, ...places })];
  });

/** Returns the contents of a batch's slices of `scalars`, `picks` and `vectors`. */
const uploadsOf = (
  { chunks, n, bases, at }: Batch,
  vectors: readonly SurveyedScalars[],
  scalarBytes: number,
  findBuffer: FindBuffer,
): Upload[] => {
  const uploads: Upload[] = [];
  const table = new Uint32Array(chunks.length * Vector.fields.length);
  chunks.forEach(({ vector, first, length }, i) => {
    const surveyed = vectors[vector] as SurveyedScalars;
    const { scalars, indices, offset, loaded, onDevice } = surveyed;
    const end = first + length;
    const upload: Upload = {
      to: { buffer: 'scalars', offset: at.scalars + i * n * scalarBytes },
      data: scalars.subarray(first * scalarBytes, end * scalarBytes),
      from: () => {
        // picked scalars are not consecutive in the resident buffer
        if (loaded === null || indices !== null) return null;
        const buffer = findBuffer(surveyed);
        return buffer && { buffer, offset: loaded.start + first * scalarBytes };
      },
    };
    if (onDevice === undefined) uploads.push(upload);
    let start = { first_base: offset + first - bases.first, first_pick: IN_A_ROW };
    if (indices !== null) {
      // indices relative to the first base of the binding; every base of a chunk follows it
      const picks = indices.subarray(first, end).map((index) => offset + index - bases.first);
      uploads.push({ to: { buffer: 'picks', offset: at.picks + 4 * i * n }, data: picks });
      start = { first_base: 0, first_pick: i * n };
    }
    table.set(Vector.pack({ length, ...start }), i * Vector.fields.length);
  });
  uploads.push({ to: { buffer: 'vectors', offset: at.vectors }, data: table });
  return uploads;
};

/** Returns the record of a multiplication that the GPU computed. */
export const gpuRecord = (
  { n, vectors }: Pick<MsmRequest, 'n' | 'vectors'>,
  { plan, entries, combineMs, isVerified }: GpuFacts,
  { dispatches, submits, uploadedBytes, timeline }: Report,
  { clock }: Call,
  facts: Pick<GpuRun, 'retried' | 'fallback' | 'adapter'>,
): GpuRun => ({
  on: 'gpu',
  n,
  vectors: vectors.length,
  windowBits: plan.tuning.windowBits,
  windows: plan.blocks * plan.vectorWindows,
  tasks: plan.levelTasks[0] as number,
  entries,
  dispatches,
  uploadedBytes,
  submits,
  ...clock.read(),
  ...facts,
  verified: isVerified,
  phases: timeline && phasesOf(timeline, combineMs),
  timeline,
  tuning: plan.tuning,
  predicted: null,
});

/* The known answer of a multiplication, for the self-test of a device. */

/** Number of tables in a test of tables. */
const TABLES = 3;

/** Returns the self-test of a setup. @param hasTables true to test tables of bases as well */
export const knownMsm = (
  { curve, tuning }: MsmSetup,
  hasTables: boolean,
  loader: BasesLoader,
): KnownAnswer<MsmInput, MsmResult> => {
  // no pipeline depends on the knobs that are left out here
  const { windowBits: _windowBits, cpuBelow: _cpuBelow, ...knobs } = tuning;
  const { name, p, a, b, field, coordinates: f, pointBytes, scalarBytes } = curve;
  const constants = [p, ...f.coefficients(a), ...f.coefficients(b)].join();
  let answer: KnownMsm | null = null;
  const computed = (): KnownMsm => {
    answer ??= knownAnswer(curve);
    return answer;
  };
  return {
    key: JSON.stringify([name, constants, field.product, hasTables, knobs]),
    input: () => {
      const { points, scalars } = computed();
      return {
        bases: new LoadedBases({
          length: points.length / pointBytes,
          label: 'self-test',
          tables: loadedTables(curve, hasTables ? TABLES : 1),
          source: { bytes: points, scale: 1n, encoding: 'le' },
          loader,
        }),
        vectors: [{ scalars, n: scalars.length / scalarBytes, offset: 0, loaded: null }],
        verify: 0,
        placed: [],
        knobs,
        request: null,
        surveyed: null,
      };
    },
    check: ({ sums }) =>
      areSame(curve, sums[0] as AffinePoint<Coordinate>, computed().sum)
        ? null
        : 'the sum of the known points is wrong',
  };
};
