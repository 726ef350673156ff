/** Who computes a call where there is a GPU: the GPU, the CPU, or both at the same time; by what either is expected to take, and what its runs took. */
import type { AdapterDescription, AffinePoint, Coordinate, Prediction, RunRecord } from '../api.js';
import { CpuThreads, type WorkerOptions } from '../cpu/threads.js';
import { hasWasm } from '../cpu/wide.js';
import type { CurveContext } from '../curves/curve.js';
import { addAffine, infinityOf, toAffine } from '../curves/jacobian.js';
import type { PointSource } from '../curves/point-source.js';
import { cpuCoefficients, gpuCoefficients } from '../plan/cost.js';
import { additionsPerSubmitOf } from '../plan/device-defaults.js';
import { Division, type Side } from '../plan/division.js';
import type { PlanLimits } from '../plan/planner.js';
import {
  afterDivision,
  afterRun,
  type Backend,
  type Models,
  modelsOf,
  paceOf,
  predict,
  routeOf,
  type Stretch,
  type Works,
} from '../plan/routing.js';
import type { SurveyedVector } from '../plan/survey.js';
import type { Knobs } from '../plan/tuning.js';
import { cpuWork, gpuWork } from '../plan/work.js';
import type { Workload } from '../plan/workload.js';
import { publicPoint } from '../stages/fold.js';
import { HostClock } from './clock.js';
import { runOnCpu } from './cpu-run.js';
import type { Factors, SurveyedFactors } from './factors.js';
import type { CallOptions } from './input.js';

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
}

/** A call, and what computes it. */
export interface RoutedCall extends RoutedPlace {
  readonly vectors: readonly Factors[];
  /** Scalars that were given, of all vectors. */
  readonly n: number;
  readonly options: CallOptions;
  readonly clock: HostClock;
  survey(vectors: readonly Factors[]): SurveyedFactors[];
  onGpu(
    vectors: readonly Factors[],
    surveyed: readonly SurveyedFactors[],
    options: CallOptions,
    clock: HostClock,
  ): Promise<Done>;
  /** What was compiled on the device so far. */
  compiled(): number;
  /** Called now and then; what it throws ends the call. */
  goOn(): void;
}

/** What a vector more costs the CPU, in scalars, where `cpuBelow` counts them: the doublings between its windows. */
const CPU_VECTOR_COST = 16;

export class Router {
  readonly #isDivided: boolean;
  readonly #threads: CpuThreads;
  /** null until somebody has to know: to ask is a violation where a policy forbids it. */
  #isWasm: boolean | null = null;
  #models: Models | null = null;
  #adapter: AdapterDescription | null = null;

  /** @param isDivided whether every call is divided that can be */
  constructor(isDivided: boolean, workers: WorkerOptions) {
    this.#isDivided = isDivided;
    this.#threads = new CpuThreads(workers);
  }

  destroy(): void {
    this.#threads.destroy();
  }

