/** Sends each call to the backend that is expected to be the fastest, or to both. */
import type { Prediction } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import type { CallContext } from '../../session/call-context.js';
import type { Accelerator, Backend } from '../backend.js';
import type { LoadedBases } from '../inputs/loaded-bases.js';
import type { CpuArithmetic } from '../plan/cost.js';
import { fullWorkload, type Workload } from '../plan/workload.js';
import type { MsmDone, MsmRequest } from '../request.js';
import { DividedCall, type Halves } from './divided-call.js';
import { type Estimate, Estimates, type RoutingFacts } from './estimates.js';
import type { BackendName } from './routing.js';
import { type CapOptions, workerCap } from './worker-cap.js';

/** Scalars of a call, before their survey. */
export type SomeScalars = Pick<MsmRequest, 'bases' | 'vectors' | 'verify'>;

/** Computes calls on its backends. */
export interface Dispatcher {
  multiply(request: MsmRequest, call: CallContext): Promise<MsmDone>;
  /**
   * Returns true if the GPU has the vectors of field engines among these, and multiplies them.
   *
   * @throws MsmError of the test of their conversion
   */
  multipliesThere(request: SomeScalars, call: CallContext): Promise<boolean>;
  /** Predicts the time of vectors by their lengths. Returns null if there is no choice. */
  predict(bases: LoadedBases, lengths: readonly number[]): Prediction | null;
  /**
   * Selects waiting calls worth batching with a call, by the lengths of their vectors. Returns
   * their indices.
   */
  worthCoalescing(bases: LoadedBases, lengths: readonly number[], others: readonly (readonly number[])[]): number[];
}

/** Sends every call to one backend. */
export const onlyBackend = (backend: Backend, cap: CapOptions): Dispatcher => ({
  multiply: (request, call) => {
    const workersAllowed = workerCap(cap, () => false);
    return backend.multiply({ ...request, workersAllowed }, call);
  },
  multipliesThere: async () => false,
  predict: () => null,
  worthCoalescing: () => [],
});

/** The CPU as routers need it. */
export interface CpuRoute extends Backend {
  /** Returns the arithmetic that it computes in. */
  arithmetic(): CpuArithmetic;
}

/** Settings of a router. */
export interface RouterOptions {
  /** True to divide every call that can be divided. */
  readonly dividesAll: boolean;
  readonly cap: CapOptions;
  /** Returns the most workers of the CPU. */
  mostWorkers(): number;
  /** Compiles the kernels for calls of n scalars, in the background. */
  prepare(n: number): void;
}

/** Returns the workloads of the vectors that have any scalar but 0. */
const filledOf = (surveyed: MsmRequest['surveyed']): Workload[] =>
  surveyed.map(({ load }) => load).filter(({ n }) => n > 0);

export class Router implements Dispatcher {
  readonly #curve: CurveContext;
  readonly #gpu: Accelerator;
  readonly #cpu: () => Promise<CpuRoute>;
  readonly #options: RouterOptions;
  readonly #estimates: Estimates;
  /** False before the first call. Until then no calls are coalesced. */
  #hasBegun = false;

  /** @param cpu loads the CPU's code when the CPU computes */
  constructor(curve: CurveContext, gpu: Accelerator, cpu: () => Promise<CpuRoute>, options: RouterOptions) {
    this.#curve = curve;
    this.#gpu = gpu;
    this.#cpu = cpu;
    this.#options = options;
    this.#estimates = new Estimates(curve, options.dividesAll, options.mostWorkers);
  }

