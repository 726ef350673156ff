/**
 * npm --prefix tools/isa start -- --gpu navi31,ampere --kernels walk,product
 *
 * Compiles the kernels with the compilers of real chips and prints the statistics of their drivers:
 * instructions, registers, spills, private memory, waves, the estimated time, bytes of code, and
 * seconds of compiling. Nothing is executed. Two settings may be compared, as in `bench run`.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ownLibrary } from '../../dev/bench/bench-setup.js';
import { parseKnobs } from '../../dev/bench/knobs.js';
import { type Setting, settingKnobs } from '../../dev/bench/settings.js';
import { knobOptions } from '../../scripts/bench.js';
import {
  anyText,
  command,
  flag,
  listOf,
  type Option,
  oneOf,
  outputFile,
  progress,
  refusalsAsUsage,
  runCommand,
  UsageError,
  valued,
} from '../../scripts/command-line.js';
import { writeSection } from '../../scripts/docs-section.js';
import { openLibrary } from '../../scripts/run-bench.js';
import {
  type Chip,
  type ChipName,
  chipNames,
  chips,
  driverOf,
  figuresOf,
  type Statistics,
  takesVulkanMemoryModel,
} from './chips.js';
import { assertCompilers, assertSomeCompilers, nvidiaStatisticsOf, statisticsOf, toSpirv } from './compilers.js';
import { type ChipKernel, curves, fieldKernels, setupKernels, stageKernels, vectorKernels } from './kernels.js';
import { chipReport, docsTable, kernelsOfTable, sourcesOf, tableChips } from './report.js';

const DEFAULT_CHIPS = ['navi31', 'ampere'];

const own = {
  gpu: valued('navi31', `chips (default ${DEFAULT_CHIPS}); a wrong name lists them all`, listOf(anyText)),
  kernels: valued('walk,product', 'only kernels whose name contains one of these words', listOf(anyText), ['']),
  curve: valued('bls12-381', 'the curve (default bn254)', oneOf(...(Object.keys(curves) as (keyof typeof curves)[]))),
  write: flag('write the tables of docs/reference; only --json may be given with it'),
  json: valued('FILE', 'also write all statistics of the drivers to a file', outputFile),
};

/** Curves that setups have. */
const scaledCurves: readonly (keyof typeof curves)[] = ['bn254', 'bls12-381', 'bn254-g2', 'bls12-381-g2'];

const settingOptions = Object.fromEntries(
  Object.entries(knobOptions('accum-ab')).filter(([name]) => settingKnobs.includes(name.replace(/^[ab]\./, ''))),
) as Record<string, Option<string[]>>;

function readSettings(knobs: Readonly<Record<string, readonly string[]>>): readonly Setting[] {
  const pairs = Object.entries(knobs).flatMap(([name, texts]) => texts.map((text) => [name, text]));
  const sides = pairs.some(([name = '']) => /^[ab]\./.test(name));
  const query = new URLSearchParams([['autorun', sides ? 'accum-ab' : 'msm-bench'], ...pairs]);
  return refusalsAsUsage(
    () => parseKnobs(query, 'terminal').settings,
    (message) => message.replaceAll(/^/gm, '--'),
  );
}

async function choose(
  chosen: readonly ChipName[],
  settings: readonly Setting[],
  curveName: keyof typeof curves,
  words: readonly string[],
) {
  const curve = curves[curveName];
  // another build has no field kernels
  const stagesOnly = settings.some(({ build }) => build !== null);
  const wanted = [];
  for (const chip of chosen) {
    for (const [side, setting] of settings.entries()) {
      const { build, tuning } = setting;
      const library = build === null ? ownLibrary(setting) : await openLibrary(build);
      const all = await stageKernels(library, chip, curve, tuning);
      if (!stagesOnly && curveName === 'bn254') all.push(...(await vectorKernels(chip)));
      if (!stagesOnly && scaledCurves.includes(curveName)) all.push(...(await setupKernels(chip, curve)));
      if (!stagesOnly) all.push(...(await fieldKernels(chip, curve)));
      const kernels = all.filter(({ title }) => words.some((word) => title.includes(word)));
      if (kernels.length === 0) {
        const names = all.map(({ title }) => title).join('; ');
        throw new UsageError(`--kernels: no name contains one of ${words}; the names are ${names}`);
      }
      wanted.push({ chip, side, kernels });
    }
  }
  return wanted;
}

/** Kernels to compile for a chip, with one of the settings. */
interface Wanted {
  readonly chip: ChipName;
  readonly side: number;
  readonly kernels: readonly ChipKernel[];
}