  /** What vectors are expected to take; null where there is no choice. */
  predict(place: RoutedPlace, loads: readonly Workload[]): Prediction | null {
    const { cpuBelow } = place.tuning;
    const isChosen = place.source === null || (!this.#isDivided && cpuBelow !== undefined && cpuBelow !== null);
    return isChosen ? null : this.#decide(place, loads).predicted;
  }

  async multiply(call: RoutedCall): Promise<Done> {
    const surveyed = call.survey(call.vectors);
    const filled = surveyed.filter(({ load }) => load.n > 0);
    const onCpu = (): Promise<Done> => this.#onCpu(call, surveyed, call.options);
    const onGpu = (): Promise<Done> => call.onGpu(call.vectors, surveyed, call.options, call.clock);
    if (filled.length === 0) return onCpu();
    if (call.source === null) return onGpu();
    const { cpuBelow } = call.tuning;
    if (!this.#isDivided && cpuBelow !== undefined && cpuBelow !== null) {
      const scalars = filled.reduce((sum, { load }) => sum + load.n + CPU_VECTOR_COST, -CPU_VECTOR_COST);
      return scalars <= cpuBelow ? onCpu() : onGpu();
    }
    const loads = filled.map(({ load }) => load);
    let decision = this.#decide(call, loads);
    if (decision.route !== 'gpu' && this.#isWasm === null) {
      this.#isWasm = hasWasm();
      if (!this.#isWasm) {
        this.#models = null;
        decision = this.#decide(call, loads);
      }
    }
    const { workers, works, models, predicted, route } = decision;
    const done = await this.#watched(call, async () => {
      if (route === 'both') return this.#divide(call, models, works, workers);
      return { ...(await (route === 'cpu' ? onCpu() : onGpu())), stretches: [] };
    });
    if (done.ms !== null) {
      const { ms, stretches } = done;
      this.#models =
        route === 'both'
          ? afterDivision(models, stretches, predicted, ms)
          : afterRun(models, { backend: route, work: works[route], ms });
    }
    return { sums: done.sums, record: { ...done.record, predicted } };
  }

  #decide(call: RoutedPlace, loads: readonly Workload[]) {
    // on BigInts the own thread computes alone
    const workers = this.#isWasm === false ? 0 : this.#threads.of(call.tuning).workers;
    const works = worksOf(call, loads, workers);
    const models = this.#modelsOf(call);
    // a software adapter is the same cores once more
    const predicted = predict(models, works, this.#isDivided || !call.adapter.software);
    const isMany = loads.reduce((sum, { n }) => sum + n, 0) > 1;
    const route = this.#isDivided && isMany ? 'both' : routeOf(predicted);
    return { workers, works, models, predicted, route };
  }

  /** What is known of the machine: of another adapter than before, nothing. */
  #modelsOf({ curve, adapter }: RoutedPlace): Models {
    if (this.#models === null || this.#adapter !== adapter) {
      this.#adapter = adapter;
      this.#models = modelsOf(gpuCoefficients(curve, adapter), cpuCoefficients(curve, this.#isWasm !== false));
    }
    return this.#models;
  }

  /** How long something takes; null where something was compiled meanwhile, which will not be the next time. */
  async #watched<Result extends object>(
    { compiled }: RoutedCall,
    compute: () => Promise<Result>,
  ): Promise<Result & { readonly ms: number | null }> {
    const before = compiled();
    const begun = performance.now();
    const result = await compute();
    return { ...result, ms: compiled() === before ? performance.now() - begun : null };
  }

  async #onCpu(call: RoutedCall, surveyed: readonly SurveyedVector[], options: CallOptions): Promise<Done> {
    return runOnCpu({ ...call, threads: this.#threads }, call.source, surveyed, call.n, options, call.clock, call.goOn);
  }

  /** Both at the same time: the GPU draws from the front, the CPU from the back. */
  async #divide(
    call: RoutedCall,
    models: Models,
    works: Works,
    workers: number,
  ): Promise<Done & { readonly stretches: readonly Stretch[] }> {
    const { curve, n, options, clock, vectors } = call;
    const stretches: Stretch[] = [];
    const paces = { front: paceOf(models.gpu, works.gpu, n), back: paceOf(models.cpu, works.cpu, n) };
    const division = new Division(n, paces, cutsOf(vectors, n));
    const sums = vectors.map(() => infinityOf(curve));
    const records: Record<Side, RunRecord[]> = { front: [], back: [] };
    const share = { front: 0, back: 0 };
    let stopped = false;
    const quiet: CallOptions = { ...options, onProgress: undefined };
    const goOn = (): void => {
      call.goOn();
      if (stopped) throw new Error('the other half failed');
    };
    const onCpu = (surveyed: readonly SurveyedVector[]): Promise<Done> =>
      this.#onCpu({ ...call, goOn }, surveyed, quiet);
    const computeSide = async (
      side: Side,
      backend: Backend,
      compute: (own: readonly Factors[], surveyed: readonly SurveyedFactors[]) => Promise<Done>,
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
          for (const [i, { vector }] of parts.entries()) {
            const { x, y, infinity } = done.sums[i] as AffinePoint<Coordinate>;
            sums[vector] = addAffine(curve, sums[vector] as (typeof sums)[number], infinity ? null : { x, y });
          }
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
      computeSide('front', 'gpu', (own, surveyed) => call.onGpu(own, surveyed, quiet, new HostClock())),
      computeSide('back', 'cpu', (_, surveyed) => onCpu(surveyed)),
    ]);
    call.goOn();
    for (const each of settled) if (each.status === 'rejected') throw each.reason;
    return {
      sums: sums.map((sum) => publicPoint(curve, toAffine(curve, sum))),
      stretches,
      record: joined(records, share.front, { n, vectors: vectors.length, wallMs: clock.read().wallMs }),
    };
  }
}

/** @param workers of the CPU, at most */
const worksOf = ({ curve, limits, tuning }: RoutedPlace, loads: readonly Workload[], workers: number): Works => {
  const bound = additionsPerSubmitOf(limits, tuning);
  return { gpu: gpuWork(curve, loads, bound, tuning.windowBits ?? null), cpu: cpuWork(curve, loads, workers) };
};

/** Vectors of less than this share of all scalars are not cut in two. */
const SHORT = 1 / 16;

/** Where scalars, all vectors in a row, may be cut near some place: anywhere in long vectors, and between others. */
const cutsOf = (vectors: readonly Factors[], n: number): ((at: number) => number) => {
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
  vectors: readonly Factors[],
  scalarBytes: number,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly vector: number; readonly factors: Factors }[] => {
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
  { front, back }: Readonly<Record<Side, readonly RunRecord[]>>,
  gpuShare: number,
  own: Pick<RunRecord, 'n' | 'vectors' | 'wallMs'>,
): RunRecord => {
  const all = [...front, ...back];
  const longest = all.reduce((most, each) => (each.entries > most.entries ? each : most));
  const sum = (what: 'entries' | 'dispatches' | 'submits'): number =>
    all.reduce((total, each) => total + each[what], 0);
  const retried = all.flatMap((each) => each.retried ?? []);
  return {
    ...longest,
    ...own,
    on: front.length === 0 ? 'cpu' : back.length === 0 ? 'gpu' : 'both',
    gpuShare,
    arithmetic: back[0]?.arithmetic ?? null,
    workers: back.reduce((most, { workers }) => Math.max(most, workers), 0),
    entries: sum('entries'),
    dispatches: sum('dispatches'),
    submits: sum('submits'),
    walls: null,
    retried: retried.length === 0 ? null : retried.join('; '),
    fallback: front[0]?.fallback ?? null,
    verified: all.every(({ verified }) => verified),
    phases: null,
    timeline: null,
    predicted: null,
  };
};
