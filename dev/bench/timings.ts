/** `msm-bench` and `sweep`: MSMs at each size, with each setting in turn, beside peers and the roofline. */

import type { CarryMode } from '../../src/field/carry.js';
import { formatCaseAddress } from '../cases/address.js';
import { type MsmCase, makeCase } from '../cases/msm-case.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import { ProductMeter, ratesAround } from '../field-bench/product-meter.js';
import { type PeerName, peerNames, peers } from '../peers/index.js';
import type { Peer } from '../peers/peer.js';
import { BenchDevice } from './bench-device.js';
import { EngineUnderTest } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { timesOf, warmUp, weightOf } from './measure.js';
import type { EndRow } from './rows.js';
import type { Run } from './run.js';
import { median } from './statistics.js';

/** Products of an addition in affine coordinates that shares its inversion: five, and a square (DESIGN §2). */
const PRODUCTS_OF_AN_ADDITION = 6;

/** Sets of points of which hardly any two cancel or coincide: for others the count of additions is none. */
const regularPoints: ReadonlySet<PointDistributionName> = new Set(['distinct', 'consecutive']);

/** A peer may be a hundred times as slow; its median needs no more. */
const PEER_REPETITIONS = 3;

/** The answer of each setting is checked before anything is timed, and again at every repetition. */
export async function runTimings(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps, settings } = knobs;
  run.plan(cases.flatMap(({ address: { n } }) => settings.flatMap(() => Array(reps + 1).fill(weightOf(n)))));
  const bench = await BenchDevice.open(run, host, knobs);
  const subjects: EngineUnderTest[] = [];
  const meters: { destroy(): void }[] = [];
  const medians: EndRow['medians'][number][] = [];
  try {
    for (const setting of settings) subjects.push(await EngineUnderTest.create(run, bench, setting));
    await run.next('Calibrating the product that costs are told in');
    const onLost = (why: string): void => run.loseDevice(why);
    const meter = await ProductMeter.open(bench.gpu, { onLost });
    meters.push(meter);
    const roofs = new Map<CarryMode, { readonly meter: ProductMeter; rates: number[] }>();
    for (const { address } of cases) {
      const { n } = address;
      const size = n.toLocaleString('en');
      await run.next(`Making ${size} points and the known answer`);
      const msmCase = makeCase(address);
      const name = formatCaseAddress(address);
      const walls = new Map<EngineUnderTest, number[]>();
      for (const subject of subjects) {
        await warmUp(run, subject, msmCase);
        walls.set(subject, []);
        run.advance(weightOf(n));
      }
      for (const carry of new Set(subjects.map(({ engine }) => engine.lastRun?.tuning.fieldCarry))) {
        if (carry === undefined || roofs.has(carry)) continue;
        await run.next('Measuring the product alone: the roofline');
        const roof = await ProductMeter.open(bench.gpu, { library: carry, onLost });
        meters.push(roof);
        roofs.set(carry, { meter: roof, rates: [] });
      }
      const others = await preparePeers(run, bench, msmCase, knobs);
      for (const roof of roofs.values()) roof.rates = [];
      try {
        const rateAround = await ratesAround(meter);
        for (let repetition = 1; repetition <= reps; repetition++) {
          // who begins changes, so that nobody always comes after the same other
          for (let turn = 0; turn < subjects.length; turn++) {
            const subject = subjects[(turn + repetition - 1) % subjects.length] as EngineUnderTest;
            const setting = subject.setting.name;
            await run.next(`${size} points, ${setting}: repetition ${repetition} of ${reps}`);
            const outcome = await subject.compute(msmCase);
            const productsPerSecond = await rateAround();
            const times = timesOf(outcome);
            if (times.wallMs !== null) {
              walls.get(subject)?.push(times.wallMs);
              run.bench.lastWallMs = times.wallMs;
            }
            run.tell(
              {
                event: 'repetition',
                case: name,
                n,
                setting,
                repetition,
                ...times,
                productEquivalents: times.wallMs === null ? null : (times.wallMs / 1000) * productsPerSecond,
              },
              'progress',
              'results',
            );
            run.advance(weightOf(n));
            if (!outcome.agrees) throw new Error(`wrong result at ${name}, ${setting}, repetition ${repetition}`);
          }
          for (const { meter: roof, rates } of roofs.values()) rates.push(await roof.measure());
          if (repetition <= PEER_REPETITIONS) for (const peer of others) await timePeer(run, peer, name, n, repetition);
        }
      } finally {
        for (const peer of others) peer.destroy?.();
      }
      for (const [{ setting, engine }, times] of walls) {
        const medianMs = median(times);
        if (medianMs !== null) medians.push({ case: name, setting: setting.name, medianMs });
        const record = engine.lastRun;
        const productsPerSecond = record === null ? null : median(roofs.get(record.tuning.fieldCarry)?.rates ?? []);
        if (record?.on !== 'gpu' || productsPerSecond === null || !regularPoints.has(address.points)) continue;
        const additions = record.entries;
        const products = PRODUCTS_OF_AN_ADDITION * additions;
        const ms = (1000 * products) / productsPerSecond;
        run.tell(
          { event: 'bound', case: name, n, setting: setting.name, additions, products, productsPerSecond, ms },
          'progress',
          'results',
        );
      }
    }
  } finally {
    for (const meter of meters) meter.destroy();
    for (const subject of subjects) subject.destroy();
    bench.destroy();
  }
  await run.end(null, medians);
}

/** Those that were asked for, or that are quick. */
async function preparePeers(
  run: Run,
  { gpu }: BenchDevice,
  msmCase: MsmCase,
  { mode, peers: asked }: Knobs,
): Promise<Peer[]> {
  if (mode !== 'msm-bench') return [];
  const { address, points, scalars, expected } = msmCase;
  const ready: Peer[] = [];
  for (const name of (asked ?? peerNames) as readonly PeerName[]) {
    const peer: Peer = peers[name]();
    if (asked === null && address.n > peer.quickUpTo) {
      const why = `takes long at n = ${address.n.toLocaleString('en')}; peers=${name} asks for it all the same`;
      run.tell({ event: 'skipped', variant: name, why }, 'progress', 'results');
      continue;
    }
    await run.next(`${name}: preparing ${address.n.toLocaleString('en')} points`);
    await peer.prepare(address.n, {
      points: points.points,
      pointBytes: points.bytes,
      scalars: scalars.values,
      scalarBytes: scalars.bytes,
      expected,
      gpu,
    });
    // warms up what may be compiled; whether it is right is said at every repetition
    await peer.run();
    ready.push(peer);
  }
  return ready;
}

async function timePeer(run: Run, peer: Peer, name: string, n: number, repetition: number): Promise<void> {
  await run.next(`${n.toLocaleString('en')} points, ${peer.name}: repetition ${repetition}`);
  const begun = performance.now();
  const result = await peer.run();
  const wall = performance.now() - begun;
  const agrees = peer.check(result);
  const wallMs = agrees ? wall : null;
  run.tell({ event: 'peer', peer: peer.name, case: name, n, repetition, agrees, wallMs }, 'progress', 'results');
}
