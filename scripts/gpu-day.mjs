/**
 * npm run gpu-day -- --out "$OUT"
 *
 * Everything that a GPU which is lent for minutes should be asked, in one command: is it right, then how fast. Each step is a process of its
 * own, with a limit; what is done is written down after each, so that a day that was cut short goes on where it was (`--after`).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commit, ensureBuilt } from './builds.mjs';
import {
  adapterOption,
  anyText,
  flag,
  integer,
  parseCommand,
  runCommand,
  UsageError,
  valued,
} from './command-line.mjs';
import { steps } from './gpu-day/steps.mjs';

/**
 * @typedef {{ name: string, ending: 'passed' | 'failed' | 'out of time', seconds: number, command: string, output: string, rows: unknown }} Done
 */

const command = {
  usage: `Asks a GPU everything in one go: self-test, correctness up to 2^20, calibration, sizes up to 2^22, products, prefix memory, field
arithmetic, targets. Writes gpu-day.json (every row) and gpu-day.md (a summary).

usage: npm run gpu-day -- [options]`,
  options: {
    out: valued('DIR', 'where results go (default $OUT, else gpu-day)', anyText, process.env.OUT ?? 'gpu-day'),
    minutes: valued('9', 'how long at most', integer(1, 600), 9),
    after: valued('FILE', 'a gpu-day.json of before: what passed then is not done again', anyText),
    only: valued('right,sizes', 'only steps of which the name begins with one of these', anyText),
    quick: flag('small sizes: a rehearsal'),
    adapter: adapterOption,
  },
  notes: `Steps: ${steps.map(({ name, about }) => `${name} (${about})`).join('; ')}.

Exit code: 0 all steps passed · 1 one did not, or there was no time for it · 2 bad usage`,
};

const SECOND = 1000;

/**
 * @param {readonly string[]} args of Node
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

/** @param {string} file @returns {Done[]} */
const readDone = (file) => {
  if (!existsSync(file)) throw new UsageError(`--after: there is no ${file}`);
  return JSON.parse(readFileSync(file, 'utf8')).steps;
};

/** @param {readonly Done[]} done @param {string} adapter @param {readonly string[]} left */
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

await runCommand(command, async () => {
  const { out, minutes, after, only, quick, adapter } = parseCommand(command);
  const wanted = steps.filter(
    ({ name }) => only === undefined || only.split(',').some((word) => name.startsWith(word)),
  );
  if (wanted.length === 0)
    throw new UsageError(`--only: no step begins so; there are ${steps.map(({ name }) => name).join(', ')}`);
  const done = after === undefined ? [] : readDone(after).filter(({ ending }) => ending === 'passed');
  ensureBuilt('build');
  ensureBuilt('build:bench');
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
  for (const { name, args, quick: small, mostS } of wanted) {
    if (!left.includes(name)) continue;
    const leftMs = end - performance.now();
    if (leftMs < 5 * SECOND) break;
    const json = join(rowsFolder, `${name.replaceAll(/\W+/g, '-')}.json`);
    const own = quick ? small : args;
    // what the CPU computes takes no adapter
    const where = own?.includes('cpu') ? [] : ['--adapter', adapter ?? 'hardware'];
    const script = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
    const line =
      own === null
        ? [script('./gpu-day/self-test.mjs'), adapter ?? 'hardware']
        : [script('./bench.mjs'), ...own, ...where, '--json', json];
    console.log(`\n=== ${name}`);
    const begun = performance.now();
    const { ending, output } = await runNode(line, Math.min(leftMs, mostS * (quick ? 4 : 1) * SECOND));
    const seconds = (performance.now() - begun) / SECOND;
    const rows = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : null;
    const told = own === null ? 'node scripts/gpu-day/self-test.mjs' : `npm run bench -- ${own.join(' ')}`;
    adapterName ||= /^adapter: (.*)$/m.exec(output)?.[1] ?? '';
    done.push({ name, ending, seconds, command: told, output, rows });
    left.splice(left.indexOf(name), 1);
    write();
  }
  write();
  console.log(
    `\n${done.map(({ name, ending, seconds }) => `${ending.padEnd(11)} ${seconds.toFixed(0).padStart(4)} s  ${name}`).join('\n')}`,
  );
  if (left.length > 0) console.log(`no time for ${left.join(', ')}; go on with --after ${join(out, 'gpu-day.json')}`);
  if (left.length > 0 || done.some(({ ending }) => ending !== 'passed')) process.exitCode = 1;
});