/** A compiled kernel; `statistics` is null if the compiler reached its CPU limit. */
interface Compiled {
  readonly chip: ChipName;
  readonly side: number;
  readonly kernel: string;
  readonly statistics: Statistics | null;
}

/** Compilers that run at a time. */
const AT_ONCE = 2;

/** Maps items in parallel, AT_ONCE at a time, and keeps their order. */
async function someAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [i, item] of left) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

async function measure(wanted: readonly Wanted[]) {
  progress('Dawn compiles to SPIR-V …');
  const all: (Omit<Compiled, 'statistics'> & { compile: () => Promise<Compiled['statistics']> })[] = [];
  for (const { chip, side, kernels } of wanted) {
    const { sm } = chips[chip] as Chip;
    const paths = sm === undefined ? await toSpirv(kernels, takesVulkanMemoryModel(chip)) : [];
    for (const [i, kernel] of kernels.entries()) {
      const compile = () =>
        sm === undefined ? statisticsOf(chip, paths[i] as string) : nvidiaStatisticsOf(sm, kernel);
      all.push({ chip, side, kernel: kernel.title, compile });
    }
  }
  let begun = 0;
  const compiled = await someAtATime(all, async ({ compile, ...which }) => {
    progress(`${++begun} of ${all.length}: ${which.kernel} on ${which.chip} …`);
    return { ...which, statistics: await compile() };
  });
  progress('');
  const sides = [...new Set(wanted.map(({ side }) => side))];
  const distinct = new Map(compiled.map((one) => [`${one.chip} ${one.kernel}`, one]));
  const rows = [...distinct.values()].map(({ chip, kernel }) => ({
    chip,
    kernel,
    figures: sides.map((side) => {
      const found = compiled.find((each) => each.chip === chip && each.kernel === kernel && each.side === side);
      return found?.statistics ? figuresOf(chip, found.statistics) : null;
    }),
  }));
  const drivers = new Map<ChipName, string>();
  for (const { chip, statistics } of compiled) if (statistics !== null) drivers.set(chip, driverOf(statistics));
  return { compiled, rows, drivers };
}

/** Compiles the kernels of the table in docs/reference/chips.md, and writes it. */
async function writeTable() {
  const kernels = new Map<ChipName, ChipKernel[]>();
  for (const chip of tableChips) kernels.set(chip, await kernelsOfTable(chip));
  const { compiled, rows, drivers } = await measure(
    [...kernels].map(([chip, own]) => ({ chip, side: 0, kernels: own })),
  );
  writeSection('docs/reference/chips.md', 'isa', docsTable(await sourcesOf(kernels), rows, drivers));
  return compiled;
}

const compile = command({
  usage: 'usage: npm --prefix tools/isa start -- [options]',
  options: { ...own, ...settingOptions },
  notes: 'Exit code: 0 done · 1 a kernel does not compile · 2 bad usage, or the compilers are not installed',
  async run({ gpu, kernels: words, curve = 'bn254', write, json, ...knobs }) {
    assertSomeCompilers();
    const settings = readSettings(knobs);
    const [first, second] = settings.map(({ name }) => name);
    const isPlain = second === undefined && first === 'defaults' && gpu === undefined && curve === 'bn254';
    if (write && !(isPlain && words.includes('')))
      throw new UsageError('--write: the table has fixed chips, kernels and settings; leave the other options out');
    const wanted = (gpu ?? DEFAULT_CHIPS).map((name) => {
      const chip = chipNames.find((each) => each === name);
      if (chip === undefined) throw new UsageError(`--gpu: '${name}' is not one of ${chipNames.join(', ')}`);
      return chip;
    });
    assertCompilers((write ? tableChips : wanted).map((name) => chips[name]));
    let compiled: readonly Compiled[];
    if (write) compiled = await writeTable();
    else {
      const measured = await measure(await choose(wanted, settings, curve, words));
      compiled = measured.compiled;
      console.log(second === undefined ? `${curve}, ${first}` : `${curve}\nA: ${first}\nB: ${second}`);
      console.log(chipReport(measured.rows, measured.drivers).join('\n'));
    }
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(compiled, null, 2)}\n`);
  },
});

// npm starts a script in the folder of its package, but paths among the options are the caller's
const { INIT_CWD } = process.env;
if (INIT_CWD !== undefined && relative(import.meta.dirname, process.cwd()) === '') process.chdir(INIT_CWD);
await runCommand(compile);
