/** Who computes a call where there is a GPU: the GPU, the CPU, or both at the same time; by what either is expected to take, and what its runs took. */
import type { AdapterDescription } from '../../api/device.js';
import type { Prediction, RunRecord } from '../../api/run-record.js';
import type { Sharing } from '../../api/sharing.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { addAffine, infinityOf, toAffine } from '../../curves/jacobian.js';
import type { PointSource } from '../../curves/point-source.js';
import type { Call } from '../../engine/input.js';
import { MsmError } from '../../errors.js';
import { CallClock } from '../../session/clock.js';
import { hasWasm } from '../cpu/adder.js';
import { runOnCpu } from '../cpu/run.js';
import { CpuThreads, type WorkerOptions } from '../cpu/threads.js';
import { cpuCoefficients, fitted, gpuCoefficients, trustOf } from '../plan/cost.js';
import { additionsPerSubmitOf } from '../plan/device-defaults.js';
import type { PlanLimits } from '../plan/planner.js';
import type { SurveyedVector } from '../plan/survey.js';
import type { Knobs } from '../plan/tuning.js';
import { cpuWork, gpuWork } from '../plan/work.js';
import type { Workload } from '../plan/workload.js';
import type { ScalarVector, SurveyedScalars } from '../scalar-vectors.js';
import { publicPoint } from '../stages/fold.js';
import { Division, type Half } from './division.js';
import { type Expected, worthMerging } from './merging.js';
import {
  afterDivision,
  afterRun,
  afterTrial,
  type Backend,
  type Decision,
  decide,
  type Models,
  modelsOf,
  pacesOf,
  predict,
  type Stretch,
  type Works,
} from './routing.js';

/** What came of a call. */
export interface Done {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly record: RunRecord;
}

/** Where a call is computed, and with what. */
export interface RoutedPlace {
  readonly curve: CurveContext;
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
  readonly adapter: AdapterDescription;
  /** All bases; null where they are on the GPU alone. */
  readonly source: PointSource | null;
  /** Whether all is compiled that a call on the GPU needs. */
  readonly isReady: boolean;
}

/** A call, and what computes it. */
export interface RoutedCall extends RoutedPlace {
  readonly vectors: readonly ScalarVector[];
  /** Scalars that were given, of all vectors. */
  readonly n: number;
  readonly options: Call;
  readonly clock: CallClock;
  survey(vectors: readonly ScalarVector[]): SurveyedScalars[];
  onGpu(
    vectors: readonly ScalarVector[],
    surveyed: readonly SurveyedScalars[],
    options: Call,
    clock: CallClock,
  ): Promise<Done>;
  /** What was compiled on the device so far. */
  compiled(): number;
  /** Has all compiled that a call on the GPU needs, in the background. */
  compile(): void;
  /** Whether the GPU has work, of whomever, that is at least as urgent. */
  isBusy(): boolean;
  /** Called now and then; what it throws ends the call. */
  checkpoint(): void;
}

/** How workers of the CPU make room for what the GPU computes meanwhile for other calls. */
export type SideSharing = Required<Pick<Sharing, 'sidePool' | 'throttle'>>;

interface Timed extends Done {
  /** Without waiting for other calls. */
  readonly ms: number;
}

const timedOnGpu = async (
  { onGpu }: RoutedCall,
  vectors: readonly ScalarVector[],
  surveyed: readonly SurveyedScalars[],
  options: Call,
  clock: CallClock,
): Promise<Timed> => {
  const spent = (): number => Object.values(clock.read().hostTimes).reduce((sum, ms) => sum + ms, 0);
  const before = spent();
  const done = await onGpu(vectors, surveyed, options, clock);
  return { ...done, ms: spent() - before };
};

/** What a vector more costs the CPU, in scalars, where `cpuBelow` counts them: the doublings between its windows. */
const CPU_VECTOR_COST = 16;

export class Router {
  readonly threads: CpuThreads;
  readonly #isDivided: boolean;
  readonly #sharing: SideSharing;
  /** null until somebody has to know: to ask is a violation where a policy forbids it. */
  #isWasm: boolean | null = null;
  #models: Models | null = null;
  #adapter: AdapterDescription | null = null;

