/**
 * npm run bench -- gpu-day --out "$OUT"
 *
 * Runs all checks and measurements on a GPU that is available for minutes only: correctness first,
 * then speed. Each step is a process with a time limit. Results are written after each step, so
 * that `--after` continues a day that was interrupted.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commit, ensureBuilt, project } from './builds.mjs';
import { adapterOption, anyText, command, flag, integer, UsageError, valued } from './command-line.js';
import { type Step, steps } from './gpu-day/steps.js';

interface Done {
  readonly name: string;
  readonly ending: 'passed' | 'failed' | 'out of time';
  readonly seconds: number;
  readonly command: string;
  readonly output: string;
  readonly rows: unknown;
}

const SECOND = 1000;

/**
 * Runs a script in a process with a time limit, and prints its output.
 *
 * @param args the arguments of Node
 */
const runNode = (args: readonly string[], mostMs: number): Promise<{ ending: Done['ending']; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        process.stdout.write(chunk);
      });
    }
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, mostMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ ending: isLate ? 'out of time' : code === 0 ? 'passed' : 'failed', output });
    });
  });

const readDone = (file: string): Done[] => {
  if (!existsSync(file)) throw new UsageError(`--after: ${file} does not exist`);
  return JSON.parse(readFileSync(file, 'utf8')).steps;
};

/** Formats the summary of a day as Markdown. @param left names of steps that were not run */
const summaryOf = (done: readonly Done[], adapter: string, left: readonly string[]) =>
  [
    `# A day with a GPU`,
    '',
    `${adapter || 'adapter unknown'} · commit ${commit()} · ${new Date().toISOString().slice(0, 16)} · Node ${process.version}`,
    '',
    '| step | ending | seconds |',
    '|---|---|---|',
    ...done.map(({ name, ending, seconds }) => `| ${name} | ${ending} | ${seconds.toFixed(0)} |`),
    ...left.map((name) => `| ${name} | no time left | |`),
    ...done.flatMap(({ name, command, output }) => [
      '',
      `## ${name}`,
      '',
      `    ${command}`,
      '',
      '```text',
      output.trim(),
      '```',
    ]),
    '',
  ].join('\n');

/** Returns the steps that `--only` names. @throws UsageError */
const chosen = (only: string | undefined) => {
  const wanted = steps.filter(
    ({ name }) => only === undefined || only.split(',').some((word) => name.startsWith(word)),
  );
  if (wanted.length > 0) return wanted;
  const names = steps.map(({ name }) => name).join(', ');
  throw new UsageError(`--only: no step's name begins with ${only}; the names are ${names}`);
};

interface Day {
  readonly quick: boolean;
  readonly adapter: string | undefined;
  readonly rowsFolder: string;
}

async function runStep({ name, args, quick: small, mostS }: Step, day: Day, leftMs: number): Promise<Done> {
  const json = join(day.rowsFolder, `${name.replaceAll(/\W+/g, '-')}.json`);
  const own = day.quick ? small : args;
  // a mode that runs on the CPU takes no adapter
  const where = /\bcpu(-| |$)/.test(own) ? [] : ['--adapter', day.adapter ?? 'hardware'];
  const line = [join(project, 'scripts/bench.mjs'), ...own.split(' '), ...where, '--json', json];
  console.log(`\n=== ${name}`);
  const begun = performance.now();
  const { ending, output } = await runNode(line, Math.min(leftMs, mostS * (day.quick ? 4 : 1) * SECOND));
  const seconds = (performance.now() - begun) / SECOND;
  const rows = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : null;
  return { name, ending, seconds, command: `npm run bench -- ${own}`, output, rows };
}

export const gpuDayCommand = command({
  about: 'runs all checks and measurements on a GPU that is lent for minutes',
  usage: `Runs all checks and measurements on a GPU: self-test, correctness and sizes up to 2^20, coordinates and tasks, products,
prefix memory, calibration, field arithmetic, targets. Writes gpu-day.json (every row) and gpu-day.md (a summary).

usage: npm run bench -- gpu-day [options]`,
  options: {
    out: valued('DIR', 'folder of the results (default $OUT, else gpu-day)', anyText, process.env.OUT ?? 'gpu-day'),
    minutes: valued('9', 'the most time for all steps', integer(1, 600), 9),
    after: valued('FILE', 'an earlier gpu-day.json: steps that passed there are skipped', anyText),
    only: valued('right,sizes', 'only steps whose name begins with one of these words', anyText),
    quick: flag('small sizes, for a rehearsal'),
    adapter: adapterOption,
  },
  notes: `Steps: ${steps.map(({ name, about }) => `${name} (${about})`).join('; ')}.

Exit code: 0 all steps passed · 1 a step failed, or no time was left for it · 2 bad usage`,
  async run({ out, minutes, after, only, quick, adapter }) {
    const wanted = chosen(only);
    const done = after === undefined ? [] : readDone(after).filter(({ ending }) => ending === 'passed');
    ensureBuilt('library');
    ensureBuilt('bench');
    mkdirSync(out, { recursive: true });
    const day = { quick, adapter, rowsFolder: mkdtempSync(join(tmpdir(), 'gpu-day-')) };
    const end = performance.now() + minutes * 60 * SECOND;
    let adapterName = '';
    const left = wanted.map(({ name }) => name).filter((name) => !done.some((step) => step.name === name));
    const write = () => {
      const told = { commit: commit(), adapter: adapterName, steps: done };
      writeFileSync(join(out, 'gpu-day.json'), `${JSON.stringify(told, null, 1)}\n`);
      writeFileSync(join(out, 'gpu-day.md'), summaryOf(done, adapterName, left));
    };
    for (const step of wanted) {
      if (!left.includes(step.name)) continue;
      const leftMs = end - performance.now();
      if (leftMs < 5 * SECOND) break;
      const result = await runStep(step, day, leftMs);
      adapterName ||= /^adapter: (.*)$/m.exec(result.output)?.[1] ?? '';
      done.push(result);
      left.splice(left.indexOf(step.name), 1);
      write();
    }
    write();
    console.log(
      `\n${done.map(({ name, ending, seconds }) => `${ending.padEnd(11)} ${seconds.toFixed(0).padStart(4)} s  ${name}`).join('\n')}`,
    );
    if (left.length > 0)
      console.log(`no time for ${left.join(', ')}; continue with --after ${join(out, 'gpu-day.json')}`);
    if (left.length > 0 || done.some(({ ending }) => ending !== 'passed')) process.exitCode = 1;
  },
});
