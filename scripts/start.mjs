/**
 * `npm start`: BN254 MSMs by the built library on Dawn in Node, on the GPU or on the software adapter, each checked against noble: the
 * benchmark of `npm run bench`, told in short. Exits non-zero when any result is wrong.
 */
import { writeFileSync } from 'node:fs';
import { ensureBuilt, openBench, project } from './builds.mjs';
import {
  adapterOption,
  integer,
  listOf,
  onAdapter,
  outputFile,
  parseCommand,
  runCommand,
  size,
  valued,
} from './command-line.mjs';
import { runBench } from './run-bench.mjs';

const command = {
  usage: `Computes BN254 multi-scalar multiplications on the GPU, checks each, and prints what they took.

usage: npm start -- [options]`,
  options: {
    n: valued('1024,2^12,…', 'how many points; 2^k is understood (default 2^10,2^12,2^14)', listOf(size(1, 2 ** 22)), [
      2 ** 10,
      2 ** 12,
      2 ** 14,
    ]),
    reps: valued('3', 'timed repetitions of each, after a warm-up; the median is printed', integer(1, 1000), 3),
    seed: valued('1', 'of the points and the scalars', integer(0, 2 ** 32 - 1), 1),
    adapter: adapterOption,
    precompute: valued('1', 'multiples of each point that loadBases keeps', integer(1, 64), 1),
    budget: valued('256', 'memoryBudget in MiB; what needs more runs in groups and chunks', integer(1, 65_536), 256),
    json: valued('FILE', 'also writes every row to a file, as npm run bench does', outputFile),
  },
};

/** @param {import('./command-line.mjs').Values<typeof command.options>} options */
async function start({ n, reps, seed, precompute, budget, json }) {
  const library = await openBench();
  const { parseKnobs, toJson, summarise, tableLines, formatMs, formatBytes, partsOfWall, rowsOf, reportLines } =
    library;
  const query = new URLSearchParams({
    ...{ autorun: 'msm-bench', n: n.toSorted((a, b) => a - b).join(','), reps: String(reps), seed: String(seed) },
    ...{ precompute: String(precompute), budget: String(budget), peers: 'none', build: project },
  });
  const { rows, error } = await runBench(library, parseKnobs(query, 'terminal'), query.toString());
  if (json !== undefined) writeFileSync(json, toJson(rows));
  console.log(`${reportLines(rowsOf(rows, 'init'))[0] ?? ''}\n`);
  const timed = summarise(rows);
  const passes = new Map(timed.map((each) => [each, partsOfWall(each) ?? []]));
  const names = [...new Set([...passes.values()].flatMap((parts) => parts.map(({ name }) => name)))];
  /** A column for each n, as the phases are many and the sizes few. @type {[string, (each: (typeof timed)[0]) => string][]} */
  const lines = [
    ['n', (each) => each.n.toLocaleString('en')],
    [`wall, ms (median of ${reps})`, ({ medianMs }) => formatMs(medianMs)],
    ...names.map(
      (name) =>
        /** @type {(typeof lines)[0]} */ ([
          `  ${name}`,
          (each) => formatMs(passes.get(each)?.find((part) => part.name === name)?.ms ?? null),
        ]),
    ),
    ['cost, million products', ({ productEquivalents: cost }) => (cost === null ? '–' : (cost / 1e6).toPrecision(3))],
    ['scratch', ({ warmUp }) => formatBytes(warmUp?.scratchBytes ?? 0)],
    ['bases', ({ warmUp }) => formatBytes(warmUp?.basesBytes ?? 0)],
    ['agrees with noble', ({ wrong }) => (wrong ? 'NO' : 'yes')],
  ];
  console.log(tableLines(lines.map(([label, cell]) => [label, ...timed.map(cell)])).join('\n'));
  console.log(`
where the time goes: of the repetition in the middle
cost: the wall × the rate of a plain 13-bit field product, measured before and after; it moves by a tenth and more, as that rate is one of
50 ms and an MSM may take seconds (docs/performance.md)`);
  const compiled = timed[0]?.warmUp?.pipelines.toSorted((a, b) => b.ms - a.ms) ?? [];
  console.log(
    `compiled once, several at a time: ${compiled.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`).join(', ')}`,
  );
  if (timed.some(({ phases }) => phases === null)) {
    console.log('\n(this device has no timestamp-query, so there are no times of the phases)');
  }
  if (error !== null) {
    console.error(`\n${error}`);
    process.exitCode = 1;
  }
}

await runCommand(
  command,
  async () => {
    const options = parseCommand(command);
    ensureBuilt('build');
    ensureBuilt('build:bench');
    await onAdapter(options.adapter, () => start(options));
  },
  1,
);
