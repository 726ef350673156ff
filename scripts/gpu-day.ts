/**
 * npm run bench -- gpu-day --out "$OUT"
 *
 * Runs the checks and measurements for a GPU that is available for minutes only: correctness first,
 * then speed. Each step is a process with a time limit. Results are written after each step.
 * `bench -- self-test` is the first one.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { commit, ensureBuilt, project } from './builds.mjs';
import {
  adapterOption,
  anyText,
  command,
  flag,
  integer,
  listOf,
  onAdapter,
  outputFile,
  UsageError,
  valued,
} from './command-line.js';
import { requestDevice } from './device.js';
import { table } from './docs/markdown.js';
import { openLibrary } from './run-bench.js';

const GENERATOR = { x: 1n, y: 2n, infinity: false };

async function selfTest(json: string | undefined): Promise<void> {
  ensureBuilt('library');
  const { createMsmEngine } = await openLibrary(project);
  const gpu = openGpu();
  let isRight = true;
  const rows: object[] = [];
  for (const fieldProduct of ['unsigned', 'fma', 'dot4'] as const) {
    const device = await requestDevice();
    const engine = await createMsmEngine({ curve: 'bn254', device, gpu, tuning: { fieldProduct, cpuBelow: 0 } });
    // SwiftShader's compiler crashes on the kernels with dot products
    if (engine.adapter.software && fieldProduct === 'dot4') break;
    let error = null;
    try {
      await engine.warmup(2 ** 16);
      const bases = await engine.loadBases([GENERATOR], { precompute: 2 });
      await engine.msm(bases, [5n]);
    } catch (thrown) {
      error = String(thrown);
    }
    const { selfTest, pipelines, adapter } = engine;
    isRight &&= error === null && selfTest?.failed === null;
    rows.push({ adapter, asked: fieldProduct, selfTest, error, pipelines });
    console.log(JSON.stringify(rows.at(-1)));
    engine.destroy();
    device.destroy();
  }
  closeGpu();
  if (json !== undefined) writeFileSync(json, JSON.stringify(rows));
  if (!isRight) process.exitCode = 1;
}

export const selfTestCommand = command({
  about: 'tests an engine with each field product on the adapter, with tables',
  usage: 'usage: npm run bench -- self-test [options]',
  options: { json: valued('FILE', 'also write the results to a file', outputFile), adapter: adapterOption },
  run: ({ json, adapter }) => onAdapter(adapter, () => selfTest(json)),
});

/** A step: arguments of `npm run bench`, those of a rehearsal, and its time limit in seconds. */
type Step = readonly [name: string, args: string, quick: string, mostS: number];

/** The steps, the most important first. A GPU needs less than their limits. */
const steps: readonly Step[] = [
  ['self-test', 'self-test', 'self-test', 60],
  ['right', 'check --logn 10,12,14,16 --case core --reps 1', 'check --logn 8 --case core --reps 1', 90],
  [
    'right, large',
    'check --logn 18,20 --case points=distinct,scalars=random --reps 2',
    'check --logn 12 --case points=distinct,scalars=random --reps 1',
    60,
  ],
  ['sizes', 'run --logn 10,12,14,16,18,20 --reps 7 --peers none', 'run --logn 10 --reps 2 --peers none', 120],
  [
    'coordinates',
    'run --logn 16,18 --reps 7 --walkercoords affine,xyzz --fieldproduct dot4,fma',
    'run --logn 10 --reps 2 --walkercoords affine,xyzz',
    90,
  ],
  [
    'tasks',
    'run --logn 18 --reps 5 --walkertasks 65536,131072,262144,524288 --walkerentries 8,16,32',
    'run --logn 10 --reps 2 --walkertasks 2048,4096',
    90,
  ],
  [
    'products',
    'run --logn 16 --reps 7 --fieldproduct unsigned,fma,dot4',
    'run --logn 10 --reps 3 --fieldproduct unsigned,fma',
    60,
  ],
  [
    'private against workgroup',
    'run --logn 16 --reps 12 --a.walkerpriv 1 --b.walkerpriv 0',
    'run --logn 10 --reps 4 --a.walkerpriv 1 --b.walkerpriv 0',
    60,
  ],
  ['field', 'field', 'field --reps 2 --ms 10', 90],
  [
    'transforms',
    'run --op ntt --logn 14,16,18,20 --reps 9 --peers none',
    'run --op ntt --logn 6 --reps 2 --peers none',
    90,
  ],
  [
    'proofs',
    'proofs --logn 12,14 --reps 6 --concurrency 1,5,10,20',
    'proofs --logn 8 --reps 2 --backend cpu --concurrency 2',
    180,
  ],
];

