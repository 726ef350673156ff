/** npm run stress -- fuzz|faults|soak: looks for mistakes that no test names. */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableLines } from '../dev/bench/format.js';
import { modeNames } from '../dev/faults/modes.js';
import { cells, docsText, judge, Tally } from '../dev/faults/tally.js';
import { drawTrial, faultNames, namedTrials, type Report, type Trial } from '../dev/faults/trial.js';
import { execute, fuzz } from '../dev/fuzz/execute.js';
import { executeFields, type FieldProgram, fuzzFields } from '../dev/fuzz/fields.js';
import { type FuzzProgram, movedTo } from '../dev/fuzz/program.js';
import { type SoakTold, soak } from '../dev/soak/soak.js';
import { project } from './builds.mjs';
import {
  adapterOption,
  anyText,
  command,
  flag,
  integer,
  json,
  listOf,
  onAdapter,
  oneOf,
  outputFile,
  type Parse,
  progress,
  runSubcommand,
  say,
  subcommand,
  UsageError,
  type Values,
  valued,
} from './command-line.js';
import { onDevice } from './device.js';
import { writeSection } from './docs-section.js';
import type { Message } from './faults/worker.js';

/** Options of every campaign. @param seed what the seed decides */
const ofCampaign = (seed: string) => ({
  minutes: valued('10', 'duration', integer(1, 10_000), 10),
  seed: valued('1', seed, integer(0, 2 ** 31), 1),
  adapter: adapterOption,
});

/*
 * npm run stress -- fuzz --minutes 10 --seed 1
 *
 * Runs random programs: engines with random knobs, and sequences of calls on mixtures of awkward
 * points and scalars. Compares every result with an oracle that knows the points' discrete
 * logarithms. At the first mismatch fast-check shrinks the program, and the command that repeats it
 * is printed. `--op fields` has programs of vectors of field elements, on the CPU and on the GPU,
 * whose results must be those of BigInts.
 */

const fuzzOptions = {
  op: valued('msm', 'msm (the default), or fields for vectors of field elements', oneOf('msm', 'fields'), 'msm'),
  ...ofCampaign('seed of the programs; the same seed draws the same programs'),
  program: valued('JSON', 'run only this program (a mismatch prints it)', json as Parse<FuzzProgram & FieldProgram>),
  backend: valued(
    'NAME',
    'run all programs on this backend: cpu, both or auto; default: each program draws its own',
    oneOf('cpu', 'both', 'auto'),
  ),
};

type Told = (counts: Readonly<Record<string, number>>) => void;

function subjectOf({ op, seed, minutes, backend }: Values<typeof fuzzOptions>, device: GPUDevice) {
  const drawn = { seed, seconds: 60 * minutes };
  if (op === 'fields') {
    const on = backend === 'cpu' ? null : device;
    return {
      one: (program: FuzzProgram & FieldProgram) => executeFields(on, program),
      many: (tell: Told) => fuzzFields(on, drawn, tell),
    };
  }
  return {
    one: (program: FuzzProgram & FieldProgram) => execute(device, movedTo(backend, program)),
    many: (tell: Told) => fuzz(device, { ...drawn, backend }, tell),
  };
}

const fuzzCommand = command({
  about: 'random programs: engines, points, scalars and calls, against an oracle',
  usage: 'usage: npm run stress -- fuzz [options]',
  options: fuzzOptions,
  notes: 'Exit code: 0 no mismatch · 1 a mismatch · 2 bad usage',
  async run(given) {
    const { op, minutes, seed, program, adapter } = given;
    await onDevice(adapter, `seed ${seed}`, async (device) => {
      const { one, many } = subjectOf(given, device);
      if (program !== undefined) {
        const failure = await one(program);
        console.log(failure === null ? 'no mismatch' : `MISMATCH in ${failure}`);
        if (failure !== null) process.exitCode = 1;
        return;
      }
      console.log(`${minutes} minutes; a line every half minute`);
      const started = performance.now();
      let [said, last] = [0, ''];
      const failure = await many((counts) => {
        const seconds = (performance.now() - started) / 1000;
        const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
        last = `${Math.round(seconds)} s: ${texts.join(', ')}, 0 mismatches`;
        if (seconds - said < 30) return;
        said = seconds;
        console.log(last);
      });
      console.log(last);
      if (failure === null) return;
      console.log(`MISMATCH in ${failure.error}`);
      const which = op === 'msm' ? '' : `--op ${op} `;
      console.log(
        `reproduce it with:\n  npm run stress -- fuzz ${which}--program '${JSON.stringify(failure.program)}'`,
      );
      process.exitCode = 1;
    });
  },
});

