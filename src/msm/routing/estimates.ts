/** Estimates the time of a call on each backend, by priors of the machine and by its runs. */
import type { AdapterDescription } from '../../api/device.js';
import type { Prediction } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import {
  type CpuArithmetic,
  cpuCoefficients,
  cpuWork,
  fitted,
  gpuCoefficients,
  gpuWork,
  trustOf,
} from '../plan/cost.js';
import type { PlanLimits } from '../plan/planner.js';
import { additionsPerSubmitOf, type Knobs } from '../plan/tuning.js';
import type { Workload } from '../plan/workload.js';
import {
  afterDivision,
  afterRun,
  type BackendName,
  type Decision,
  decide,
  type ExpectedTime,
  type Models,
  modelsOf,
  predict,
  type Stretch,
  type Works,
  worthCoalescing,
} from './routing.js';

/** Facts about the machine and the bases of a call. */
export interface RoutingFacts {
  readonly adapter: AdapterDescription;
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
  /** True if the GPU has nothing left to compile. */
  readonly isReady: boolean;
  /** True if only the GPU has the bases. */
  readonly isOnGpuOnly: boolean;
  /** True if only the CPU has them, as no buffer of the device holds them. */
  readonly isOnCpuOnly: boolean;
}

/** A decision, with the models and predictions behind it. */
export interface Estimate extends Decision {
  readonly models: Models;
  readonly works: Works;
  readonly predicted: Prediction;
  /** True if there was no choice. */
  readonly isFixed: boolean;
}

/** Cost of one more vector on the CPU, in scalars of `cpuBelow`: the doublings between windows. */
const CPU_VECTOR_COST = 16;

/** Arithmetic that the CPU is expected to have before it is asked: most browsers have it. */
const EXPECTED: CpuArithmetic = 'wasm-fma';

export class Estimates {
  readonly #curve: CurveContext;
  readonly #dividesAll: boolean;
  readonly #mostWorkers: () => number;
  /** null before the CPU was asked: a content security policy reports each question. */
  #arithmetic: CpuArithmetic | null = null;
  #models: Models | null = null;
  #adapter: AdapterDescription | null = null;

  /**
   * @param dividesAll true to divide every call that can be divided
   * @param mostWorkers returns the most workers of the CPU
   */
  constructor(curve: CurveContext, dividesAll: boolean, mostWorkers: () => number) {
    this.#curve = curve;
    this.#dividesAll = dividesAll;
    this.#mostWorkers = mostWorkers;
  }

  /** Notes the arithmetic of the CPU. Returns true if that changes the estimates. */
  noteArithmetic(ask: () => CpuArithmetic): boolean {
    if (this.#arithmetic !== null) return false;
    const arithmetic = ask();
    this.#arithmetic = arithmetic;
    if (arithmetic === EXPECTED) return false;
    const models = this.#models;
    // what the GPU has taught stays, unless it is trusted otherwise
    const prior = cpuCoefficients(this.#curve, arithmetic);
    this.#models = models === null || arithmetic === 'bigint' ? null : { ...models, cpu: { ...models.cpu, prior } };
    return true;
  }

  /** Decides which backend computes. */
  decide(facts: RoutingFacts, loads: readonly Workload[]): Estimate {
    const fixed = this.#fixedRoute(facts, loads);
    const works = this.worksOf(facts, loads, fixed === 'gpu');
    const models = this.#modelsOf(facts);
    // a software adapter runs on the same cores as the CPU
    const predicted = predict(models, works, this.#dividesAll || !facts.adapter.software);
    const isMany = loads.reduce((sum, { n }) => sum + n, 0) > 1;
    const free = (): Decision => {
      if (this.#dividesAll && isMany) return { route: 'both', first: 1 };
      const decision = decide(models, works, predicted, facts.isReady);
      return decision.route === 'both' && !isMany ? { route: 'cpu', first: 1 } : decision;
    };
    const decision: Decision = fixed === null ? free() : { route: fixed, first: 1 };
    return { works, models, predicted, ...decision, isFixed: fixed !== null };
  }

  /** Returns the work of vectors on each backend. */
  worksOf({ limits, tuning }: RoutingFacts, loads: readonly Workload[], isGpuOnly = false): Works {
    const bound = additionsPerSubmitOf(limits, tuning);
    // BigInts are computed on the engine's own thread alone
    const workers = this.#arithmetic === 'bigint' || isGpuOnly ? 0 : this.#mostWorkers();
    return {
      gpu: gpuWork(this.#curve, loads, bound, tuning.windowBits ?? null),
      cpu: cpuWork(this.#curve, loads, workers),
    };
  }

  /** Selects waiting calls worth batching with a call; returns their indices. */
  worthCoalescing(facts: RoutingFacts, loads: readonly Workload[], others: readonly (readonly Workload[])[]): number[] {
    const expected = (each: readonly Workload[]): ExpectedTime => {
      const { models, predicted, route } = this.decide(facts, each);
      // a call worth dividing is not small
      if (route === 'both') return { fixedMs: 0, growingMs: Number.POSITIVE_INFINITY };
      const backend = route === 'gpu' ? 'gpu' : 'cpu';
      const { fixedMs } = fitted(models[backend]);
      return { fixedMs, growingMs: (backend === 'gpu' ? predicted.gpuMs : predicted.cpuMs) - fixedMs };
    };
    const own = expected(loads);
    if (own.growingMs === Number.POSITIVE_INFINITY) return [];
    return worthCoalescing(own, others.map(expected));
  }

  /** Learns from a call that one backend computed, on top of what other calls taught meanwhile. */
  learn({ models, works }: Pick<Estimate, 'models' | 'works'>, backend: BackendName, ms: number): void {
    this.#models = afterRun(this.#models ?? models, { backend, work: works[backend], ms });
  }

  /** Learns from a call that was divided. */
  learnDivision(facts: RoutingFacts, stretches: readonly Stretch[], predicted: Prediction, ms: number): void {
    this.#models = afterDivision(this.#modelsOf(facts), stretches, predicted, ms);
  }

  /** Returns the backend where there is no choice; null where there is. */
  #fixedRoute({ isOnGpuOnly, isOnCpuOnly, tuning }: RoutingFacts, loads: readonly Workload[]): BackendName | null {
    if (isOnCpuOnly) return 'cpu';
    if (isOnGpuOnly) return 'gpu';
    const { cpuBelow } = tuning;
    if (this.#dividesAll || cpuBelow === undefined || cpuBelow === null) return null;
    const scalars = loads.reduce((sum, { n }) => sum + n + CPU_VECTOR_COST, -CPU_VECTOR_COST);
    return scalars <= cpuBelow ? 'cpu' : 'gpu';
  }

  /** Returns the models of the machine. A new adapter starts with its priors. */
  #modelsOf({ adapter }: RoutingFacts): Models {
    if (this.#models === null || this.#adapter !== adapter) {
      this.#adapter = adapter;
      // every call is divided, or the CPU has only BigInts, which are slower than any adapter
      const trust = this.#dividesAll || this.#arithmetic === 'bigint' ? 'known' : trustOf(adapter);
      const cpu = cpuCoefficients(this.#curve, this.#arithmetic ?? EXPECTED);
      this.#models = modelsOf(gpuCoefficients(this.#curve, adapter), cpu, trust);
    }
    return this.#models;
  }
}