  /**
   * @param isDivided whether every call is divided that can be
   * @param sharing how workers and the GPU's work of other calls share the machine
   */
  constructor(isDivided: boolean, workers: WorkerOptions, sharing: SideSharing) {
    this.#isDivided = isDivided;
    this.#sharing = sharing;
    this.threads = new CpuThreads(workers);
  }

  destroy(): void {
    this.threads.destroy();
  }

  /** Ends workers that have nothing to do. */
  trim(): void {
    this.threads.trim();
  }

  /** What vectors are expected to take; null where there is no choice. */
  predict(place: RoutedPlace, loads: readonly Workload[]): Prediction | null {
    const { isFixed, predicted } = this.#decide(place, loads);
    return isFixed ? null : predicted;
  }

  /** Which of others' vectors are worth being computed with some. */
  company(place: RoutedPlace, loads: readonly Workload[], others: readonly (readonly Workload[])[]): number[] {
    const expected = (each: readonly Workload[]): Expected => {
      const { models, predicted, route } = this.#decide(place, each);
      // what both compute is not small
      if (route === 'both') return { fixedMs: 0, growingMs: Number.POSITIVE_INFINITY };
      const backend = route === 'gpu' ? 'gpu' : 'cpu';
      const { fixedMs } = fitted(models[backend]);
      return { fixedMs, growingMs: (backend === 'gpu' ? predicted.gpuMs : predicted.cpuMs) - fixedMs };
    };
    const own = expected(loads);
    return own.growingMs === Number.POSITIVE_INFINITY ? [] : worthMerging(own, others.map(expected));
  }

  /** Who computes, where nothing is to be decided; null where there is. */
  #fixedRoute({ source, tuning }: RoutedPlace, loads: readonly Workload[]): Backend | null {
    if (source === null) return 'gpu';
    const { cpuBelow } = tuning;
    if (this.#isDivided || cpuBelow === undefined || cpuBelow === null) return null;
    const scalars = loads.reduce((sum, { n }) => sum + n + CPU_VECTOR_COST, -CPU_VECTOR_COST);
    return scalars <= cpuBelow ? 'cpu' : 'gpu';
  }

  /**
   * Computes a call on the CPU, whatever is expected of the GPU.
   *
   * @param why it was not computed as asked for; null where it was
   */
  async multiplyOnCpu(call: RoutedCall, why: string | null): Promise<Done> {
    const { sums, record } = await this.#onCpu(call, call.survey(call.vectors), call.options);
    return { sums, record: { ...record, retried: record.retried ?? why } };
  }

