/**
 * Times MSMs: the loop over sizes, settings and repetitions that all modes that time whole MSMs
 * share, beside the roofline, their additions at the measured rate of the library's product alone.
 */
import { median } from '../../src/calibrate/statistics.js';
import type { FieldProduct } from '../../src/field/modulus.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import { type MsmCase, makeCase, redrawn } from '../cases/msm-case.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import { openMeter, type ProductMeter } from '../field-bench/rig.js';
import { oracles } from '../oracle/curves.js';
import { type Peer, type PeerName, peerNames, peers } from '../peers/peers.js';
import type { Bench, GpuBench } from './bench-setup.js';
import type { Knobs } from './knob.js';
import {
  type EngineUnderTest,
  gpuPartOf,
  interleave,
  makeEngine,
  raiseClock,
  timesOf,
  warmUp,
  weightOf,
  wrongResult,
} from './measure.js';
import type { Row, RowOf } from './rows.js';
import type { Run } from './run.js';

/**
 * Products of an affine addition with a shared inversion (Montgomery's trick, 1987): five products
 * and a square.
 */
const PRODUCTS_OF_AN_ADDITION = 6;

/**
 * Point sets in which hardly any two points cancel or coincide. In others the count of additions is
 * unknown.
 */
const regularPoints: ReadonlySet<PointDistributionName> = new Set(['distinct', 'consecutive']);

/**
 * Measures each kind of product that a run uses, between its repetitions.
 *
 * @param p prime of the curve's field
 */
function makeRoofline({ run, gpu, own }: GpuBench, p: bigint) {
  const meters = new Map<FieldProduct, { readonly meter: ProductMeter; rates: number[] }>();
  return {
    /** Begins a case: measures the products that these engines used from now on. */
    async begin(subjects: readonly EngineUnderTest[]): Promise<void> {
      for (const { engine } of subjects) {
        const product = gpuPartOf(engine.lastRun)?.tuning.fieldProduct;
        if (product === undefined || meters.has(product)) continue;
        await run.next('Measuring the field product alone: the hardware limit');
        const meter = await openMeter(gpu, (why) => run.loseDevice(why), { product, p });
        meters.set(product, { meter: own(meter), rates: [] });
      }
      for (const each of meters.values()) each.rates = [];
    },

    async measure(): Promise<void> {
      for (const { meter, rates } of meters.values()) rates.push(await meter.measure());
    },

    /**
     * Returns the bound; null on the CPU, where digits do not give the number of additions, and in
     * G2, whose products are reduced lazily and therefore have no cost in products of the prime
     * field.
     */
    boundOf(address: CaseAddress, { engine, label: setting }: EngineUnderTest): RowOf<'bound'> | null {
      const record = engine.lastRun;
      if (record?.on !== 'gpu' || address.group !== 'g1' || !regularPoints.has(address.points)) return null;
      const productsPerSecond = median(meters.get(record.tuning.fieldProduct)?.rates ?? []);
      if (productsPerSecond === null) return null;
      const additions = record.entries;
      const products = PRODUCTS_OF_AN_ADDITION * additions;
      const ms = (1000 * products) / productsPerSecond;
      const told = { case: formatCaseAddress(address), n: address.n, setting };
      return { event: 'bound', ...told, additions, products, productsPerSecond, ms };
    },
  };
}

/** Times of a case with one setting, in order of repetitions. */
export interface Times {
  readonly subject: EngineUnderTest;
  readonly wallTimesMs: number[];
}

interface TimingOptions {
  /** Measures the roofline between the repetitions. */
  readonly bounded?: boolean;
  /** Emits every pass of every MSM. */
  readonly traced?: boolean;
  /** Names of peers; null for those that are quick at the size. Default: none. */
  readonly peers?: readonly string[] | null;
  /** Names of the settings in rows. Default: their own names. */
  readonly labels?: readonly string[];
  /** Returns one more row after the repetitions of a case. */
  conclude?(address: CaseAddress, times: readonly Times[]): Row;
}

/**
 * Times each case with each setting. Every result is checked, in the warm-up and in each
 * repetition. Each repetition draws other scalars, so no result can be that of an earlier run.
 */