/*
 * npm run stress -- soak --minutes 10 --seed 1
 *
 * Puts random load of engines of both groups on one device. Compares every result with the known
 * one, and the bytes of all buffers with the budget. Stops at the first violation.
 */

const soakCommand = command({
  about: 'random load of many callers, with the bytes of all buffers counted',
  usage: 'usage: npm run stress -- soak [options]',
  options: {
    ...ofCampaign('seed of the calls; their timing depends on the machine, so the same seed does not repeat the load'),
    concurrency: valued('20', 'number of callers', integer(1, 1000), 20),
    logn: valued('12', 'points of G1, as a power of two; G2 has a quarter of them', integer(4, 20), 12),
    megabytes: valued(
      '3',
      'device memory in MiB for both engines together; with more than about 5 it never runs short',
      integer(1, 2 ** 20),
      3,
    ),
  },
  notes: 'Exit code: 0 all right · 1 a wrong result, or more memory than the budget · 2 bad usage',
  async run({ minutes, seed, concurrency, logn, megabytes, adapter }) {
    await onDevice(adapter, `seed ${seed}`, async (device) => {
      const deviceBudget = megabytes * 2 ** 20;
      console.log(`${minutes} minutes of ${concurrency} callers, ${deviceBudget} bytes; a line every half minute`);
      const tell = ({ seconds, calls, rejected, peakBytes, frees, stats }: SoakTold) => {
        const merged = stats.reduce((sum, each) => sum + each.merged, 0);
        const others = Object.entries(rejected).map(([code, count]) => `${count} ${code}`);
        console.log(
          `${Math.round(seconds)} s: ${calls} calls, ${merged} merged, ${others.join(', ') || 'none rejected'}; peak ${peakBytes} bytes, ${(frees / seconds).toFixed(1)} buffers freed a second`,
        );
      };
      const told = await soak(device, {
        seed,
        seconds: 60 * minutes,
        concurrency,
        points: 2 ** logn,
        deviceBudget,
        onTell: tell,
      });
      tell(told);
      for (const violation of told.violations) console.log(`WRONG: ${violation}`);
      console.log(`${told.violations.length} violations`);
      if (told.violations.length > 0) process.exitCode = 1;
    });
  },
});

/*
 * npm run stress -- faults --minutes 10 --seed 1
 *
 * Injects one fault into one call, thousands of times: WebGPU commands that are left out, done
 * twice, late or for another call, flipped bits, shaders that compute something else, waits that
 * take 100 times as long. Reports the outcomes, and whether docs/reference/failures.md promises
 * them.
 */

const faultOptions = {
  trials: valued('5000', 'the most trials', integer(1, 1_000_000), Number.POSITIVE_INFINITY),
  ...ofCampaign('seed of the faults; the same seed draws the same faults'),
  modes: valued('default,load', 'only modes whose name contains one of these words', listOf(anyText), ['']),
  faults: valued('submit,flipped', 'only faults whose name contains one of these words', listOf(anyText), ['']),
  trial: valued('17', 'only this trial of the seed, or this named trial; a wrong name lists the names', anyText),
  write: flag('write the table into docs/reference/failures.md'),
  json: valued('FILE', 'write every trial and its outcome as JSON', outputFile),
};

/** A call hangs if it takes longer than `times` its time without a fault, plus `ms`. */
const HANG_LIMIT = { times: 20, ms: 10_000 };
/** Time limit before the fault, when the trial may compile all kernels. */
const HEALTHY_MS = 300_000;

/** Trials at a time: a trial mostly waits, and a second one uses that time. */
const WORKERS = 2;

const startWorker = () => fork(join(project, 'dist-bench/fault-worker.js'));

const carryOut = (worker: ChildProcess, trial: Trial): Promise<Report> =>
  new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      worker.removeAllListeners();
      settle();
    };
    const fail = (why: string) =>
      end(() => reject(new Error(`trial ${trial.name} (${trial.mode}, ${trial.fault}): ${why}`)));
    timer = setTimeout(() => fail('hangs before the fault'), HEALTHY_MS);
    worker.on('message', (message: Message) => {
      if ('error' in message) fail(message.error);
      else if ('report' in message) end(() => resolve(message.report));
      else {
        const { where, healthyMs } = message;
        clearTimeout(timer);
        const hangs = () => end(() => resolve({ outcome: 'hang', where, message: '' }));
        timer = setTimeout(hangs, HANG_LIMIT.times * healthyMs + HANG_LIMIT.ms);
      }
    });
    worker.once('exit', (code, signal) => fail(`its process ended (${code ?? signal})`));
    worker.send(trial);
  });

