/**
 * Computes a call on both backends at once: the GPU draws from the front, the CPU from the back.
 */
import type { RunRecord } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import type { CallContext } from '../../session/call-context.js';
import type { Backend } from '../backend.js';
import type { MsmDone, MsmRequest } from '../request.js';
import { Division, type Drawn, type Half } from './division.js';
import type { Estimate, Estimates, RoutingFacts } from './estimates.js';
import { joinedRecord } from './joined-record.js';
import { cutsOf, PartialSums, partsOf } from './ranges.js';
import { type BackendName, pacesOf, type Stretch } from './routing.js';

/** The two backends. The GPU has the front half. */
export interface Halves {
  readonly gpu: Backend;
  readonly cpu: Backend;
}

/** The outcome of a divided call, with its measured draws. */
export interface Divided extends Omit<MsmDone, 'ms'> {
  readonly stretches: readonly Stretch[];
}

const BACKEND_OF: Readonly<Record<Half, BackendName>> = { front: 'gpu', back: 'cpu' };

export class DividedCall {
  readonly #curve: CurveContext;
  readonly #halves: Halves;
  readonly #request: MsmRequest;
  readonly #call: CallContext;
  readonly #estimates: Estimates;
  readonly #facts: RoutingFacts;
  readonly #division: Division;
  readonly #sums: PartialSums;
  readonly #records: Record<Half, RunRecord[]> = { front: [], back: [] };
  readonly #stretches: Stretch[] = [];
  readonly #half: CallContext;
  #done = 0;
  #onGpu = 0;
  #isStopped = false;

  constructor(
    curve: CurveContext,
    halves: Halves,
    request: MsmRequest,
    call: CallContext,
    estimates: Estimates,
    facts: RoutingFacts,
    { models, works, first }: Estimate,
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
    const record = joinedRecord(this.#records, this.#onGpu / n, { n, vectors: vectors.length, wallMs });
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
    const { bases, vectors, n } = this.#request;
    const parts = partsOf(vectors, this.#curve.scalarBytes, drawn);
    const own = parts.map(({ scalars }) => scalars);
    const surveyed = gpu.survey(bases, own);
    const loads = surveyed.map(({ load }) => load).filter((load) => load.n > 0);
    // sums of zeros alone are computed on the CPU
    const backend = half === 'back' || loads.length === 0 ? cpu : gpu;
    const context = backend === gpu ? this.#call.half() : this.#half.half();
    const before = gpu.pipelines.length;
    const done = await backend.multiply({ ...this.#request, vectors: own, surveyed }, context);
    this.#division.done(half, performance.now());
    // a draw that waited for a compilation predicts nothing
    const isTelling = loads.length > 0 && gpu.pipelines.length === before;
    if (isTelling && done.record.on === BACKEND_OF[half]) {
      const name = BACKEND_OF[half];
      const work = this.#estimates.worksOf(this.#facts, loads)[name];
      this.#stretches.push({ backend: name, work, ms: done.ms });
    }
    this.#sums.add(parts, done.sums);
    this.#records[half].push(done.record);
    const amount = drawn.to - drawn.from;
    this.#done += amount;
    if (done.record.on === 'gpu') this.#onGpu += amount;
    this.#call.progress('msm', this.#done, n);
  }
}
