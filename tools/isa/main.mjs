/**
 * npm --prefix tools/isa start -- --gpu navi31,ampere --kernels walk,product
 *
 * Compiles the kernels with the compilers of real chips and prints the statistics of their drivers:
 * instructions, registers, spills, private memory, waves, the estimated time, bytes of code, and
 * seconds of compiling. Nothing is executed. Two settings may be compared, as in `bench run`.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { openIsa, openLibrary } from '../../scripts/builds.mjs';
import {
  anyText,
  asksForHelp,
  flag,
  listOf,
  oneOf,
  outputFile,
  readArguments,
  refusalsAsUsage,
  runCommand,
  UsageError,
  valued,
} from '../../scripts/command-line.mjs';
import { writeSection } from '../../scripts/docs-section.mjs';
import { knobOptions } from '../../scripts/knob-options.mjs';
import { assertCompilers, assertSomeCompilers } from './compilers.mjs';
import { measure } from './measure.mjs';

/** @typedef {import('../../scripts/builds.mjs').Isa} Isa */
/** @typedef {import('./chips.js').ChipName} ChipName */
/** @typedef {import('../../dev/bench/settings.js').Setting} Setting */
/** @typedef {keyof Isa['curves']} CurveName */

const DEFAULT_CHIPS = ['navi31', 'ampere'];

const own = {
  gpu: valued('navi31', `chips (default ${DEFAULT_CHIPS}); a wrong name lists them all`, listOf(anyText)),
  kernels: valued('walk,product', 'only kernels whose name contains one of these words', listOf(anyText), ['']),
  curve: valued(
    'bls12-381',
    'the curve (default bn254)',
    oneOf('bn254', 'bls12-381', 'p256', 'secp192r1', 'bn254-g2', 'bls12-381-g2', 'bls12-377-g2'),
  ),
  write: flag('write the tables of docs/reference; only --json may be given with it'),
  json: valued('FILE', 'also write all statistics of the drivers to a file', outputFile),
};

const command = {
  usage: 'usage: npm --prefix tools/isa start -- [options]',
  options: own,
  notes: 'Exit code: 0 done · 1 a kernel does not compile · 2 bad usage, or the compilers are not installed',
};

/** Returns options for the knobs that make a setting. @param {Isa} isa */
function settingOptions(isa) {
  const all = Object.entries(knobOptions(isa, 'accum-ab'));
  return /** @type {Record<string, import('../../scripts/command-line.mjs').Option<string[]>>} */ (
    Object.fromEntries(all.filter(([name]) => isa.settingKnobs.includes(name.replace(/^[ab]\./, ''))))
  );
}

/**
 * Reads the settings of A and B, or the only setting.
 *
 * @param {Isa} isa
 * @param {Readonly<Record<string, readonly string[]>>} knobs
 * @returns {readonly Setting[]}
 */
function readSettings({ parseKnobs }, knobs) {
  const pairs = Object.entries(knobs).flatMap(([name, texts]) => texts.map((text) => [name, text]));
  const sides = pairs.some(([name = '']) => /^[ab]\./.test(name));
  const query = new URLSearchParams([['autorun', sides ? 'accum-ab' : 'msm-bench'], ...pairs]);
  return refusalsAsUsage(
    () => parseKnobs(query, 'terminal').settings,
    (message) => message.replaceAll(/^/gm, '--'),
  );
}

/**
 * Chooses the kernels of each chip with each setting.
 *
 * @param {Isa} isa
 * @param {readonly ChipName[]} chips
 * @param {readonly Setting[]} settings
 * @param {CurveName} curveName
 * @param {readonly string[]} words
 */
async function choose(
  { stageKernels, fieldKernels, vectorKernels, ownLibrary, curves },
  chips,
  settings,
  curveName,
  words,
) {
  const curve = curves[curveName];
  // another build has no field kernels
  const stagesOnly = settings.some(({ build }) => build !== null);
  const wanted = [];
  for (const chip of chips) {
    for (const [side, setting] of settings.entries()) {
      const { build, tuning } = setting;
      const library = build === null ? ownLibrary(setting) : await openLibrary(build);
      const all = await stageKernels(library, chip, curve, tuning);
      if (!stagesOnly && curveName === 'bn254') all.push(...(await vectorKernels(chip)));
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

/**
 * Compiles the kernels of the table in docs/reference/chips.md, and writes it and the predictions.
 *
 * @param {Isa} isa
 */
async function writeTable(isa) {
  const { tableChips, kernelsOfTable, sourcesOf, docsTable, cards, kernelsOfPrediction } = isa;
  /** @type {Map<ChipName, import('./kernels.js').ChipKernel[]>} */
  const kernels = new Map();
  for (const chip of tableChips) kernels.set(chip, await kernelsOfTable(chip));
  const { compiled, rows, drivers } = await measure(
    isa,
    [...kernels].map(([chip, own]) => ({ chip, side: 0, kernels: own })),
  );
  writeSection('docs/reference/chips.md', 'isa', docsTable(await sourcesOf(kernels), rows, drivers));
  const more = [];
  for (const { chip } of cards) {
    if (kernels.has(chip)) continue;
    const names = Object.values(kernelsOfPrediction(chip));
    more.push({ chip, side: 0, kernels: (await kernelsOfTable(chip)).filter(({ title }) => names.includes(title)) });
  }
  const all = [...compiled, ...(await measure(isa, more)).compiled];
  writeSection('docs/reference/performance.md', 'isa', isa.predictionTable(isa.cyclesOfCards(all)));
  return compiled;
}

/** Compiles kernels and prints the report. @param {readonly string[]} args */
async function compile(args) {
  // missing compilers are reported before a build
  assertSomeCompilers();
  const isa = await openIsa();
  const { values, words: more } = readArguments({ ...own, ...settingOptions(isa) }, args);
  const { gpu, kernels: words, curve = 'bn254', write, json, ...knobs } = values;
  if (more.length > 0) throw new UsageError(`'${more[0]}' belongs to no option`);
  const settings = readSettings(isa, knobs);
  const [first, second] = settings.map(({ name }) => name);
  const isPlain = second === undefined && first === 'defaults' && gpu === undefined && curve === 'bn254';
  if (write && !(isPlain && words.includes('')))
    throw new UsageError('--write: the table has fixed chips, kernels and settings; leave the other options out');
  const chips = (gpu ?? DEFAULT_CHIPS).map((name) => {
    const chip = isa.chipNames.find((each) => each === name);
    if (chip === undefined) throw new UsageError(`--gpu: '${name}' is not one of ${isa.chipNames.join(', ')}`);
    return chip;
  });
  assertCompilers((write ? isa.tableChips : chips).map((name) => isa.chips[name]));
  /** @type {readonly import('./measure.mjs').Compiled[]} */
  let compiled;
  if (write) compiled = await writeTable(isa);
  else {
    const measured = await measure(isa, await choose(isa, chips, settings, curve, words));
    compiled = measured.compiled;
    console.log(second === undefined ? `${curve}, ${first}` : `${curve}\nA: ${first}\nB: ${second}`);
    console.log(isa.chipReport(measured.rows, measured.drivers).join('\n'));
  }
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(compiled, null, 2)}\n`);
}

// npm starts a script in the folder of its package, but paths among the options are the caller's
const { INIT_CWD } = process.env;
if (INIT_CWD !== undefined && relative(import.meta.dirname, process.cwd()) === '') process.chdir(INIT_CWD);
const args = process.argv.slice(2);
const knobs = asksForHelp(args) ? settingOptions(await openIsa()) : {};
await runCommand({ ...command, options: { ...own, ...knobs } }, () => compile(args));
