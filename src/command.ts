/** The command `webgpu-msm`: proofs, witnesses, verification, and facts about files, in a terminal. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { describeFile } from './command/describe-file.js';
import { packKey } from './command/pack.js';
import { backends, type Outcome, type ProveArguments, prove, type WitnessArguments, witness } from './command/prove.js';
import {
  type BeaconArguments,
  type CeremonyFile,
  type ContributeArguments,
  contributeTo,
  type ExportArguments,
  endByBeacon,
  entropySources,
  type ImportArguments,
  makeKey,
  makePowers,
  type NewArguments,
  type NewPowersArguments,
  preparePowers,
  type RespondArguments,
  readResponse,
  respond,
  type StepArguments,
  shortenPowers,
  type VerifyKeyArguments,
  type VerifyPowersArguments,
  verifyKeyFile,
  verifyPowersFile,
  writeChallenge,
  writeVerificationKey,
} from './command/set-up.js';
import { explainFailure, Terminal } from './command/terminal.js';
import { type VerifyArguments, verify } from './command/verify.js';
import { version } from './index.js';

/** Exit code for wrong usage, and for every failure. */
const FAILED = 2;

const exitCodes = `
Exit codes: 0 done, or the proof or key is valid; 1 it is not valid; 2 wrong usage or a failure.`;

const wasmHelp = 'program that circom writes, which computes witnesses';
const inputHelp = 'values of the input signals by name';
const ptauHelp = 'powers of tau, prepared for the second phase';
const outHelp = 'write the result there, whole or not at all';
const nameHelp = 'name, which the result keeps';
const jsonHelp = 'print the result as JSON';

/** Reads bytes, with M or G for 2^20 or 2^30 of them. */
const readBytes = (text: string): number => {
  const [, digits, unit = ''] = /^(\d{1,12})([MG]?)$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('Write bytes, or a number with M or G, such as 512M.');
  return Number(digits) * { '': 1, M: 2 ** 20, G: 2 ** 30 }[unit as '' | 'M' | 'G'];
};

const backendOption = (): Option =>
  new Option('--backend <name>', 'what computes; gpu needs the package webgpu in the current folder')
    .choices(backends)
    .default('auto');

/** Makes the reader of command lines. @param done takes the result of the command that ran */
const makeReader = (done: (outcome: Outcome) => void): Command => {
  const reader = new Command('webgpu-msm')
    .description('Proofs of circom circuits: Groth16, PLONK and FFLONK.')
    .version(version)
    .addHelpText('after', exitCodes)
    .exitOverride();
  reader
    .command('prove')
    .description('compute the witness of inputs, and prove with it')
    .requiredOption('--wasm <file>', wasmHelp)
    .requiredOption('--zkey <file>', 'proving key; its header names the proof system')
    .requiredOption('--input <file>', inputHelp)
    .option('--proof <file>', 'write the proof there; default: standard output')
    .option('--public <file>', 'write the public values there; default: standard output')
    .option('--verify', 'verify the proof before it is written')
    .addOption(backendOption())
    .option('--memory-limit <bytes>', 'most memory of the key and its proof, such as 512M', readBytes)
    .option('--json', jsonHelp)
    .action(async (given: ProveArguments) => done(await prove(given, new Terminal())));
  reader
    .command('witness')
    .description('compute the witness of inputs')
    .requiredOption('--wasm <file>', wasmHelp)
    .requiredOption('--input <file>', inputHelp)
    .requiredOption('--out <file>', 'write the .wtns file there; whoever reads it knows the inputs')
    .option('--json', jsonHelp)
    .action(async (given: WitnessArguments) => done(await witness(given, new Terminal())));
  reader
    .command('verify')
    .description('verify a proof')
    .requiredOption('--key <file>', 'verification_key.json of snarkjs, or a proving key')
    .requiredOption('--proof <file>', 'proof')
    .requiredOption('--public <file>', 'public values')
    .option('--json', jsonHelp)
    .action(async (given: VerifyArguments) => done(await verify(given, new Terminal())));
  reader
    .command('info')
    .description('say what a .zkey, compact key, .ptau, .wtns, .r1cs or .wasm file is')
    .argument('<file>')
    .option('--time', 'open a key of Groth16 and prove with random values, and say how long both take')
    .option('--json', jsonHelp)
    .action(async (path: string, { json, time }: { readonly json?: boolean; readonly time?: boolean }) =>
      done(await describeFile({ path, json, time }, new Terminal())),
    );
  for (const [step, what, outHelp] of [
    ['pack', 'write a key in about a third of its bytes, for downloads', 'default: FILE.compact.zkey'],
    ['unpack', 'write the .zkey that a compact key came from', 'default: FILE.zkey'],
  ] as const) {
    reader
      .command(step)
      .description(what)
      .argument('<file>')
      .argument('[out]', outHelp)
      .option('--json', jsonHelp)
      .action(async (file: string, out: string | undefined, { json }: { readonly json?: boolean }) =>
        done(await packKey(step, { file, out, json }, new Terminal())),
      );
  }
  addSetup(reader.command('setup').description('make powers of tau and keys, contribute, verify'), done);
  return reader;
};