  async multiply(call: RoutedCall): Promise<Done> {
    const surveyed = call.survey(call.vectors);
    const filled = surveyed.filter(({ load }) => load.n > 0);
    const { sidePool, throttle } = this.#sharing;
    const cap = (): number => (call.isBusy() ? sidePool : Number.POSITIVE_INFINITY);
    const onCpu = (): Promise<Timed> => this.#onCpu(call, surveyed, call.options, throttle ? cap : onceOf(cap));
    const onGpu = (): Promise<Timed> => timedOnGpu(call, call.vectors, surveyed, call.options, call.clock);
    if (filled.length === 0) return onCpu();
    const loads = filled.map(({ load }) => load);
    let decision = this.#decide(call, loads);
    if (!decision.isFixed && decision.route !== 'gpu' && this.#isWasm === null) {
      this.#isWasm = hasWasm();
      if (!this.#isWasm) {
        this.#models = null;
        decision = this.#decide(call, loads);
      }
    }
    const { workers, works, models, predicted, first } = decision;
    if (decision.route === 'trial') {
      const tried = await this.#tried(call, decision, onCpu);
      return { sums: tried.sums, record: { ...tried.record, predicted } };
    }
    if (decision.route === 'compile') call.compile();
    const route = decision.route === 'compile' ? 'cpu' : decision.route;
    const done = await this.#watched(call, async () => {
      if (route === 'both') {
        const begun = performance.now();
        const divided = await this.#divide(call, models, works, workers, first);
        return { ...divided, ms: performance.now() - begun };
      }
      return { ...(await (route === 'cpu' ? onCpu() : onGpu())), stretches: [] };
    });
    if (done.ms !== null && route !== 'both') this.#learn(decision, route, done.ms);
    else if (done.ms !== null) this.#models = afterDivision(this.#modelsOf(call), done.stretches, predicted, done.ms);
    return { sums: done.sums, record: { ...done.record, predicted: decision.isFixed ? null : predicted } };
  }

  /** Adds to what is known by now, which other calls may have done meanwhile. */
  #learn({ models, works }: { readonly models: Models; readonly works: Works }, backend: Backend, ms: number): void {
    this.#models = afterRun(this.#models ?? models, { backend, work: works[backend], ms });
  }

  #decide(call: RoutedPlace, loads: readonly Workload[]) {
    const fixed = this.#fixedRoute(call, loads);
    // on BigInts the own thread computes alone
    const workers = this.#isWasm === false || fixed === 'gpu' ? 0 : this.threads.of(call.tuning).workers;
    const works = worksOf(call, loads, workers);
    const models = this.#modelsOf(call);
    // a software adapter is the same cores once more
    const predicted = predict(models, works, this.#isDivided || !call.adapter.software);
    const isMany = loads.reduce((sum, { n }) => sum + n, 0) > 1;
    const free = (): Decision => {
      if (this.#isDivided && isMany) return { route: 'both', first: 1 };
      const decision = decide(models, works, predicted, call.isReady);
      return decision.route === 'both' && !isMany ? { route: 'cpu', first: 1 } : decision;
    };
    const decision: Decision = fixed === null ? free() : { route: fixed, first: 1 };
    return { workers, works, models, predicted, ...decision, isFixed: fixed !== null };
  }

  /** What is known of the machine: of another adapter than before, nothing. */
  #modelsOf({ curve, adapter }: RoutedPlace): Models {
    if (this.#models === null || this.#adapter !== adapter) {
      this.#adapter = adapter;
      // what always divides tries nothing; and a CPU that computes on BigInts is slower than any GPU is thought to be
      const trust = this.#isDivided || this.#isWasm === false ? 'known' : trustOf(adapter);
      const cpu = cpuCoefficients(curve, this.#isWasm !== false);
      this.#models = modelsOf(gpuCoefficients(curve, adapter), cpu, trust);
    }
    return this.#models;
  }

  /** How long something took; null where something was compiled meanwhile, which will not be the next time. */
  async #watched<Result extends { readonly ms: number }>(
    { compiled }: RoutedCall,
    compute: () => Promise<Result>,
  ): Promise<Omit<Result, 'ms'> & { readonly ms: number | null }> {
    const before = compiled();
    const result = await compute();
    return { ...result, ms: compiled() === before ? result.ms : null };
  }

  /** @param allowed how many workers may be at work, asked now and then */
  #onCpu(call: RoutedCall, surveyed: readonly SurveyedVector[], options: Call, allowed?: () => number): Promise<Timed> {
    const context = { ...call, threads: this.threads, allowed };
    return runOnCpu(context, call.source, surveyed, call.n, options, call.clock, call.checkpoint);
  }

  /** A part on the GPU, which is measured so, and then the rest on the CPU; all of it there where the GPU fails, which is not tried again. */
  async #tried(
    call: RoutedCall,
    { first, models, workers }: { readonly first: number; readonly models: Models; readonly workers: number },
    onCpu: () => Promise<Timed>,
  ): Promise<Done> {
    const { curve, n, options, clock, vectors } = call;
    const to = cutsOf(vectors, n)(Math.ceil(first * n));
    const [front, back] = [
      { from: 0, to },
      { from: to, to: n },
    ].map((range) => {
      const parts = partsOf(vectors, curve.scalarBytes, range);
      const own = parts.map(({ factors }) => factors);
      const surveyed = call.survey(own);
      const loads = surveyed.map(({ load }) => load).filter((load) => load.n > 0);
      return { parts, own, surveyed, loads };
    }) as unknown as readonly [Part, Part];
    if (front.loads.length === 0 || back.loads.length === 0) return onCpu();
    const quiet: Call = { ...options, onProgress: undefined };
    const begun = performance.now();
    let onGpu: Omit<Timed, 'ms'> & { readonly ms: number | null };
    try {
      onGpu = await this.#watched(call, () => timedOnGpu(call, front.own, front.surveyed, quiet, new CallClock()));
    } catch (error) {
      call.checkpoint();
      if (!(error instanceof MsmError) || error.code === 'aborted') throw error;
      this.#models = afterTrial(this.#models ?? models, null, Number.POSITIVE_INFINITY);
      return onCpu();
    }
    const work = onGpu.ms === null ? null : worksOf(call, front.loads, workers).gpu;
    this.#models = afterTrial(this.#models ?? models, work, onGpu.ms ?? performance.now() - begun);
    const rest = await this.#onCpu(call, back.surveyed, options);
    this.#learn({ models, works: worksOf(call, back.loads, workers) }, 'cpu', rest.ms);
    const total = totalOf(curve, vectors.length);
    total.add(front.parts, onGpu.sums);
    total.add(back.parts, rest.sums);
    return {
      sums: total.points(),
      record: joined({ front: [onGpu.record], back: [rest.record] }, to / n, {
        n,
        vectors: vectors.length,
        wallMs: clock.read().wallMs,
      }),
    };
  }

  /** Both at the same time: the GPU draws from the front, the CPU from the back. */
  async #divide(
    call: RoutedCall,
    models: Models,
    works: Works,
    workers: number,
    first: number,
  ): Promise<Done & { readonly stretches: readonly Stretch[] }> {
    const { curve, n, options, clock, vectors } = call;
    const stretches: Stretch[] = [];
    const paces = pacesOf(models, works, n, first);
    const division = new Division(n, paces, cutsOf(vectors, n), first);
    const total = totalOf(curve, vectors.length);
    const records: Record<Half, RunRecord[]> = { front: [], back: [] };
    const share = { front: 0, back: 0 };
    let stopped = false;
    const quiet: Call = { ...options, onProgress: undefined };
    const checkpoint = (): void => {
      call.checkpoint();
      if (stopped) throw new Error('the other half failed');
    };
    const onCpu = (surveyed: readonly SurveyedVector[]): Promise<Timed> =>
      this.#onCpu({ ...call, checkpoint }, surveyed, quiet);
    const computeSide = async (
      side: Half,
      backend: Backend,
      compute: (own: readonly ScalarVector[], surveyed: readonly SurveyedScalars[]) => Promise<Timed>,
    ) => {
      try {
        for (;;) {
          const drawn = stopped ? null : division.draw(side, performance.now());
          if (drawn === null) return;
          const parts = partsOf(vectors, curve.scalarBytes, drawn);
          const own = parts.map(({ factors }) => factors);
          const surveyed = call.survey(own);
          const filled = surveyed.filter(({ load }) => load.n > 0);
          // of nothing but zeros the CPU knows the sum
          const done = await this.#watched(call, () =>
            filled.length === 0 ? onCpu(surveyed) : compute(own, surveyed),
          );
          division.done(side, performance.now());
          if (filled.length > 0 && done.ms !== null) {
            const loads = filled.map(({ load }) => load);
            stretches.push({ backend, work: worksOf(call, loads, workers)[backend], ms: done.ms });
          }
          total.add(parts, done.sums);
          records[side].push(done.record);
          share[side] += (drawn.to - drawn.from) / n;
          const progress = Math.round((share.front + share.back) * n);
          clock.leaveOut(() => options.onProgress?.({ phase: 'msm', done: progress, total: n }));
        }
      } catch (error) {
        stopped = true;
        throw error;
      }
    };
    options.onProgress?.({ phase: 'msm', done: 0, total: n });
    const settled = await Promise.allSettled([
      computeSide('front', 'gpu', (own, surveyed) => timedOnGpu(call, own, surveyed, quiet, new CallClock())),
      computeSide('back', 'cpu', (_, surveyed) => onCpu(surveyed)),
    ]);
    call.checkpoint();
    for (const each of settled) if (each.status === 'rejected') throw each.reason;
    return {
      sums: total.points(),
      stretches,
      record: joined(records, share.front, { n, vectors: vectors.length, wallMs: clock.read().wallMs }),
    };
  }
}

