/** Multi-scalar multiplication as an operation of a session. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { addAffine, infinityOf, type Jacobian, toAffine } from '../../curves/jacobian.js';
import type { Submission, SubmissionResult } from '../../gpu/submission.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import type { CallContext } from '../../session/call-context.js';
import type { DeviceView, KnownAnswer, Operation, Report, Step } from '../../session/operation.js';
import type { Resident } from '../../session/resident.js';
import { phasesOf } from '../../session/timeline.js';
import type { BasesLoader, LoadedBases } from '../inputs/loaded-bases.js';
import type { ScalarVector, SurveyedScalars } from '../inputs/scalar-vectors.js';
import { learnedRate } from '../plan/cost.js';
import type { Plan } from '../plan/planner.js';
import { type Batch, type Job, schedule } from '../plan/schedule.js';
import type { Knobs } from '../plan/tuning.js';
import type { MsmDone, MsmRequest } from '../request.js';
import { affineOf, publicPoint } from '../stages/combine-windows.js';
import { type Check, drawCheck, otherwise } from '../verify/check.js';
import type { ExpectedDigests } from './audit.js';
import { type JobOutcome, jobSubmission, readJob } from './job-submission.js';
import { knownMsm } from './known-msm.js';
import type { MsmInput, MsmResult } from './msm-input.js';
import { ADDITIONS, limitsOf, type MsmSetup, rateOf } from './setup.js';

/** A job of the result, or of a check vector. */
export interface MsmStep extends Step {
  readonly job: Job;
  readonly vectors: readonly SurveyedScalars[];
  /** 0: the job is of the result; i > 0: it is of vector i − 1 of `check`. */
  readonly of: number;
  readonly check: Check | null;
  /** Digests of the scalars, computed while the GPU has the job. */
  expected: ExpectedDigests;
}

/** Looks at the scalars that plans depend on. */
export interface Surveyor {
  /** Returns true if zero scalars are left out of calls over these bases. */
  picks(bases: LoadedBases): boolean;
  /** Returns the vectors with their nonzero scalars and digits counted. */
  survey(bases: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[];
}

/** Computes a request without the GPU. */
export type OnCpu = (request: MsmRequest, call: CallContext) => Promise<MsmDone>;

type Done = { readonly step: MsmStep; readonly part: JobOutcome };

/** Returns the plan of the first job. */
export const planOf = (jobs: readonly Job[]): Plan => ((jobs[0] as Job).batches[0] as Batch).plan;

/** Adds up the sums of the chunks of each vector. @param count number of vectors */
const sumsOf = (curve: CurveContext, count: number, done: readonly Done[]): AffinePoint<Coordinate>[] => {
  const totals = Array.from({ length: count }, () => infinityOf(curve));
  for (const { step, part } of done) {
    step.job.batches.forEach(({ chunks }, batch) => {
      chunks.forEach(({ vector }, chunk) => {
        const sum = part.sums[batch]?.[chunk] as AffinePoint<Coordinate>;
        totals[vector] = addAffine(curve, totals[vector] as Jacobian, affineOf(sum));
      });
    });
  }
  return totals.map((total) => publicPoint(curve, toAffine(curve, total)));
};

/** Multi-scalar multiplication: Pippenger's bucket method on a device. */
export class MsmOperation implements Operation<MsmInput, MsmResult, MsmSetup, MsmStep, JobOutcome> {
  readonly name = 'msm';
  readonly unit = ADDITIONS;
  readonly canShrink = true;
  readonly showsHealth = true;
  readonly #surveyor: Surveyor;
  readonly #curve: CurveContext;
  readonly #loader: BasesLoader;
  readonly onCpu?: (input: MsmInput, call: CallContext) => Promise<MsmResult>;

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
    call: CallContext,
  ): Promise<readonly MsmStep[]> {
    const { curve } = device.setup;
    const tuning = knobs ?? device.setup.tuning;
    const { bytes, name } = device.allowance;
    const limits = limitsOf(device);
    const jobsOf = (some: readonly SurveyedScalars[], more: Knobs = {}): Job[] =>
      schedule(some, curve, limits, bytes, { ...tuning, ...more }, name);
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
          expected: [],
        }),
      );
    if (Math.random() >= verify) return stepsOf(jobs, own, 0, null);
    const slice = new TimeSlice(() => call.checkpoint());
    const check = await drawCheck(curve, vectors, bases.source, slice);
    const checks = this.#surveyor.survey(bases, check.vectors).flatMap((vector, i) => {
      const other = otherwise(planOf(jobs), (more) => jobsOf([vector], more));
      return stepsOf(other, [vector], i + 1, check);
    });
    return [...stepsOf(jobs, own, 0, check), ...checks];
  }

  record({ bases }: MsmInput, step: MsmStep, device: DeviceView<MsmSetup>, call: CallContext): Submission {
    const buffer = device.bufferOf(bases) as GPUBuffer;
    const find = ({ loaded, onDevice }: SurveyedScalars): GPUBuffer | null => {
      const resident = onDevice ?? loaded?.store;
      return resident === undefined ? null : device.bufferOf(resident);
    };
    return jobSubmission(device.setup, step.job, step.vectors, buffer, find, call, (expected) => {
      step.expected = expected;
    });
  }

  cost(_: MsmInput, { job }: MsmStep, device: DeviceView<MsmSetup>): number {
    return job.batches.reduce((sum, { plan }) => sum + plan.additions, 0) / rateOf(device);
  }

  read(
    _: MsmInput,
    { job, expected }: MsmStep,
    result: SubmissionResult,
    { setup }: DeviceView<MsmSetup>,
    call: CallContext,
  ): Promise<JobOutcome> {
    return readJob(setup, job, result, expected, call);
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