const memoryOption = (): Option =>
  new Option('--memory-limit <bytes>', 'most memory of the step, such as 512M').argParser(readBytes);

/** Adds the options of steps that write a file. */
const addWriting = (step: Command, help = outHelp): Command =>
  step
    .requiredOption('--out <file>', help)
    .addOption(backendOption())
    .addOption(memoryOption())
    .option('--json', jsonHelp);

/** Adds the steps of a setup to its command. */
const addSetup = (setup: Command, done: (outcome: Outcome) => void): void => {
  addWriting(
    setup
      .command('new')
      .description('make the key of a circuit; of Groth16 the first, which nobody may use before a contribution')
      .addOption(
        new Option('--system <name>', 'proof system').choices(['groth16', 'plonk', 'fflonk']).default('groth16'),
      )
      .requiredOption('--r1cs <file>', 'constraints that circom writes')
      .requiredOption('--ptau <file>', ptauHelp),
  ).action(async (given: NewArguments) => done(await makeKey(given, new Terminal())));
  addCeremony(setup, 'zkey', done);
  setup
    .command('verify')
    .description('verify a key against its circuit, or its first key')
    .requiredOption('--zkey <file>', 'key')
    .requiredOption('--ptau <file>', ptauHelp)
    .option('--r1cs <file>', 'constraints of the circuit')
    .option('--initial <file>', 'first key, which is trusted to be of the circuit')
    .addOption(memoryOption())
    .option('--json', jsonHelp)
    .action(async (given: VerifyKeyArguments) => done(await verifyKeyFile(given, new Terminal())));
  setup
    .command('export')
    .description('write the verification key of a proving key')
    .requiredOption('--zkey <file>', 'proving key')
    .requiredOption('--out <file>', 'write the verification key there, as JSON')
    .action(async (given: ExportArguments) => done(await writeVerificationKey(given, new Terminal())));
  addBellman(setup, 'zkey', done);
  addPowers(setup.command('ptau').description('make powers of tau, which keys of many circuits share'), done);
};

/** Arguments in which an option names the file. */
type FileOf<Kind extends CeremonyFile, Given> = Omit<Given, 'file'> & Readonly<Record<Kind, string>>;

/** Adds challenges and responses of a kind of file. */
const addBellman = (parent: Command, kind: CeremonyFile, done: (outcome: Outcome) => void): void => {
  const bellman = parent.command('bellman').description('exchange files with other programs of a ceremony');
  const file = `--${kind} <file>`;
  addWriting(
    bellman
      .command('export')
      .description(`write ${kind === 'zkey' ? 'a Groth16 key' : 'powers of tau'} as a challenge`)
      .requiredOption(file, 'result of the contribution before'),
  ).action(async ({ [kind]: path, ...given }: FileOf<CeremonyFile, StepArguments>) =>
    done(await writeChallenge(kind, { ...given, file: path }, new Terminal())),
  );
  addWriting(
    bellman
      .command('contribute')
      .description('contribute randomness to a challenge')
      .requiredOption('--challenge <file>', 'challenge, which does not name its curve')
      .addOption(curveOption())
      .addOption(entropyOption()),
    'write the response there, whole or not at all',
  ).action(async ({ challenge, ...given }: Omit<RespondArguments, 'file'> & { readonly challenge: string }) =>
    done(await respond(kind, { ...given, file: challenge }, new Terminal())),
  );
  addWriting(
    bellman
      .command('import')
      .description('go on with a response')
      .requiredOption(file, 'file that the challenge was exported from')
      .requiredOption('--response <file>', 'response')
      .option('--name <text>', nameHelp),
  ).action(async ({ [kind]: path, ...given }: FileOf<CeremonyFile, ImportArguments>) =>
    done(await readResponse(kind, { ...given, file: path }, new Terminal())),
  );
};

