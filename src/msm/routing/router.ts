/** Sends each call to the backend that is expected to be the fastest, or to both. */
import type { Prediction, RunRecord } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import type { Call } from '../../scheduling/call.js';
import type { Accelerator, Backend, MsmDone, MsmRequest, Sums } from '../backend.js';
import type { LoadedBases } from '../inputs/loaded-bases.js';
import { hasComputed, inMainMemory } from '../inputs/scalars.js';
import { joinedRecord } from '../joined-record.js';
import type { CpuArithmetic } from '../plan/cost.js';
import { fullWorkload, type Workload } from '../plan/workload.js';
import { PartialSums } from '../stages/combine-windows.js';
import { cutsOf, Division, type Drawn, type Half, partsOf } from './division.js';
import { type Estimate, Estimates, type RoutingFacts } from './estimates.js';
import { type BackendName, type CapOptions, pacesOf, type Stretch, workerCap } from './routing.js';

/** The sums of a call, which one backend computed or both. */
interface Dispatched extends Pick<MsmDone, 'sums'> {
  readonly record: RunRecord;
}

/** Computes calls on its backends. */
export interface Dispatcher {
  /** Computes sums. Vectors of field engines are multiplied where they are, or read back first. */
  multiply(sums: Sums, call: Call): Promise<Dispatched>;
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
  multiply: (sums, call) =>
    inMainMemory(sums.vectors, call, (vectors) => {
      const surveyed = backend.survey(sums.bases, vectors);
      const workersAllowed = workerCap(cap, () => false);
      return backend.multiply({ ...sums, vectors, surveyed, workersAllowed }, call);
    }),
  predict: () => null,
  worthCoalescing: () => [],
});

/** The CPU as routers need it. */
interface CpuRoute extends Backend {
  /** Returns the arithmetic that it computes in. */
  arithmetic(): CpuArithmetic;
}

/** Settings of a router. */
interface RouterOptions {
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

  async multiply(sums: Sums, call: Call): Promise<Dispatched> {
    const isInPlace = !hasComputed(sums.vectors) || (await this.#multipliesThere(sums, call));
    if (isInPlace) return this.#route(sums, call);
    return inMainMemory(sums.vectors, call, (vectors) => this.#route({ ...sums, vectors }, call));
  }

  /** Returns true if the GPU has the vectors of field engines among these, and is to multiply them. */
  async #multipliesThere(sums: Sums, call: Call): Promise<boolean> {
    if (!(await this.#gpu.prepareVectors(sums, call))) return false;
    const surveyed = this.#gpu.survey(sums.bases, sums.vectors);
    return this.#estimates.decide(this.#facts(sums.bases), filledOf(surveyed)).route === 'gpu';
  }

  /** Computes sums whose vectors are where a backend reads them. */
  async #route(sums: Sums, call: Call): Promise<Dispatched> {
    const { bases, vectors } = sums;
    bases.assertAlive();
    this.#hasBegun = true;
    const isGpuBusy = (): boolean => this.#gpu.isBusyBeside(call);
    const surveyed = this.#gpu.survey(bases, vectors);
    const request = { ...sums, surveyed, workersAllowed: workerCap(this.#options.cap, isGpuBusy) };
    const facts = this.#facts(bases);
    const loads = filledOf(request.surveyed);
    const isOnDevice = request.surveyed.some(({ onDevice }) => onDevice !== undefined);
    const isGone = !this.#gpu.isAvailable && bases.source !== null && !isOnDevice;
    if (isGone || loads.length === 0) return (await this.#cpu()).multiply(request, call);
    let estimate = this.#estimates.decide(facts, loads);
    if (estimate.route === 'gpu' || isOnDevice) return this.#onOne(this.#gpu, request, call, estimate);
    const cpu = await this.#cpu();
    if (!estimate.isFixed && this.#estimates.noteArithmetic(() => cpu.arithmetic())) {
      estimate = this.#estimates.decide(facts, loads);
    }
    return this.#compute({ gpu: this.#gpu, cpu }, request, call, facts, estimate);
  }

  async #compute(
    halves: Halves,
    request: MsmRequest,
    call: Call,
    facts: RoutingFacts,
    estimate: Estimate,
  ): Promise<Dispatched> {
    switch (estimate.route) {
      case 'gpu':
        return this.#onOne(halves.gpu, request, call, estimate);
      case 'both':
        return this.#onBoth(halves, request, call, facts, estimate);
      case 'compile':
        this.#options.prepare(request.n);
        return this.#onOne(halves.cpu, request, call, estimate);
      case 'cpu':
        return this.#onOne(halves.cpu, request, call, estimate);
    }
  }

  async #onOne(backend: Backend, request: MsmRequest, call: Call, estimate: Estimate): Promise<Dispatched> {
    const compiled = this.#gpu.pipelines.length;
    const done = await backend.multiply(request, call);
    // a call that waited for a compilation predicts nothing
    const isTelling = this.#gpu.pipelines.length === compiled && done.record.on === backend.kind;
    if (isTelling) this.#estimates.learn(estimate, backend.kind, done.ms);
    const predicted = estimate.isFixed ? null : estimate.predicted;
    return { sums: done.sums, record: { ...done.record, predicted } };
  }

  async #onBoth(
    halves: Halves,
    request: MsmRequest,
    call: Call,
    facts: RoutingFacts,
    estimate: Estimate,
  ): Promise<Dispatched> {
    const begun = performance.now();
    const compiled = this.#gpu.pipelines.length;
    const divided = new DividedCall(this.#curve, halves, request, call, {
      estimates: this.#estimates,
      facts,
      estimate,
    });
    const { sums, record, stretches } = await divided.compute();
    const ms = performance.now() - begun;
    const isTelling = this.#gpu.pipelines.length === compiled;
    if (isTelling) this.#estimates.learnDivision(facts, stretches, estimate.predicted, ms);
    const predicted = estimate.isFixed ? null : estimate.predicted;
    return { sums, record: { ...record, predicted } };
  }

  #facts(bases: LoadedBases): RoutingFacts {
    const { adapter, limits, tuning, isReady } = this.#gpu;
    return { adapter, limits, tuning, isReady, isOnGpuOnly: bases.source === null, isOnCpuOnly: bases.isOnCpuOnly };
  }
}

