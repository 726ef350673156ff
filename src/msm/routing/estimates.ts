/** Estimates of what a call takes on either backend: priors of the machine, and what its runs taught. */
import type { AdapterDescription } from '../../api/device.js';
import type { Prediction } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import { cpuCoefficients, fitted, gpuCoefficients, trustOf } from '../plan/cost.js';
import { additionsPerSubmitOf } from '../plan/device-defaults.js';
import type { PlanLimits } from '../plan/planner.js';
import type { Knobs } from '../plan/tuning.js';
import { cpuWork, gpuWork } from '../plan/work.js';
import type { Workload } from '../plan/workload.js';
import { type ExpectedTime, worthMerging } from './merging.js';
import {
  afterDivision,
  afterRun,
  afterTrial,
  type BackendName,
  type Decision,
  decide,
  type Models,
  modelsOf,
  predict,
  type Stretch,
  type Works,
} from './routing.js';

/** Facts of the place where a call is to be computed. */
export interface RoutingFacts {
  readonly adapter: AdapterDescription;
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
  /** True when the GPU has nothing left to compile. */
  readonly isReady: boolean;
  /** True where only the GPU has the bases. */
  readonly isOnGpuOnly: boolean;
}

/** A decision, and what it was made by. */
export interface Estimate extends Decision {
  readonly models: Models;
  readonly works: Works;
  readonly predicted: Prediction;
  /** True where there was no choice. */
  readonly isFixed: boolean;
}

/** Cost of one more vector on the CPU, in scalars, where `cpuBelow` counts them: the doublings between its windows. */
const CPU_VECTOR_COST = 16;

export class Estimates {
  readonly #curve: CurveContext;
  readonly #dividesAll: boolean;
  readonly #mostWorkers: () => number;
  /** null before it was asked: asking is a violation where a content security policy forbids it. */
  #isWasm: boolean | null = null;
  #models: Models | null = null;
  #adapter: AdapterDescription | null = null;

  /**
   * @param dividesAll true to divide every call that can be divided
   * @param mostWorkers returns how many workers the CPU has at most
   */
  constructor(curve: CurveContext, dividesAll: boolean, mostWorkers: () => number) {
    this.#curve = curve;
    this.#dividesAll = dividesAll;
    this.#mostWorkers = mostWorkers;
  }

  /** Notes whether the CPU has WebAssembly; returns true if that changes the estimates. */
  noteWasm(ask: () => boolean): boolean {
    if (this.#isWasm !== null) return false;
    this.#isWasm = ask();
    if (!this.#isWasm) this.#models = null;
    return !this.#isWasm;
  }

  /** Decides which backend computes. */
  decide(facts: RoutingFacts, loads: readonly Workload[]): Estimate {
    const fixed = this.#fixedRoute(facts, loads);
    const works = this.worksOf(facts, loads, fixed === 'gpu');
    const models = this.#modelsOf(facts);
    // a software adapter is the same cores once more
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

  /** Returns what vectors are on either backend. */
  worksOf({ limits, tuning }: RoutingFacts, loads: readonly Workload[], isGpuOnly = false): Works {
    const bound = additionsPerSubmitOf(limits, tuning);
    // on BigInts the own thread computes alone
    const workers = this.#isWasm === false || isGpuOnly ? 0 : this.#mostWorkers();
    return {
      gpu: gpuWork(this.#curve, loads, bound, tuning.windowBits ?? null),
      cpu: cpuWork(this.#curve, loads, workers),
    };
  }

  /** Selects waiting calls worth batching with one's own; returns their indices. */
  worthCoalescing(facts: RoutingFacts, loads: readonly Workload[], others: readonly (readonly Workload[])[]): number[] {
    const expected = (each: readonly Workload[]): ExpectedTime => {
      const { models, predicted, route } = this.decide(facts, each);
      // a call that is divided is not small
      if (route === 'both') return { fixedMs: 0, growingMs: Number.POSITIVE_INFINITY };
      const backend = route === 'gpu' ? 'gpu' : 'cpu';
      const { fixedMs } = fitted(models[backend]);
      return { fixedMs, growingMs: (backend === 'gpu' ? predicted.gpuMs : predicted.cpuMs) - fixedMs };
    };
    const own = expected(loads);
    if (own.growingMs === Number.POSITIVE_INFINITY) return [];
    return worthMerging(own, others.map(expected));
  }

  /** Learns from a call that one backend computed. Other calls may have taught something meanwhile. */
  learn({ models, works }: Pick<Estimate, 'models' | 'works'>, backend: BackendName, ms: number): void {
    this.#models = afterRun(this.#models ?? models, { backend, work: works[backend], ms });
  }

  /** Learns from a trial of the GPU. @param ms infinite where it failed, and no other is to be made */
  learnTrial({ models }: Pick<Estimate, 'models'>, work: Works['gpu'] | null, ms: number): void {
    this.#models = afterTrial(this.#models ?? models, work, ms);
  }

  /** Learns from a call that was divided. */
  learnDivision(facts: RoutingFacts, stretches: readonly Stretch[], predicted: Prediction, ms: number): void {
    this.#models = afterDivision(this.#modelsOf(facts), stretches, predicted, ms);
  }

  /** Returns the backend where there is no choice; null where there is. */
  #fixedRoute({ isOnGpuOnly, tuning }: RoutingFacts, loads: readonly Workload[]): BackendName | null {
    if (isOnGpuOnly) return 'gpu';
    const { cpuBelow } = tuning;
    if (this.#dividesAll || cpuBelow === undefined || cpuBelow === null) return null;
    const scalars = loads.reduce((sum, { n }) => sum + n + CPU_VECTOR_COST, -CPU_VECTOR_COST);
    return scalars <= cpuBelow ? 'cpu' : 'gpu';
  }

  /** Returns what is known of the machine; of a new adapter nothing is. */
  #modelsOf({ adapter }: RoutingFacts): Models {
    if (this.#models === null || this.#adapter !== adapter) {
      this.#adapter = adapter;
      // an engine that divides every call tries nothing, and BigInts are slower than any GPU is expected to be
      const trust = this.#dividesAll || this.#isWasm === false ? 'known' : trustOf(adapter);
      const cpu = cpuCoefficients(this.#curve, this.#isWasm !== false);
      this.#models = modelsOf(gpuCoefficients(this.#curve, adapter), cpu, trust);
    }
    return this.#models;
  }
}
