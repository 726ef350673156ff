/**
 * npm run bench -- keys --zkey circuit.zkey --witness circuit.wtns --limit 0,256 --reps 3
 * npm run bench -- keys --zkey circuit.zkey --witness circuit.wtns --pages
 *
 * Memory and times of keys of Groth16 from a file, each opened in a new process of Node, or in a page
 * of a new Chromium from its file inputs.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext } from 'playwright';
import { formatMs, tableLines } from '../dev/bench/format.js';
import { interleave } from '../dev/bench/measure.js';
import { median } from '../src/calibrate/statistics.js';
import { serveFolder } from '../tests/support/worker-place.js';
import { bytesOfBrowser, openProfile } from './browser/browser-memory.js';
import { ensureBuilt, project } from './builds.mjs';
import {
  anyText,
  command,
  flag,
  integer,
  listOf,
  outputFile,
  progress,
  size,
  UsageError,
  valued,
} from './command-line.js';

/** A run of a key. */
interface Run {
  readonly openMs: number;
  /** The longest time in which the caller's thread did nothing else while the key was opened, in milliseconds. */
  readonly longestMs: number;
  readonly proofMs: readonly number[];
  /** Most memory of the process or of the whole browser until the key was open, and until the last proof, in bytes. */
  readonly openBytes: number;
  readonly bytes: number;
}

