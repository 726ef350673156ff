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
import { fileURLToPath } from 'node:url';
import { commit, ensureBuilt } from './builds.mjs';
import { adapterOption, anyText, flag, integer, UsageError, valued } from './command-line.mjs';
import { steps } from './gpu-day/steps.mjs';

/**
 * A step that was run.
 *
 * @typedef {object} Done
 * @property {string} name
 * @property {'passed' | 'failed' | 'out of time'} ending
 * @property {number} seconds
 * @property {string} command
 * @property {string} output
 * @property {unknown} rows
 */

export const command = {
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
};

const SECOND = 1000;

/** @param {string} path */
const script = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Runs a script in a process with a time limit, and prints its output.
 *
 * @param {readonly string[]} args the arguments of Node
 * @param {number} mostMs
 * @returns {Promise<{ ending: Done['ending'], output: string }>}
 */
const runNode = (args, mostMs) =>
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

/** Reads the steps of an earlier day. @param {string} file @returns {Done[]} */
const readDone = (file) => {
  if (!existsSync(file)) throw new UsageError(`--after: ${file} does not exist`);
  return JSON.parse(readFileSync(file, 'utf8')).steps;
};

/**
 * Formats the summary of a day as Markdown.
 *
 * @param {readonly Done[]} done
 * @param {string} adapter
 * @param {readonly string[]} left names of steps that were not run
 */
const summaryOf = (done, adapter, left) =>
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

/**
 * Returns the steps that `--only` names.
 *
 * @param {string | undefined} only
 * @throws UsageError
 */
const chosen = (only) => {
  const wanted = steps.filter(
    ({ name }) => only === undefined || only.split(',').some((word) => name.startsWith(word)),
  );
  if (wanted.length > 0) return wanted;
  const names = steps.map(({ name }) => name).join(', ');
  throw new UsageError(`--only: no step's name begins with ${only}; the names are ${names}`);
};

/**
 * Runs one step.
 *
 * @param {import('./gpu-day/steps.mjs').Step} step
 * @param {{ quick: boolean, adapter: string | undefined, rowsFolder: string, leftMs: number }} how
 * @returns {Promise<Done>}
 */
async function runStep({ name, args, quick: small, mostS }, { quick, adapter, rowsFolder, leftMs }) {
  const json = join(rowsFolder, `${name.replaceAll(/\W+/g, '-')}.json`);
  const own = quick ? small : args;
  // a mode that runs on the CPU takes no adapter
  const where = own?.some((word) => /^cpu(-|$)/.test(word)) ? [] : ['--adapter', adapter ?? 'hardware'];
  const line =
    own === null
      ? [script('./gpu-day/self-test.mjs'), adapter ?? 'hardware']
      : [script('./bench.mjs'), ...own, ...where, '--json', json];
  console.log(`\n=== ${name}`);
  const begun = performance.now();
  const { ending, output } = await runNode(line, Math.min(leftMs, mostS * (quick ? 4 : 1) * SECOND));
  const seconds = (performance.now() - begun) / SECOND;
  const rows = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : null;
  const command = own === null ? 'node scripts/gpu-day/self-test.mjs' : `npm run bench -- ${own.join(' ')}`;
  return { name, ending, seconds, command, output, rows };
}

/** Runs the steps. @param {import('./command-line.mjs').Values<typeof command.options>} options */
export async function run({ out, minutes, after, only, quick, adapter }) {
  const wanted = chosen(only);
  const done = after === undefined ? [] : readDone(after).filter(({ ending }) => ending === 'passed');
  ensureBuilt('library');
  ensureBuilt('bench');
  mkdirSync(out, { recursive: true });
  const rowsFolder = mkdtempSync(join(tmpdir(), 'gpu-day-'));
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
    const result = await runStep(step, { quick, adapter, rowsFolder, leftMs });
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
}
