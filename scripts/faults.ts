/**
 * npm run stress -- faults --minutes 10 --seed 1
 *
 * Injects one fault into one call, thousands of times: WebGPU commands that are left out, done
 * twice, late or for another call, flipped bits, shaders that compute something else, waits that
 * take 100 times as long. Reports the outcomes, and whether docs/reference/failures.md promises
 * them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableLines } from '../dev/bench/table.js';
import { faultNames } from '../dev/faults/faults.js';
import { modeNames } from '../dev/faults/modes.js';
import { cells, docsText, judge, Tally } from '../dev/faults/tally.js';
import { drawTrial, namedTrials, type Report, type Trial } from '../dev/faults/trial.js';
import { project } from './builds.mjs';
import {
  adapterOption,
  anyText,
  command,
  flag,
  integer,
  listOf,
  onAdapter,
  outputFile,
  progress,
  say,
  UsageError,
  type Values,
  valued,
} from './command-line.js';
import { writeSection } from './docs-section.js';
import type { Message } from './faults/worker.js';

const options = {
  minutes: valued('10', 'duration of the campaign', integer(1, 10_000), 10),
  trials: valued('5000', 'the most trials', integer(1, 1_000_000), Number.POSITIVE_INFINITY),
  seed: valued('1', 'seed of the faults; the same seed draws the same faults', integer(0, 2 ** 31), 1),
  modes: valued('default,load', 'only modes whose name contains one of these words', listOf(anyText), ['']),
  faults: valued('submit,flipped', 'only faults whose name contains one of these words', listOf(anyText), ['']),
  trial: valued('17', 'only this trial of the seed, or this named trial; a wrong name lists the names', anyText),
  write: flag('write the table into docs/reference/failures.md'),
  json: valued('FILE', 'write every trial and its outcome as JSON', outputFile),
  adapter: adapterOption,
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

type Chosen = Values<typeof options>;

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

export const faultsCommand = command({
  about: 'one fault in one call: is it found, retried, or at least not a wrong result?',
  usage: 'usage: npm run stress -- faults [options]',
  options,
  notes: 'Exit code: 0 all as promised · 1 not as promised, or a call without a fault fails · 2 bad usage',
  run: (chosen) => onAdapter(chosen.adapter, () => campaign(chosen)),
});