/** A range of all scalars. */
interface Part {
  readonly parts: readonly { readonly vector: number; readonly factors: ScalarVector }[];
  readonly own: readonly ScalarVector[];
  readonly surveyed: readonly SurveyedScalars[];
  /** Loads of the parts that are not all zeros. */
  readonly loads: readonly Workload[];
}

/** Adds up sums of parts, by the vectors that they are of. */
const totalOf = (curve: CurveContext, count: number) => {
  const sums = Array.from({ length: count }, () => infinityOf(curve));
  return {
    add(parts: Part['parts'], some: Done['sums']): void {
      for (const [i, { vector }] of parts.entries()) {
        const { x, y, infinity } = some[i] as AffinePoint<Coordinate>;
        sums[vector] = addAffine(curve, sums[vector] as (typeof sums)[number], infinity ? null : { x, y });
      }
    },
    points: () => sums.map((sum) => publicPoint(curve, toAffine(curve, sum))),
  };
};

/** What is the same for ever, once it was asked for. */
const onceOf = (ask: () => number): (() => number) => {
  let told: number | null = null;
  return () => {
    told ??= ask();
    return told;
  };
};

/** @param workers of the CPU, at most */
const worksOf = ({ curve, limits, tuning }: RoutedPlace, loads: readonly Workload[], workers: number): Works => {
  const bound = additionsPerSubmitOf(limits, tuning);
  return { gpu: gpuWork(curve, loads, bound, tuning.windowBits ?? null), cpu: cpuWork(curve, loads, workers) };
};