/*
 * Computes a call on both backends at once: the GPU draws from the front, the CPU from the back.
 */

/** The two backends. The GPU has the front half. */
interface Halves {
  readonly gpu: Backend;
  readonly cpu: Backend;
}

/** The outcome of a divided call, with its measured draws. */
interface Divided extends Dispatched {
  readonly stretches: readonly Stretch[];
}

const BACKEND_OF: Readonly<Record<Half, BackendName>> = { front: 'gpu', back: 'cpu' };

/** Expected times of a call, and what corrects them. */
interface Expected {
  readonly estimates: Estimates;
  readonly facts: RoutingFacts;
  readonly estimate: Estimate;
}

class DividedCall {
  readonly #curve: CurveContext;
  readonly #halves: Halves;
  readonly #request: MsmRequest;
  readonly #call: Call;
  readonly #estimates: Estimates;
  readonly #facts: RoutingFacts;
  readonly #division: Division;
  readonly #sums: PartialSums;
  readonly #records: RunRecord[] = [];
  readonly #stretches: Stretch[] = [];
  readonly #half: Call;
  #done = 0;
  #isStopped = false;

  constructor(
    curve: CurveContext,
    halves: Halves,
    request: MsmRequest,
    call: Call,
    { estimates, facts, estimate: { models, works, first } }: Expected,
  ) {
    this.#curve = curve;
    this.#halves = halves;
    this.#request = request;
    this.#call = call;
    this.#estimates = estimates;
    this.#facts = facts;
    const { vectors, n } = request;
    this.#division = new Division(n, pacesOf(models, works, n, first), cutsOf(vectors, n), first);
    this.#sums = new PartialSums(curve, vectors.length);
    this.#half = call.alsoEndedBy(() => {
      if (this.#isStopped) throw new Error('the other half failed');
    });
  }

  async compute(): Promise<Divided> {
    const { n, vectors } = this.#request;
    this.#call.progress('msm', 0, n);
    const settled = await Promise.allSettled([this.#computeHalf('front'), this.#computeHalf('back')]);
    this.#call.checkpoint();
    for (const each of settled) if (each.status === 'rejected') throw each.reason;
    const { wallMs } = this.#call.clock.read();
    const record = joinedRecord(this.#records, { vectors: vectors.length, wallMs });
    return { sums: this.#sums.points(), record, stretches: this.#stretches };
  }

  async #computeHalf(half: Half): Promise<void> {
    try {
      for (;;) {
        const drawn = this.#isStopped ? null : this.#division.draw(half, performance.now());
        if (drawn === null) return;
        await this.#computeDrawn(half, drawn);
      }
    } catch (error) {
      this.#isStopped = true;
      throw error;
    }
  }

  async #computeDrawn(half: Half, drawn: Drawn): Promise<void> {
    const { gpu, cpu } = this.#halves;
    const { bases, vectors } = this.#request;
    const parts = partsOf(vectors, this.#curve.scalarBytes, drawn);
    const own = parts.map(({ scalars }) => scalars);
    const surveyed = gpu.survey(bases, own);
    const loads = filledOf(surveyed);
    // sums of zeros alone are computed on the CPU
    const backend = half === 'back' || loads.length === 0 ? cpu : gpu;
    const context = backend === gpu ? this.#call.half() : this.#half.half();
    const before = gpu.pipelines.length;
    const amount = drawn.to - drawn.from;
    const done = await backend.multiply({ ...this.#request, vectors: own, surveyed, n: amount }, context);
    this.#division.done(half, performance.now());
    // a draw that waited for a compilation predicts nothing
    const isTelling = loads.length > 0 && gpu.pipelines.length === before;
    if (isTelling && done.record.on === BACKEND_OF[half]) {
      const name = BACKEND_OF[half];
      const work = this.#estimates.worksOf(this.#facts, loads)[name];
      this.#stretches.push({ backend: name, work, ms: done.ms });
    }
    this.#sums.add(parts, done.sums);
    this.#records.push(done.record);
    this.#done += amount;
    this.#call.progress('msm', this.#done, this.#request.n);
  }
}
