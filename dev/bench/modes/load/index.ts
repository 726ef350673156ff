/**
 * `load`: runs a prover's sums from concurrent callers, with each kind of sharing switched off in
 * turn, to measure its gain.
 */
import { ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import type { Bench } from '../../bench-setup.js';
import { interleave } from '../../interleave.js';
import { weightOf } from '../../measure.js';
import { type RowOf, rowsOf } from '../../rows.js';
import type { Run } from '../../run.js';
import type { Setting } from '../../settings.js';
import { benchMode } from '../mode.js';
import { failureOf } from '../targets/findings.js';
import { drawJobs, type Job, type JobShape, makeProblem } from './jobs.js';
import { judgeLoad, wallTimesAt } from './judge.js';
import { ALL_ON, type LoadKnobs, loadKnobs, sharingOf, variantsOf } from './knobs.js';
import { callInLoops, measurePass, measureUrgent } from './measure.js';
import { loadResult } from './result.js';
import { openSubject, type Subject } from './subject.js';

export const load = benchMode({
  title: 'Load',
  about:
    'times the MSMs of a prover from 1 to 20 callers at once, with and without each kind of sharing: what does each gain, and how much is noise?',
  takes: '3 to 6 min',
  example: 'load --logn 12 --concurrency 1,5,20 --jobs 40',
  limits:
    'Targets hold on a software GPU only, except that for memory. With --backend cpu no kind of sharing is switched off.',
  runsOn: 'either',
  uses: ['curve', 'group', 'logn', 'reps', 'seed', 'strict'],
  engine: ['backend', 'workers', 'budget'],
  defaults: { reps: 3, logn: [10] },
  knobs: loadKnobs,
  run: runLoad,
  show: loadResult,
});

/** Number of small concurrent sums, and of interactive calls. */
const TOGETHER = 64;
const URGENT = 20;

/** Jobs that the waterfall shows, each on a line. */
const MOST_LINES = 60;

interface Level {
  readonly subject: Subject;
  readonly concurrency: number;
}

async function runLoad(bench: Bench, knobs: LoadKnobs): Promise<string | null> {
  const { run, adapter, gpu } = bench;
  const { reps, seed, mix, concurrency } = knobs;
  const n = Math.max(...knobs.cases.map(({ address }) => address.n));
  const most = Math.max(...concurrency);
  const variants = variantsOf(knobs.settings[0] as Setting);
  const shapes = drawJobs(mix, n, knobs.jobs, seed);
  const passWeight = shapes.reduce((sum, shape) => sum + weightOf(shape.n), 0);
  const levelCount = concurrency.length + variants.length - 1;
  run.plan([...Array(variants.length + levelCount * reps).fill(passWeight), ...Array(reps + 1).fill(passWeight)]);
  await run.next(`Making ${(4 * n).toLocaleString('en')} points, scalars and the known answers`);
  const problem = makeProblem(knobs, n, seed);
  const makeJobs = async (some: readonly JobShape[]): Promise<Job[]> => {
    const jobs: Job[] = [];
    for (const shape of some) {
      jobs.push(problem.jobOf(shape));
      await run.next(`Making scalars and the known answers: ${jobs.length} of ${some.length}`);
    }
    return jobs;
  };
  const jobs = await makeJobs(shapes);
  const subjects: Subject[] = [];
  for (const { label, sharing } of variants) {
    await run.next(`${label}: loading, compiling, checking every answer`);
    const subject = await openSubject(bench, knobs, problem, label, { ...sharingOf(knobs), ...sharing });
    subjects.push(subject);
    // all answers once; of the others enough to compile, and to learn what calls take
    const first = label === ALL_ON ? jobs : jobs.slice(0, most);
    await callInLoops(first, most, (job) => subject.compute(job));
    run.advance(passWeight, 'warm-up');
  }
  const [own, ...others] = subjects as [Subject, ...Subject[]];
  const levels: Level[] = [
    ...concurrency.map((callers) => ({ subject: own, concurrency: callers })),
    ...others.map((subject) => ({ subject, concurrency: most })),
  ];
  await measureLevels(run, levels, jobs, knobs);
  await measureTogether(run, own, await makeJobs(drawJobs('small', n, TOGETHER, seed)), reps);
  await run.next('Interactive calls, alone and with others in the background');
  const urgent = await makeJobs(Array(URGENT).fill({ set: 'a', n: Math.max(1, n >> 2) }));
  const [background] = await makeJobs([{ set: 'all', n: 4 * n }]);
  const interactive = await measureUrgent(run, own, urgent, background as Job);
  run.emit(interactive);
  run.advance(passWeight);
  const { rows } = run.bench;
  // there are no targets for the CPU alone
  const isSoftware = adapter.software && gpu !== null;
  const findings = judgeLoad(rowsOf(rows, 'load'), rowsOf(rows, 'together'), interactive, isSoftware, gpu !== null);
  run.emit({ event: 'target', name: 'load', findings, measured: null });
  return failureOf(findings, knobs.strict);
}

/** Measures each number of callers, and each variant at the largest number, interleaved. */
async function measureLevels(
  run: Run,
  levels: readonly Level[],
  jobs: readonly Job[],
  { mix, reps, concurrency }: LoadKnobs,
): Promise<void> {
  const most = Math.max(...concurrency);
  const weight = jobs.reduce((sum, { n }) => sum + weightOf(n), 0);
  const rows: RowOf<'load'>[] = [];
  await interleave(levels, reps, {
    async take({ subject, concurrency: callers }, repetition) {
      const { label } = subject;
      await run.next(`${jobs.length} jobs of ${callers} callers, ${label}: repetition ${repetition} of ${reps}`);
      const { row, spans } = await measurePass(subject, jobs, mix, callers, repetition);
      rows.push(row);
      run.emit(row);
      if (label === ALL_ON && callers === most && repetition === reps && spans.length > 0) {
        const drawn = spans.slice(0, MOST_LINES).map((each, i) => ({ n: jobs[i]?.n ?? 0, ...each }));
        run.emit({ event: 'waterfall', concurrency: callers, jobs: drawn });
      }
      run.advance(weight);
    },
  });
  const onMs = wallTimesAt(rows, most);
  for (const callers of concurrency) {
    const ratio = concurrency.includes(1) ? ratioOfMedians(wallTimesAt(rows, 1), wallTimesAt(rows, callers)) : null;
    run.emit({ event: 'inflation', concurrency: callers, ratio });
  }
  for (const { label } of levels.map(({ subject }) => subject).filter((each) => each.label !== ALL_ON)) {
    const ratio = ratioOfMedians(onMs, wallTimesAt(rows, most, label));
    run.emit({ event: 'gain', concurrency: most, without: label, ratio });
  }
}

/** Measures small sums over the same points: in sequence, and all at once. */
async function measureTogether(run: Run, subject: Subject, jobs: readonly Job[], reps: number): Promise<void> {
  const wallOf = async (callers: number): Promise<number> =>
    (await callInLoops(jobs, callers, (job) => subject.compute(job))).wallMs;
  // coalesced sums compile nothing new, but the plan depends on times of calls of such sizes
  await wallOf(1);
  await wallOf(jobs.length);
  const weight = jobs.reduce((sum, { n }) => sum + weightOf(n), 0);
  const ways = ['single', 'together'] as const;
  const wallTimes: Record<(typeof ways)[number], number> = { single: 0, together: 0 };
  let merged = 0;
  await interleave(ways, reps, {
    async take(way, repetition) {
      await run.next(`${jobs.length} small sums, ${way}: repetition ${repetition} of ${reps}`);
      const before = subject.engine.stats.merged;
      wallTimes[way] = await wallOf(way === 'single' ? 1 : jobs.length);
      if (way === 'together') merged = subject.engine.stats.merged - before;
    },
    async end(repetition) {
      const told = {
        repetition,
        jobs: jobs.length,
        singleMs: wallTimes.single,
        togetherMs: wallTimes.together,
        merged,
      };
      run.emit({ event: 'together', ...told });
      run.advance(weight);
    },
  });
}