const curveOption = (): Option =>
  new Option('--curve <name>', 'curve').choices(['bn254', 'bls12-381']).default('bn254');

const entropyOption = (): Option =>
  new Option(
    '--entropy <source>',
    "randomness beside that of the system; default: prompt on a terminal, else random, the system's alone",
  ).choices(entropySources);

/** Adds contributions and beacons to a file. */
const addCeremony = (parent: Command, kind: CeremonyFile, done: (outcome: Outcome) => void): void => {
  const file = `--${kind} <file>`;
  addWriting(
    parent
      .command('contribute')
      .description('contribute randomness')
      .requiredOption(file, 'result of the contribution before')
      .option('--name <text>', nameHelp)
      .addOption(entropyOption()),
  ).action(async ({ [kind]: path, ...given }: FileOf<CeremonyFile, ContributeArguments>) =>
    done(await contributeTo(kind, { ...given, file: path }, new Terminal())),
  );
  addWriting(
    parent
      .command('beacon')
      .description('end a ceremony by a public beacon')
      .requiredOption(file, 'result of the last contribution')
      .requiredOption('--beacon <hex>', 'value of the beacon, hexadecimal')
      .requiredOption('--iterations <n>', 'logarithm of the number of hashes, 10 to 63', Number)
      .option('--name <text>', nameHelp),
  ).action(async ({ [kind]: path, ...given }: FileOf<CeremonyFile, BeaconArguments>) =>
    done(await endByBeacon(kind, { ...given, file: path }, new Terminal())),
  );
};

/** Adds the steps of powers of tau to their command. */
const addPowers = (ptau: Command, done: (outcome: Outcome) => void): void => {
  const powerHelp = 'logarithm of the most constraints';
  addWriting(
    ptau
      .command('new')
      .description('make powers of tau without a contribution')
      .addOption(curveOption())
      .requiredOption('--power <n>', powerHelp, Number),
  ).action(async (given: NewPowersArguments) => done(await makePowers(given, new Terminal())));
  addCeremony(ptau, 'ptau', done);
  addBellman(ptau, 'ptau', done);
  addWriting(
    ptau
      .command('prepare')
      .description('prepare the powers for keys')
      .requiredOption('--ptau <file>', 'result of the last contribution'),
  ).action(async ({ ptau: file, ...given }: FileOf<'ptau', StepArguments>) =>
    done(await preparePowers({ ...given, file }, new Terminal())),
  );
  addWriting(
    ptau
      .command('truncate')
      .description('make powers of fewer constraints of prepared ones')
      .requiredOption('--ptau <file>', ptauHelp)
      .requiredOption('--power <n>', powerHelp, Number),
  ).action(async ({ ptau: file, ...given }: FileOf<'ptau', StepArguments & { readonly power: number }>) =>
    done(await shortenPowers({ ...given, file }, new Terminal())),
  );
  ptau
    .command('verify')
    .description('verify powers of tau')
    .requiredOption('--ptau <file>', 'powers of tau, prepared or not')
    .addOption(memoryOption())
    .option('--json', jsonHelp)
    .action(async ({ ptau: file, ...given }: FileOf<'ptau', VerifyPowersArguments>) =>
      done(await verifyPowersFile({ ...given, file }, new Terminal())),
    );
};

/**
 * Runs the command.
 *
 * @param words arguments, without those of Node
 * @returns the exit code
 */
export const run = async (words: readonly string[]): Promise<number> => {
  let code = 0;
  const reader = makeReader(({ output, exitCode }) => {
    process.stdout.write(output);
    code = exitCode;
  });
  try {
    await reader.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    // commander has printed its message, or the help that was asked for
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : FAILED;
    process.stderr.write(explainFailure(error));
    return FAILED;
  }
};
