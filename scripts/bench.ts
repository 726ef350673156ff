/**
 * npm run bench -- run --logn 10..18
 *
 * Runs the modes of the bench page in Node or in a remote browser, and the modes that only Node
 * has. Each mode is a module of dev/bench/modes/ that says its knobs, run and report: `proofs` is
 * dev/bench/modes/proofs.ts. Other commands are modules of scripts/.
 */

import { isList } from '../dev/bench/knob.js';
import { knobHelp, knobsOf, modeHelp, nearestKnobs, parseKnobs } from '../dev/bench/knobs.js';
import { modeOf } from '../dev/bench/modes.js';
import { settingKnobs } from '../dev/bench/settings.js';
import { circuitsCommand, setupsCommand } from './beside-snarkjs.js';
import {
  adapterOption,
  anyText,
  type Option,
  type Options,
  onAdapter,
  oneOf,
  outputFile,
  readOptions,
  refusalsAsUsage,
  repeatable,
  runCommand,
  runSubcommand,
  type Subcommand,
  subcommand,
  UsageError,
  type Values,
  valued,
} from './command-line.js';
import { countCommand } from './count.js';
import { gpuDayCommand, selfTestCommand } from './gpu-day.js';
import { keysCommand } from './key-memory.js';
import { benchRemotely, remoteNotes, remoteOptions } from './remote.js';
import { findLibrary, reportBench } from './run-bench.js';

const outputs = { json: valued('FILE', 'write every row as JSON, as the page posts them', outputFile) };

const ofRun = {
  phase: valued('msm', 'msm (the default), or load to time the loading of points', oneOf('msm', 'load')),
  op: valued('msm', 'msm (the default), or ntt to time transforms', oneOf('msm', 'ntt')),
  trace: valued('[FILE]', 'show the passes of one MSM; FILE gets a trace for https://ui.perfetto.dev', anyText),
};

const { adapter: remoteAdapter, json: _, ...onlyRemote } = remoteOptions;

/** Options of all modes, besides their knobs. The adapter of a remote browser has other values. */
const others = { ...outputs, ...ofRun, ...onlyRemote, adapter: adapterOption };

/** Modes of commands that have one; `run` chooses its mode by its options. */
const modesOfCommands: Readonly<Record<string, string>> = {
  check: 'msm-cross-check',
  proof: 'proof',
  proofs: 'proofs',
  field: 'field-bench',
  calibrate: 'calibrate',
};

/** Modes of `run`, with the options that choose them. */
const runModes: Readonly<Record<string, string>> = {
  'msm-bench': 'one setting',
  'accum-ab': 'two settings: --a.KNOB, --b.KNOB',
  sweep: 'every combination of knobs with lists: --walkertpb 32,64',
  'msm-trace': '--trace',
  loading: '--phase load',
  transforms: '--op ntt',
};

type Knob = readonly [name: string, text: string];

function modeOfRun({ phase, op, trace }: Partial<Values<typeof others>>, knobs: readonly Knob[]): string {
  if (phase === 'load') return 'loading';
  if (op === 'ntt') return 'transforms';
  if (trace !== undefined) return 'msm-trace';
  if (knobs.some(([name]) => /^[ab]\./.test(name))) return 'accum-ab';
  const isSwept = knobs.some(([name, text]) => settingKnobs.includes(name) && name !== 'build' && isList(text));
  return isSwept ? 'sweep' : 'msm-bench';
}

/** Returns an option for each knob of a mode. @param mode null for the knobs of all modes */
export const knobOptions = (mode: string | null): Record<string, Option<string[]>> =>
  Object.fromEntries(
    knobsOf(mode).map((name) => {
      const help = knobHelp(mode, name.replace(/^[ab]\./, ''));
      return [name, repeatable(name.endsWith('build') ? 'DIR' : '…', help)];
    }),
  );

/**
 * Reads the arguments of a mode.
 *
 * @param named null for `run`, whose options choose the mode
 * @throws UsageError
 */
