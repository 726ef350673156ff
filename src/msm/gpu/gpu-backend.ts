/** The GPU backend: runs multiplications and loads as operations of a session. */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../../api/device.js';
import type { RunRecord } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import { MsmError, NoAnswerError } from '../../errors.js';
import { compileTimes } from '../../gpu/device.js';
import type { Runner } from '../../gpu/runner.js';
import type { Call } from '../../scheduling/call.js';
import type { Ticket } from '../../scheduling/edf.js';
import type { DeviceTester } from '../../session/operation.js';
import type { Session } from '../../session/session.js';
import { kernelsOf } from '../../shaders/kernel.js';
import type { Accelerator, Backend, Footprint, LoadRequest, MsmDone, MsmRequest, Sums } from '../backend.js';
import { LoadedBases } from '../inputs/loaded-bases.js';
import {
  hasZerosAlone,
  type ScalarStore,
  type ScalarVector,
  type SurveyedScalars,
  surveyScalars,
} from '../inputs/scalars.js';
import { joinedRecord } from '../joined-record.js';
import type { PlanLimits } from '../plan/planner.js';
import { type Job, schedule } from '../plan/schedule.js';
import type { Knobs } from '../plan/tuning.js';
import { fullWorkload, NO_TABLES, type Workload } from '../plan/workload.js';
import { PartialSums } from '../stages/combine-windows.js';
import { limitsOf, type MsmSetup, roomOf } from './gpu-setup.js';
import { loadOperation, SessionBasesLoader } from './load-operation.js';
import { gpuRecord, knownMsm, MsmOperation, planOf, type Surveyor } from './msm-operation.js';
import { lengthsByPage, type PointRange, pageLength, partsByPage, rangesOf } from './pages.js';
import { recordJob } from './record-job.js';
import { otherwise } from './verify-sums.js';

/** Scalars of the largest warm-up: more need no other kernels. */
const LARGEST_WARMUP = 2 ** 16;

/** Settings of the backend. */
interface GpuBackendOptions {
  /** True to keep the points of bases in main memory. */
  readonly retainBases: boolean;
  /** Probability that a result is verified. */
  readonly verify: number;
  /** Returns the backend that takes over when the GPU stops answering; null: none does. */
  readonly alternative: (() => Promise<Backend>) | null;
}

export class GpuBackend implements Accelerator, Surveyor {
  readonly kind = 'gpu';
  readonly #session: Session<MsmSetup>;
  readonly #curve: CurveContext;
  readonly #options: GpuBackendOptions;
  readonly #loader: SessionBasesLoader;
  /** Operation for bases that only the GPU has. */
  readonly #msm: MsmOperation;
  /** Operation for bases that the CPU has as well. */
  readonly #msmOrCpu: MsmOperation;
  /** Scalars that were placed on the device of this engine. */
  readonly #placed = new WeakSet<ScalarStore>();
  /** The runner whose kernels are compiled and tested. */
  #ready: Runner | null = null;

  constructor(session: Session<MsmSetup>, curve: CurveContext, options: GpuBackendOptions) {
    this.#session = session;
    this.#curve = curve;
    this.#options = options;
    this.#loader = new SessionBasesLoader(() => session.view());
    const { alternative } = options;
    this.#msm = new MsmOperation(curve, this, this.#loader);
    this.#msmOrCpu =
      alternative === null
        ? this.#msm
        : new MsmOperation(curve, this, this.#loader, async (request, call) =>
            (await alternative()).multiply(request, call),
          );
  }

  get adapter(): AdapterDescription {
    return this.#session.adapter;
  }