type Chosen = Values<typeof faultOptions>;

function choose({ modes, faults, seed, trial, trials: most }: Chosen) {
  const matching = (words: readonly string[], names: readonly string[], option: string) => {
    const found = names.filter((name) => words.some((word) => name.includes(word)));
    if (found.length > 0) return found;
    throw new UsageError(`--${option}: no name contains one of ${words}; the names are ${names.join(', ')}`);
  };
  const wanted = { modes: matching(modes, modeNames, 'modes'), faults: matching(faults, faultNames, 'faults') };
  if (trial !== undefined && !Object.hasOwn(namedTrials, trial) && !/^\d+$/.test(trial)) {
    throw new UsageError(`--trial: '${trial}' is neither a number nor one of ${Object.keys(namedTrials).join(', ')}`);
  }
  function* draw() {
    if (trial !== undefined) yield namedTrials[trial] ?? drawTrial(seed, Number(trial));
    else
      for (let index = 0, left = most; left > 0; index++) {
        const drawn = drawTrial(seed, index);
        if (!wanted.modes.includes(drawn.mode) || !wanted.faults.includes(drawn.fault)) continue;
        left--;
        yield drawn;
      }
  }
  return { ...wanted, trials: draw() };
}

/**
 * Carries out all trials, WORKERS at a time.
 *
 * @param tell takes an outcome; false ends the campaign
 */
async function carryOutAll(trials: Generator<Trial>, tell: (trial: Trial, report: Report) => boolean) {
  const work = async () => {
    let worker = startWorker();
    try {
      for (const trial of trials) {
        const report = await carryOut(worker, trial);
        if (report.outcome === 'hang') {
          worker.kill('SIGKILL');
          worker = startWorker();
        }
        if (!tell(trial, report)) break;
      }
    } finally {
      // ends the other workers' loops as well, also if this one failed
      trials.return(undefined);
      worker.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
}

async function campaign(chosen: Chosen) {
  const { minutes, seed, trial, write, json } = chosen;
  const { trials, modes, faults } = choose(chosen);
  const started = performance.now();
  const tally = new Tally();
  const all: (Trial & Report)[] = [];
  const told = new Set();
  await carryOutAll(trials, (drawn, report) => {
    const { name, mode, fault } = drawn;
    const { outcome, where, message } = report;
    all.push({ ...drawn, ...report });
    tally.add(drawn, outcome);
    const isFine = ['none', 'found', 'retried', 'harmless'].includes(outcome);
    const kind = `${mode}, ${fault}: ${outcome}`;
    if (trial !== undefined || (!isFine && !told.has(kind))) {
      say([`trial ${name}: ${kind}`, where, message].filter((part) => part !== '').join('; '));
    }
    told.add(kind);
    const seconds = Math.round((performance.now() - started) / 1000);
    progress(`${seconds} s: ${all.length} trials, ${tally.count(['wrong'])} wrong, ${tally.count(['hang'])} hang`);
    return seconds < 60 * minutes;
  });
  progress('');
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, null, 1)}\n`);
  if (trial === undefined) console.log(tableLines(cells(tally, faults, modes)).join('\n'));
  const targets = judge(tally);
  for (const { title, faults: of, failures, met } of targets) {
    console.log(`${met ? 'met   ' : 'MISSED'} ${title}: ${failures} of ${of} fail`);
  }
  const how = `\`npm run stress -- faults --seed ${seed}\`, ${process.env.WEBGPU_MSM_ADAPTER_KIND} adapter`;
  if (write) writeSection('docs/reference/failures.md', 'faults', docsText(tally, how));
  if (targets.some(({ met }) => !met)) process.exitCode = 1;
}

const faultsCommand = command({
  about: 'one fault in one call: is it found, retried, or at least not a wrong result?',
  usage: 'usage: npm run stress -- faults [options]',
  options: faultOptions,
  notes: 'Exit code: 0 all as promised · 1 not as promised, or a call without a fault fails · 2 bad usage',
  run: (chosen) => onAdapter(chosen.adapter, () => campaign(chosen)),
});

/* npm run stress -- fuzz|faults|soak: looks for mistakes that no test names. */

export const stress = (): Promise<void> =>
  runSubcommand(
    `Looks for mistakes that no test names: each command draws at random, from a seed, until its time is over.

usage: npm run stress -- COMMAND [options]`,
    {
      fuzz: subcommand(fuzzCommand),
      faults: subcommand(faultsCommand),
      soak: subcommand(soakCommand),
    },
  );