function readRun(named: string | null, args: readonly string[]) {
  const isRemote = args.some((arg) => /^--connect(=|$)/.test(arg));
  const given = readKnown({ ...knobOptions(null), ...others, ...(isRemote && { adapter: remoteAdapter }) }, args);
  const isOther = (name: string): boolean => Object.hasOwn(others, name);
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => isOther(name))) as Values<typeof others>;
  const knobs = Object.entries(given as object as Record<string, string[]>).flatMap(([name, texts]): Knob[] =>
    isOther(name) ? [] : texts.map((text) => [name, text]),
  );
  const mode = named ?? modeOfRun(own, knobs);
  if (own.trace !== undefined && mode !== 'msm-trace') throw new UsageError(`--trace: not used by ${mode}`);
  if (own.trace) outputFile(own.trace, 'trace');
  const query = new URLSearchParams([['autorun', mode], ...knobs.map((pair) => [...pair])]);
  // the page's errors begin with the name of the knob
  const read = refusalsAsUsage(
    () => parseKnobs(query, isRemote ? 'page' : 'terminal'),
    (message) => message.replaceAll(/^/gm, '--'),
  );
  for (const { build } of read.settings) if (build !== null) findLibrary(build, 'build');
  return { read, query, mode, own };
}

/** Reads options. A mistyped knob gets the suggestion that the page gives. */
function readKnown<Table extends Options>(options: Table, args: readonly string[]): Values<Table> {
  try {
    return readOptions(options, args);
  } catch (error) {
    const name = /^unknown option '--([\w.-]+)/.exec((error as Error).message)?.[1];
    const near = name === undefined ? [] : nearestKnobs(name);
    if (near.length === 0) throw error;
    throw new UsageError(`--${name}: no such knob; did you mean --${near.join(' or --')}?`);
  }
}

async function run(named: string | null, args: readonly string[]): Promise<void> {
  const { read, query, mode, own } = readRun(named, args);
  const { adapter, connect } = own;
  if (connect !== undefined) return benchRemotely(own as unknown as Values<typeof remoteOptions>, query);
  const measure = () => reportBench(read, query, own);
  if (read.opensGpu) return onAdapter(adapter, measure);
  if (adapter !== undefined) {
    const why = read.settings.some(({ backend }) => backend === 'cpu') ? ' --backend cpu' : '';
    throw new UsageError(`--adapter: ${mode}${why} runs on the CPU and takes no adapter`);
  }
  return measure();
}

/** Returns the command of some modes. @param mode null for `run` */
function ofModes(name: string, about: string, mode: string | null): Subcommand {
  const modes = mode === null ? Object.keys(runModes) : [mode];
  const lines = modes.flatMap((each) => [
    ...(mode === null ? [`${each} (${runModes[each]})`] : []),
    ...modeHelp(each),
    '',
  ]);
  const all = Object.entries(Object.assign({}, ...modes.map(knobOptions)) as Options);
  const knobs = Object.fromEntries(all.filter(([knob]) => knob !== 'autorun' && !knob.includes('.')));
  const [first, last] = mode === null ? [ofRun, onlyRemote] : [{}, {}];
  const help = {
    usage: `${lines.join('\n')}\nusage: npm run bench -- ${name} [options]`,
    options: { ...first, ...knobs, ...outputs, adapter: adapterOption, ...last } as Options,
    notes: [
      'Exit code: 0 all results right · 1 a wrong result or a failure · 2 bad usage',
      ...(mode === null ? [remoteNotes] : []),
    ].join('\n'),
  };
  return {
    about,
    async run(args) {
      const work = () => run(mode, args);
      await runCommand({ ...help, run: work }, work);
    },
  };
}

const aboutRun =
  'times MSMs: one setting, two settings, or every combination of lists; with --trace its passes, with --op ntt transforms';

export const bench = (): Promise<void> =>
  runSubcommand(
    `Runs the bench of the page in Node, with the same knobs, rows and statistics, or in a remote browser.

usage: npm run bench -- COMMAND [options]`,
    {
      run: ofModes('run', aboutRun, null),
      ...Object.fromEntries(
        Object.entries(modesOfCommands).map(([name, mode]) => [name, ofModes(name, modeOf(mode).about, mode)]),
      ),
      count: subcommand(countCommand),
      setups: subcommand(setupsCommand),
      circuits: subcommand(circuitsCommand),
      keys: subcommand(keysCommand),
      'gpu-day': subcommand(gpuDayCommand),
      'self-test': subcommand(selfTestCommand),
    },
  );