/** What a run does. */
interface Task {
  readonly zkey: string;
  readonly witness: string;
  /** Options of `openProvingKey`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly proofs: number;
}

/** Opens a key and proves, where `openKey`, `witness`, `options`, `proofs` and `peak` are defined; leaves `run`. */
const measure = `
  let [longestMs, last, isOpen] = [0, performance.now(), false];
  const channel = new MessageChannel();
  // timers of pages have a least time, messages have none
  channel.port1.onmessage = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (!isOpen) setTimeout(() => channel.port2.postMessage(null));
  };
  const begun = performance.now();
  channel.port2.postMessage(null);
  const key = await openKey({ ...options, onWarning() {} });
  const openMs = performance.now() - begun;
  isOpen = true;
  longestMs = Math.max(longestMs, performance.now() - last);
  channel.port1.close();
  const openBytes = await peak();
  const proofMs = [];
  for (let turn = 0; turn < proofs; turn++) {
    const from = performance.now();
    await key.prove(witness);
    proofMs.push(performance.now() - from);
  }
  const run = { openMs, longestMs, proofMs, openBytes, bytes: await peak() };
  key.destroy();`;

const nodeProgram = `
  import { readFileSync } from 'node:fs';
  const { dist, zkey, witness: path, options, proofs } = JSON.parse(process.argv.at(-1));
  const { openProvingKey } = await import(dist + 'groth16.js');
  const { openFile } = await import(dist + 'node.js');
  const witness = await openFile(path);
  const openKey = async (all) => openProvingKey(await openFile(zkey), all);
  const peak = () => {
    try {
      return 1024 * Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    } catch {
      return 1024 * process.resourceUsage().maxRSS;
    }
  };
  ${measure}
  console.log(JSON.stringify(run));`;

const runInNode = (task: Task): Promise<Run> =>
  new Promise((resolve, reject) => {
    const dist = `${pathToFileURL(join(project, 'dist')).href}/`;
    const program = ['--input-type=module', '--eval', nodeProgram, '--', JSON.stringify({ ...task, dist })];
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [said, failed] = ['', ''];
    child.stdout.on('data', (text) => {
      said += text;
    });
    child.stderr.on('data', (text) => {
      failed += text;
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(JSON.parse(said)) : reject(new Error(failed))));
  });

const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>keys</title>
<input type="file" id="zkey"><input type="file" id="witness">
<script type="module">
  import { openProvingKey } from './dist/groth16.js';
  window.measure = async ({ options, proofs }) => {
    const [zkey, witness] = ['zkey', 'witness'].map((id) => document.getElementById(id).files[0]);
    const openKey = (all) => openProvingKey(zkey, all);
    const peak = () => window.peakOfBrowser();
    ${measure}
    return run;
  };
  window.isReady = true;
</script>`;

/** Milliseconds between two looks at the memory of a browser. */
const LOOK_MS = 100;

/** Time of all proofs of a page. */
const PAGE_MS = 30 * 60_000;

const runInPage = async ({ zkey, witness, ...task }: Task): Promise<Run> => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-keys-'));
  const profile = join(folder, 'profile');
  const site = join(folder, 'site');
  mkdirSync(site);
  symlinkSync(join(project, 'dist'), join(site, 'dist'));
  writeFileSync(join(site, 'index.html'), page);
  const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  const { server, origin } = await serveFolder(site, () => isolated);
  let context: BrowserContext | undefined;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, bytesOfBrowser(profile));
  }, LOOK_MS);
  try {
    context = await openProfile(profile);
    const opened = await context.newPage();
    opened.setDefaultTimeout(PAGE_MS);
    await opened.exposeFunction('peakOfBrowser', () => most);
    await opened.goto(`${origin}/index.html`);
    await opened.waitForFunction('window.isReady');
    await opened.setInputFiles('#zkey', zkey);
    await opened.setInputFiles('#witness', witness);
    most = 0;
    return await opened.evaluate(
      (given) => (globalThis as never as { measure(task: unknown): Promise<Run> }).measure(given),
      task,
    );
  } finally {
    clearInterval(timer);
    await context?.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const MEBIBYTE = 2 ** 20;

const mebibytes = (bytes: number): string => `${Math.round(bytes / MEBIBYTE)} MiB`;

/** Returns a line for each limit: medians of its runs. */
const report = (runs: ReadonlyMap<number, readonly Run[]>): string =>
  tableLines([
    ['limit', 'open', 'longest task', 'first proof', 'later', 'peak open', 'peak'],
    ...[...runs].map(([limit, all]) => {
      const middle = (of: (run: Run) => number): number => median(all.map(of)) as number;
      const later = all.flatMap(({ proofMs }) => proofMs.slice(1));
      return [
        limit === 0 ? 'default' : `${limit} MiB`,
        formatMs(middle(({ openMs }) => openMs)),
        formatMs(middle(({ longestMs }) => longestMs)),
        formatMs(middle(({ proofMs }) => proofMs[0] as number)),
        later.length === 0 ? '' : formatMs(median(later)),
        mebibytes(middle(({ openBytes }) => openBytes)),
        mebibytes(middle(({ bytes }) => bytes)),
      ];
    }),
  ]).join('\n');

export const keysCommand = command({
  about: 'memory and times of keys of Groth16 from a file, under limits of memory',
  usage: 'usage: npm run bench -- keys --zkey FILE --witness FILE [options]',
  options: {
    zkey: valued('FILE', 'a key of Groth16', anyText),
    witness: valued('FILE', 'its witness: a .wtns, or 32 little-endian bytes for each variable', anyText),
    limit: valued('0', 'memoryLimit in MiB, in turns; 0: the default', listOf(integer(0, 2 ** 20)), [0]),
    workers: valued('N', 'maxWorkers; the default is one less than there are cores', size(0, 1024)),
    proofs: valued('2', 'proofs of each run', integer(1, 99), 2),
    reps: valued('1', 'runs under each limit', integer(1, 99), 1),
    pages: flag('in pages of a browser, whose memory is that of all its processes; Linux alone'),
    json: valued('FILE', 'also write every run to a file', outputFile),
  },
  async run({ zkey, witness, limit: limits, workers, proofs, reps, pages, json }) {
    if (zkey === undefined || witness === undefined) throw new UsageError('--zkey and --witness are missing');
    if (pages && process.platform !== 'linux')
      throw new UsageError('--pages reads the memory of a browser on Linux alone');
    ensureBuilt('library');
    const runs = new Map(limits.map((limit) => [limit, [] as Run[]]));
    await interleave(limits, reps, {
      async take(limit) {
        progress(`memoryLimit ${limit === 0 ? 'default' : `${limit} MiB`}`);
        const options = {
          backend: 'cpu',
          ...(workers !== undefined && { maxWorkers: workers }),
          ...(limit > 0 && { memoryLimit: limit * MEBIBYTE }),
        };
        const task = { zkey: resolve(zkey), witness: resolve(witness), options, proofs };
        runs.get(limit)?.push(await (pages ? runInPage(task) : runInNode(task)));
      },
    });
    progress('');
    console.log(
      `${zkey}, ${reps} runs of ${proofs} proofs in turns, ${pages ? 'Chromium' : `Node ${process.version}`}`,
    );
    console.log(report(runs));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify([...runs], null, 2)}\n`);
  },
});