export async function runTimings(bench: Bench, knobs: Knobs, options: TimingOptions = {}): Promise<null> {
  const { run, gpu, own } = bench;
  const { cases, curve, group, reps, settings } = knobs;
  const { bounded = false, traced = false, labels = settings.map(({ name }) => name), conclude } = options;
  const { peers: askedPeers = [] } = options;
  run.plan(cases.flatMap(({ address: { n } }) => settings.flatMap(() => Array(reps + 1).fill(weightOf(n)))));
  const roofline = gpu && bounded ? makeRoofline(bench as GpuBench, oracles[curve].Point.Fp.ORDER) : null;
  const subjects: EngineUnderTest[] = [];
  // engines are created before any compiles, so that a refused option fails the run at once
  for (const [i, setting] of settings.entries()) {
    const where = { curve, group: setting.group ?? group };
    subjects.push(own(await makeEngine(bench, where, setting, labels[i] as string)));
  }
  for (const { address } of cases) {
    await run.next(`Making ${address.n.toLocaleString('en')} points and the known answer`);
    const made = casesOf(subjects, address);
    for (const subject of subjects) {
      await warmUp(run, subject, made.of(subject));
      run.advance(weightOf(address.n), 'warm-up');
    }
    await roofline?.begin(subjects);
    const peers = await preparePeers(run, made.of(subjects[0] as EngineUnderTest), askedPeers);
    const times = subjects.map((subject): Times => ({ subject, wallTimesMs: [] }));
    await interleave(times, reps, {
      begin: made.draw,
      take: (each, repetition) => timeOne(run, each, made.of(each.subject), { traced, repetition, reps }),
      end: async (repetition) => {
        await roofline?.measure();
        await peers.take(repetition);
      },
    });
    for (const { subject } of times) {
      const bound = roofline?.boundOf({ ...address, group: subject.group }, subject) ?? null;
      if (bound !== null) run.emit(bound);
    }
    if (conclude !== undefined) run.emit(conclude(address, times));
  }
  return null;
}

function casesOf(subjects: readonly Pick<EngineUnderTest, 'group'>[], address: CaseAddress) {
  const groups = new Set(subjects.map(({ group }) => group));
  const first = new Map([...groups].map((group) => [group, makeCase({ ...address, group })]));
  let drawn = first;
  return {
    of: ({ group }: Pick<EngineUnderTest, 'group'>): MsmCase => drawn.get(group) as MsmCase,

    /** Draws other scalars, the same for all subjects. */
    draw(repetition: number): void {
      drawn = new Map([...first].map(([group, msmCase]) => [group, redrawn(msmCase, repetition)]));
    },
  };
}

/**
 * Times one MSM and emits a row: with `traced` its passes.
 *
 * @throws Error if the answer is wrong
 */
async function timeOne(
  run: Run,
  { subject, wallTimesMs }: Times,
  msmCase: MsmCase,
  how: {
    readonly traced: boolean;
    readonly repetition: number;
    readonly reps: number;
  },
): Promise<void> {
  const { traced, repetition, reps } = how;
  const { n } = msmCase.address;
  const setting = subject.label;
  await run.next(`${n.toLocaleString('en')} points, ${setting}: repetition ${repetition} of ${reps}`);
  await raiseClock(subject, msmCase);
  const outcome = await subject.compute(msmCase);
  const times = timesOf(outcome);
  const { wallMs } = times;
  const told = { case: formatCaseAddress(msmCase.address), n, setting, repetition, ...times };
  const timeline = outcome.agrees ? (gpuPartOf(outcome.record)?.timeline ?? null) : null;
  run.emit(traced ? { event: 'trace', ...told, timeline } : { event: 'repetition', ...told });
  run.advance(weightOf(n));
  if (wallMs === null) throw wrongResult(msmCase, `${setting}, repetition ${repetition}`, outcome);
  run.bench.lastWallMs = wallMs;
  wallTimesMs.push(wallMs);
}

/** Repetitions of a peer. A peer may be a hundred times slower, and its median needs no more. */
const REPETITIONS = 3;

/**
 * Prepares the peers that were asked for, or those that are quick at this size, with the inputs of
 * the case.
 *
 * @param asked names of peers; null for those that are quick
 */
async function preparePeers(run: Run, msmCase: MsmCase, asked: readonly string[] | null) {
  const taking: Peer[] = [];
  const { address, points, scalars, expected } = msmCase;
  const { n } = address;
  const size = n.toLocaleString('en');
  for (const name of (asked ?? peerNames) as readonly PeerName[]) {
    const peer: Peer | null = peers[name](address);
    if (peer === null) {
      run.emit({ event: 'skipped', variant: name, why: `does not know ${address.curve}, ${address.group}` });
      continue;
    }
    if (asked === null && peer.quickUpTo === 0) continue;
    if (asked === null && n > peer.quickUpTo) {
      const why = `takes long at n = ${size}; peers=${name} runs it anyway`;
      run.emit({ event: 'skipped', variant: name, why });
      continue;
    }
    await run.next(`${name}: preparing ${size} points`);
    taking.push(peer);
    await peer.prepare({ points: points.points, scalars: scalars.values, scalarBytes: scalars.bytes, expected });
    // warms up compiled code; each repetition checks the result
    await peer.run();
  }

  return {
    /**
     * Times one MSM of each peer. A wrong result has no time, and does not affect results of this
     * library.
     */
    async take(repetition: number): Promise<void> {
      if (repetition > REPETITIONS) return;
      for (const peer of taking) {
        await run.next(`${size} points, ${peer.name}: repetition ${repetition}`);
        const begun = performance.now();
        const result = await peer.run();
        const wall = performance.now() - begun;
        const agrees = peer.check(result);
        const told = { peer: peer.name, case: formatCaseAddress(address), n, repetition, agrees };
        run.emit({ event: 'peer', ...told, wallMs: agrees ? wall : null });
      }
    },
  };
}