  get memory(): MemoryUse {
    const [bases, scalars, scratch] = ['bases', 'scalars', 'scratch'].map((account) =>
      this.#session.bytesOf(account),
    ) as [number, number, number];
    return { bases, scalars, scratch, peak: this.#session.peak };
  }

  get pipelines(): readonly CompileTime[] {
    return compileTimes(this.#session.device);
  }

  get frees(): number {
    return this.#session.frees;
  }

  get selfTest(): SelfTest | null {
    const report = this.#session.testReport;
    if (report === null) return null;
    const { passed, failed, ms } = report;
    return { product: passed as SelfTest['product'], failed, ms };
  }

  get limits(): PlanLimits {
    return limitsOf(this.#session.view());
  }

  get tuning(): Knobs {
    return this.#session.setup.tuning;
  }

  get isAvailable(): boolean {
    return !this.#session.isAbandoned;
  }

  get isReady(): boolean {
    return this.#ready === this.#session.runner;
  }

  isBusyBeside(own: Ticket | undefined): boolean {
    return this.#session.runner.isBusyBeside(own);
  }

  assertUsable(): void {
    this.#session.assertUsable();
  }

  async load(request: LoadRequest, call: Call): Promise<LoadedBases> {
    const { source, tables } = request;
    const { pointBytes } = this.#curve;
    const length = source.bytes.length / pointBytes;
    const most = pageLength(tables.count * pointBytes, this.#largestBuffer);
    if (length <= most) return this.#loadPage(request, null, call);
    const { alternative } = this.#options;
    try {
      const loaded = await this.#loadPages(request, rangesOf(length, most), call);
      if (loaded !== null) return loaded;
    } catch (error) {
      const isTooMuch = error instanceof MsmError && error.code === 'out-of-memory';
      if (alternative === null || !isTooMuch) throw error;
    }
    const cpu = await (alternative as NonNullable<typeof alternative>)();
    return cpu.load({ ...request, tables: NO_TABLES }, call);
  }

  /** Loads bases page by page. Returns null if the GPU stopped answering, and the CPU is to keep them. */
  async #loadPages(request: LoadRequest, ranges: readonly PointRange[], call: Call): Promise<LoadedBases | null> {
    const { source, tables, label } = request;
    const { pointBytes } = this.#curve;
    const length = source.bytes.length / pointBytes;
    const pages: LoadedBases[] = [];
    let areOnGpu = false;
    try {
      for (const { first, count } of ranges) {
        const bytes = source.bytes.subarray(first * pointBytes, (first + count) * pointBytes);
        const own = { ...request, source: { ...source, bytes } };
        const page = await this.#loadPage(own, first, call.part(first, count, length));
        pages.push(page);
        // the GPU stopped answering
        if (page.byteLength === 0) return null;
      }
      areOnGpu = true;
    } finally {
      if (!areOnGpu) for (const page of pages) page.destroy();
    }
    const kept = this.#options.retainBases ? source : null;
    return new LoadedBases({ length, label, tables, source: kept, loader: this.#loader, pages });
  }

  /**
   * Loads bases to one buffer.
   *
   * @param page index of its first point among the points of the caller; null: it has all of them. Where
   *   the GPU stops answering, the CPU checks all points at once, and none of a page.
   */
  async #loadPage(request: LoadRequest, page: number | null, call: Call): Promise<LoadedBases> {
    const { source, tables, label, checkSubgroup } = request;
    const { retainBases, alternative } = this.#options;
    const length = source.bytes.length / this.#curve.pointBytes;
    const testFirst = async (device: DeviceTester<MsmSetup>, _: unknown, own: Call): Promise<void> => {
      await device.test(this.#msm, (setup) => this.#known(setup, tables.count > 1), own);
    };
    const onCpu = async (_: unknown, own: Call) => {
      if (page !== null) return { onDevice: null, checked: source };
      const cpu = await (alternative as NonNullable<typeof alternative>)();
      return { onDevice: null, checked: (await cpu.load(request, own)).source };
    };
    const operation = {
      ...loadOperation,
      // Neither bases without a copy nor a test of their group can be repeated when the self-test
      // refuses the field product that did them.
      ...((!retainBases || checkSubgroup) && { testFirst }),
      ...(alternative !== null && { onCpu }),
    };
    const { result, report } = await this.#session.execute(operation, { ...request, firstPoint: page ?? 0 }, call);
    const kept = result.checked ?? (retainBases ? source : null);
    const bases = new LoadedBases({ length, label, tables, source: kept, loader: this.#loader });
    if (report !== null && result.onDevice !== null) bases.moveTo(report.runner, result.onDevice);
    return bases;
  }

  async place(store: ScalarStore, call: Call): Promise<void> {
    if (this.#session.isAbandoned) return;
    this.#placed.add(store);
    // scalars too long for one buffer are uploaded in chunks by each call
    if (store.bytes.length > this.#largestBuffer) return;
    try {
      await this.#session.place((runner) => store.bring(runner, call), call);
    } catch (error) {
      // placing only saves time: the CPU has the scalars, and each call can upload them
      if (this.#options.alternative === null || !(error instanceof NoAnswerError)) throw error;
    }
  }

  /**
   * Looks at scalars, to plan by them. Zero scalars are left out where all bases fit one binding,
   * because the others then may use bases that are far apart. Vectors of zeros alone are left out
   * over pages, too.
   */
  survey(bases: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[] {
    const picks = this.picks(bases);
    const isLeftOut = (vector: ScalarVector): boolean => bases.pages.length > 0 && hasZerosAlone(vector);
    return vectors.map((vector) => surveyScalars(this.#curve, vector, bases.tables, picks || isLeftOut(vector)));
  }

  /** Returns true if zero scalars are left out of calls over these bases. */
  picks(bases: LoadedBases): boolean {
    const { maxStorageBufferBindingSize } = this.#session.device.limits;
    const { instrument } = this.#session.setup.tuning;
    // an instrument expects consecutive bases
    return instrument === undefined && bases.pages.length === 0 && bases.byteLength <= maxStorageBufferBindingSize;
  }

  async prepareVectors({ bases, vectors, verify = this.#options.verify }: Sums, call: Call): Promise<boolean> {
    // the CPU computes scalars of a check; an instrument reads all scalars
    if (verify > 0 || this.tuning.instrument !== undefined) return false;
    // a vector is converted for one buffer of bases
    if (bases.pages.length > 0) return false;
    const computed = vectors.flatMap((vector) => vector.computed ?? []);
    const areHere = (): boolean =>
      computed.every(({ onDevice }) => onDevice?.isOn(this.#session.device) === true) && !this.#session.isAbandoned;
    if (!areHere()) return false;
    for (const { onDevice } of computed) await onDevice?.prepare(call);
    return areHere();
  }

  multiply(request: MsmRequest, call: Call): Promise<MsmDone> {
    return request.bases.pages.length === 0 ? this.#multiplyPage(request, call) : this.#multiplyPages(request, call);
  }

  /** Adds up the sums over the pages of bases. */
  async #multiplyPages(request: MsmRequest, call: Call): Promise<MsmDone> {
    const { bases, vectors, n, verify = this.#options.verify } = request;
    const sums = new PartialSums(this.#curve, vectors.length);
    const records: RunRecord[] = [];
    // all pages are verified, or none is
    const drawn = Math.random() < verify ? 1 : 0;
    let [ms, done] = [0, 0];
    for (const { page, parts } of partsByPage(bases, vectors, this.#curve.scalarBytes)) {
      const own = parts.map(({ scalars }) => scalars);
      const count = own.reduce((sum, each) => sum + each.n, 0);
      const surveyed = this.survey(page, own);
      const context = call.part(done, count, n);
      done += count;
      if (surveyed.every(({ load }) => load.n === 0)) {
        call.progress('msm', done, n);
        continue;
      }
      const over = { ...request, bases: page, vectors: own, n: count, surveyed, verify: drawn };
      const part = await this.#multiplyPage(over, context);
      sums.add(parts, part.sums);
      records.push(part.record);
      ms += part.ms;
    }
    const { wallMs } = call.clock.read();
    const joined = joinedRecord(records, { vectors: vectors.length, wallMs });
    // pages of zeros alone have no record
    const record = joined.on === 'both' ? joined : { ...joined, n };
    return { sums: sums.points(), record, ms };
  }

  /** Computes sums over bases in one buffer. */
  async #multiplyPage(request: MsmRequest, call: Call): Promise<MsmDone> {
    const { bases, vectors, verify = this.#options.verify } = request;
    const placed = vectors.flatMap(({ loaded }) => {
      const isHere = loaded !== null && this.#placed.has(loaded.store);
      return isHere && !loaded.store.isDestroyed && loaded.store.bytes.length <= this.#largestBuffer
        ? loaded.store
        : [];
    });
    const isOnGpuOnly = bases.source === null || vectors.some(({ computed }) => computed !== undefined);
    const operation = isOnGpuOnly ? this.#msm : this.#msmOrCpu;
    const surveyed = { vectors: request.surveyed, picks: this.picks(bases) };
    const input = { bases, vectors, verify, placed, knobs: null, request, surveyed };
    const spent = (): number => Object.values(call.clock.read().hostTimes).reduce((sum, ms) => sum + ms, 0);
    const before = spent();
    const { result, report, retried } = await this.#session.execute(operation, input, call);
    const { sums, gpu, cpu } = result;
    if (cpu !== null) {
      return { ...cpu, record: { ...cpu.record, retried: cpu.record.retried ?? retried } };
    }
    const fallback = this.#session.testReport?.failed ?? null;
    const facts = { retried, fallback, adapter: this.adapter };
    const record = gpuRecord(
      request,
      gpu as NonNullable<typeof gpu>,
      report as NonNullable<typeof report>,
      call,
      facts,
    );
    this.#ready = this.#session.runner;
    return { sums, record, ms: spent() - before };
  }

  footprint(bases: LoadedBases, lengths: readonly number[]): Footprint {
    if (bases.isOnCpuOnly) return { bytes: 0, submits: 0 };
    if (bases.pages.length > 0) {
      const pages = lengthsByPage(bases, lengths).map((each) => this.footprint(each.page, each.parts));
      return {
        bytes: pages.reduce((most, { bytes }) => Math.max(most, bytes), 0),
        submits: pages.reduce((sum, { submits }) => sum + submits, 0),
      };
    }
    const loadOf = (n: number) => fullWorkload(n, this.#curve, bases.tables);
    const jobs = this.#scheduled(lengths.map(loadOf));
    let most = jobs;
    if (this.#options.verify > 0) {
      // all vectors begin with the same base, so no vector of a check is longer than the longest
      const longest = loadOf(Math.max(...lengths));
      most = [...jobs, ...otherwise(planOf(jobs), (knobs) => this.#scheduled([longest], knobs))];
    }
    return {
      bytes: most.reduce((peak, { peakBytes }) => Math.max(peak, peakBytes), 0),
      submits: jobs.reduce((sum, { submits }) => sum + submits, 0),
    };
  }

  async warmUp(n: number, call: Call): Promise<void> {
    if (this.#session.isAbandoned) return;
    const load = fullWorkload(Math.min(n, LARGEST_WARMUP), this.#curve);
    this.#ready = await this.#session.warmUp(
      ({ setup: { kernels, horner } }) => {
        void horner.prepare();
        const commands = this.#scheduled([load]).flatMap((job) => recordJob(kernels, job, () => ({ buffer: 'bases' })));
        return [kernels.digest(), kernels.importPoints(), ...kernelsOf(commands)];
      },
      this.#msm,
      (setup) => this.#known(setup, false),
      call,
    );
    await this.#session.setup.horner.prepare();
  }

  async trim(): Promise<void> {
    await this.#session.trim();
  }

  destroy(): void {
    this.#session.destroy();
  }

  /** Size of the largest buffer of the device, in bytes. */
  get #largestBuffer(): number {
    return this.#session.device.limits.maxBufferSize;
  }

  #known(setup: MsmSetup, hasTables: boolean) {
    return knownMsm(setup, hasTables, this.#loader);
  }

  /** Returns the jobs of workloads for the current device and its free memory. */
  #scheduled(loads: readonly Workload[], knobs: Knobs = {}): Job[] {
    const vectors = loads.map((load) => ({ load, offset: 0, indices: null }));
    return schedule(vectors, this.#curve, roomOf(this.#session.view()), { ...this.tuning, ...knobs });
  }
}