/** Vectors of less than this share of all scalars are not cut in two. */
const SHORT = 1 / 16;

/** Where scalars, all vectors in a row, may be cut near some place: anywhere in long vectors, and between others. */
const cutsOf = (vectors: readonly ScalarVector[], n: number): ((at: number) => number) => {
  let end = 0;
  const ends = vectors.map((vector) => {
    end += vector.n;
    return end;
  });
  return (at) => {
    const v = ends.findIndex((each) => at < each);
    if (v === -1) return n;
    const [start, next] = [v === 0 ? 0 : (ends[v - 1] as number), ends[v] as number];
    if (next - start > SHORT * n) return at;
    return at - start < next - at ? start : next;
  };
};

/** The parts of vectors in a range of all scalars in a row. */
const partsOf = (
  vectors: readonly ScalarVector[],
  scalarBytes: number,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly vector: number; readonly factors: ScalarVector }[] => {
  let start = 0;
  return vectors.flatMap(({ scalars, n, offset, loaded }, vector) => {
    const [first, last] = [Math.max(0, from - start), Math.min(n, to - start)];
    start += n;
    if (first >= last) return [];
    const own = scalars.subarray(first * scalarBytes, last * scalarBytes);
    const part = loaded?.part(first, last) ?? null;
    return [{ vector, factors: { scalars: own, n: last - first, offset: offset + first, loaded: part } }];
  });
};

/** What is told of a call that both computed. */
const joined = (
  { front, back }: Readonly<Record<Half, readonly RunRecord[]>>,
  gpuShare: number,
  own: Pick<RunRecord, 'n' | 'vectors' | 'wallMs'>,
): RunRecord => {
  const all = [...front, ...back];
  const longest = all.reduce((most, each) => (each.entries > most.entries ? each : most));
  const sum = (what: 'entries' | 'dispatches' | 'submits'): number =>
    all.reduce((total, each) => total + each[what], 0);
  const workers = back.reduce((most, { workers }) => Math.max(most, workers), 0);
  const retried = all.flatMap((each) => each.retried ?? []);
  return {
    ...longest,
    ...own,
    on: front.length === 0 ? 'cpu' : back.length === 0 ? 'gpu' : 'both',
    gpuShare,
    arithmetic: back[0]?.arithmetic ?? null,
    workers,
    noWorkers: workers > 0 ? null : (back.findLast(({ noWorkers }) => noWorkers !== null)?.noWorkers ?? null),
    entries: sum('entries'),
    dispatches: sum('dispatches'),
    submits: sum('submits'),
    hostTimes: null,
    retried: retried.length === 0 ? null : retried.join('; '),
    fallback: front[0]?.fallback ?? null,
    verified: all.every(({ verified }) => verified),
    phases: null,
    timeline: null,
    predicted: null,
  };
};