  predict(bases: LoadedBases, lengths: readonly number[]): Prediction | null {
    const loads = lengths.map((n) => fullWorkload(n, this.#curve, bases.tables));
    const { isFixed, predicted } = this.#estimates.decide(this.#facts(bases), loads);
    return isFixed ? null : predicted;
  }

  worthCoalescing(bases: LoadedBases, lengths: readonly number[], others: readonly (readonly number[])[]): number[] {
    if (!this.#hasBegun) return [];
    const loadsOf = (some: readonly number[]): Workload[] =>
      some.filter((n) => n > 0).map((n) => fullWorkload(n, this.#curve, bases.tables));
    return this.#estimates.worthCoalescing(this.#facts(bases), loadsOf(lengths), others.map(loadsOf));
  }

  async multipliesThere({ bases, vectors, verify }: SomeScalars, call: CallContext): Promise<boolean> {
    if (!(await this.#gpu.prepareVectors(vectors, verify, call))) return false;
    return this.#estimates.decide(this.#facts(bases), filledOf(this.#gpu.survey(bases, vectors))).route === 'gpu';
  }

  async multiply(given: MsmRequest, call: CallContext): Promise<MsmDone> {
    this.#hasBegun = true;
    const isGpuBusy = (): boolean => this.#gpu.isBusyBeside(call.ticket);
    const request = { ...given, workersAllowed: workerCap(this.#options.cap, isGpuBusy) };
    const { bases } = request;
    const facts = this.#facts(bases);
    const loads = filledOf(request.surveyed);
    const isOnDevice = request.surveyed.some(({ onDevice }) => onDevice !== undefined);
    const isGone = !this.#gpu.isAvailable && bases.source !== null && !isOnDevice;
    if (isGone || loads.length === 0) return (await this.#cpu()).multiply(request, call);
    let estimate = this.#estimates.decide(facts, loads);
    if (estimate.route === 'gpu' || isOnDevice) return this.#onOne('gpu', this.#gpu, request, call, estimate);
    const cpu = await this.#cpu();
    if (!estimate.isFixed && this.#estimates.noteArithmetic(() => cpu.arithmetic())) {
      estimate = this.#estimates.decide(facts, loads);
    }
    return this.#compute({ gpu: this.#gpu, cpu }, request, call, facts, estimate);
  }

  async #compute(
    halves: Halves,
    request: MsmRequest,
    call: CallContext,
    facts: RoutingFacts,
    estimate: Estimate,
  ): Promise<MsmDone> {
    switch (estimate.route) {
      case 'gpu':
        return this.#onOne('gpu', halves.gpu, request, call, estimate);
      case 'both':
        return this.#onBoth(halves, request, call, facts, estimate);
      case 'compile':
        this.#options.prepare(request.n);
        return this.#onOne('cpu', halves.cpu, request, call, estimate);
      case 'cpu':
        return this.#onOne('cpu', halves.cpu, request, call, estimate);
    }
  }

  async #onOne(
    name: BackendName,
    backend: Backend,
    request: MsmRequest,
    call: CallContext,
    estimate: Estimate,
  ): Promise<MsmDone> {
    const compiled = this.#gpu.pipelines.length;
    const done = await backend.multiply(request, call);
    // a call that waited for a compilation predicts nothing
    const isTelling = this.#gpu.pipelines.length === compiled && done.record.on === name;
    if (isTelling) this.#estimates.learn(estimate, name, done.ms);
    const predicted = estimate.isFixed ? null : estimate.predicted;
    return { ...done, record: { ...done.record, predicted } };
  }

  async #onBoth(
    halves: Halves,
    request: MsmRequest,
    call: CallContext,
    facts: RoutingFacts,
    estimate: Estimate,
  ): Promise<MsmDone> {
    const begun = performance.now();
    const compiled = this.#gpu.pipelines.length;
    const divided = new DividedCall(this.#curve, halves, request, call, this.#estimates, facts, estimate);
    const { sums, record, stretches } = await divided.compute();
    const ms = performance.now() - begun;
    const isTelling = this.#gpu.pipelines.length === compiled;
    if (isTelling) this.#estimates.learnDivision(facts, stretches, estimate.predicted, ms);
    const predicted = estimate.isFixed ? null : estimate.predicted;
    return { sums, record: { ...record, predicted }, ms };
  }

  #facts(bases: LoadedBases): RoutingFacts {
    const { adapter, limits, tuning, isReady } = this.#gpu;
    return { adapter, limits, tuning, isReady, isOnGpuOnly: bases.source === null };
  }
}