interface Done {
  readonly name: string;
  readonly ending: 'passed' | 'failed' | 'out of time';
  readonly seconds: number;
  readonly command: string;
  readonly output: string;
  readonly rows: unknown;
}

/** Runs a script of Node in a process with a time limit, and prints its output. */
const runNode = (args: readonly string[], mostMs: number): Promise<Pick<Done, 'ending' | 'output'>> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: mostMs, killSignal: 9 });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
        process.stdout.write(chunk);
      });
    child.on('close', (code, signal) =>
      resolve({ ending: signal === 'SIGKILL' ? 'out of time' : code === 0 ? 'passed' : 'failed', output }),
    );
  });

/** Formats the summary of a day as Markdown. */
const summaryOf = (done: readonly Done[], adapter: string, left: readonly string[]): string =>
  [
    `# A day with a GPU\n`,
    `${adapter || 'adapter unknown'} · commit ${commit()} · ${new Date().toISOString().slice(0, 16)} · Node ${process.version}\n`,
    table(
      ['step', 'ending', 'seconds'],
      [
        ...done.map(({ name, ending, seconds }) => [name, ending, seconds.toFixed(0)]),
        ...left.map((name) => [name, 'no time left', '']),
      ],
    ),
    ...done.map((step) => `\n## ${step.name}\n\n    ${step.command}\n\n\`\`\`text\n${step.output.trim()}\n\`\`\``),
    '',
  ].join('\n');

const stepNames = steps.map(([name]) => name).join(', ');

export const gpuDayCommand = command({
  about: 'runs all checks and measurements on a GPU that is lent for minutes',
  usage: `Runs all checks and measurements on a GPU, correctness first. Writes gpu-day.json (every row) and gpu-day.md (a summary).

usage: npm run bench -- gpu-day [options]`,
  options: {
    out: valued('DIR', 'folder of the results (default $OUT, else gpu-day)', anyText, process.env.OUT ?? 'gpu-day'),
    minutes: valued('9', 'the most time for all steps', integer(1, 600), 9),
    only: valued('right,sizes', 'only steps whose name begins with one of these words', listOf(anyText)),
    quick: flag('small sizes, for a rehearsal'),
    adapter: adapterOption,
  },
  notes: `Steps: ${stepNames}.

Exit code: 0 all steps passed · 1 a step failed, or no time was left for it · 2 bad usage`,
  async run({ out, minutes, only, quick, adapter = 'hardware' }) {
    const wanted = steps.filter(([name]) => only === undefined || only.some((word) => name.startsWith(word)));
    if (wanted.length === 0) throw new UsageError(`--only: no step begins with ${only}; the steps are ${stepNames}`);
    ensureBuilt('library');
    ensureBuilt('bench');
    mkdirSync(out, { recursive: true });
    const rowsFolder = mkdtempSync(join(tmpdir(), 'gpu-day-'));
    const end = performance.now() + minutes * 60_000;
    let adapterName = '';
    const done: Done[] = [];
    const left = wanted.map(([name]) => name);
    const write = () => {
      const told = { commit: commit(), adapter: adapterName, steps: done };
      writeFileSync(join(out, 'gpu-day.json'), `${JSON.stringify(told, null, 1)}\n`);
      writeFileSync(join(out, 'gpu-day.md'), summaryOf(done, adapterName, left));
    };
    for (const [name, args, small, mostS] of wanted) {
      const leftMs = end - performance.now();
      if (leftMs < 5000) break;
      const json = join(rowsFolder, `${name.replaceAll(/\W+/g, '-')}.json`);
      const own = quick ? small : args;
      // a mode that runs on the CPU takes no adapter
      const where = own.includes('--backend cpu') ? [] : ['--adapter', adapter];
      const line = [join(project, 'scripts/bench.mjs'), ...own.split(' '), ...where, '--json', json];
      console.log(`\n=== ${name}`);
      const begun = performance.now();
      const outcome = await runNode(line, Math.min(leftMs, mostS * (quick ? 4000 : 1000)));
      const rows = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : null;
      const seconds = (performance.now() - begun) / 1000;
      done.push({ name, ...outcome, seconds, command: `npm run bench -- ${own}`, rows });
      adapterName ||= /^adapter: (.*)$/m.exec(outcome.output)?.[1] ?? '';
      left.shift();
      write();
    }
    write();
    for (const { name, ending, seconds } of done) console.log(`${ending.padEnd(11)} ${seconds.toFixed(0)} s  ${name}`);
    if (left.length > 0) console.log(`no time for ${left.join(', ')}`);
    if (left.length > 0 || done.some(({ ending }) => ending !== 'passed')) process.exitCode = 1;
  },
});
