/** `webgpu-msm info`: facts about a file, by the letters with which it begins. */
import { randomFillSync } from 'node:crypto';
import { openAnyKey } from '../circom/any-key.js';
import { openCircuit } from '../circom.js';
import { Fields, ORDER_BYTES, openSnarkjsFile, orderOf, readSections, sectionOf } from '../formats/binfile.js';
import { openCompact } from '../formats/compact-source.js';
import { COMPACT_MAGIC, openFile, readRange } from '../formats/source.js';
import { fileOf, loadedBytes, type Zkey } from '../formats/zkey.js';
import { openPtau, openZkey } from '../formats.js';
import { MsmError } from '../index.js';
import { type DiskFile, openFile as openDiskFile } from '../node.js';
import { readContributions } from '../setup/contributions.js';
import { openGroups } from '../setup/groups.js';
import type { Outcome } from './prove.js';
import { titleOf } from './set-up.js';
import type { Terminal } from './terminal.js';

/** Facts by name, in the order in which they are printed. */
type Facts = Readonly<Record<string, string | number | readonly string[]>>;

/** Arguments of `info`. */
interface InfoArguments {
  readonly path: string;
  readonly json: boolean | undefined;
  /** True to open a key and prove twice, and to say how long the opening and the second proof take. */
  readonly time: boolean | undefined;
}

type Describe = (file: DiskFile, terminal: Terminal, time: boolean) => Promise<Facts>;

const curves = ['bn254', 'bls12-381'] as const;

/** Returns the curve of a scalar field, or the prime where no curve here has it. */
const fieldFacts = (prime: bigint): Facts => {
  const curve = curves.find((name) => orderOf(name) === prime);
  return curve === undefined ? { prime: String(prime) } : { curve };
};

/** Returns a line for each contribution to a key. */
const contributionLines = async (zkey: Zkey): Promise<string[]> => {
  const { all } = await readContributions(fileOf(zkey), await openGroups(zkey.curve));
  return all.map(({ name, beacon }) => titleOf({ name, iterations: beacon?.iterations ?? null }));
};

/** Bytes that are drawn at a time: Node draws fewer than 2^31. */
const MOST_RANDOM_BYTES = 2 ** 30;

/**
 * Returns the bytes of a witness of random values, which no circuit need accept: a proof of it takes as
 * long as one that verifies.
 */
const drawWitness = (variables: number): Uint8Array<ArrayBuffer> => {
  const witness = new Uint8Array(variables * ORDER_BYTES);
  for (let at = 0; at < witness.length; at += MOST_RANDOM_BYTES) {
    randomFillSync(witness.subarray(at, at + MOST_RANDOM_BYTES));
  }
  // below 2^253, and so below the primes of both curves
  for (let top = ORDER_BYTES - 1; top < witness.length; top += ORDER_BYTES) witness[top] = (witness[top] ?? 0) & 31;
  // the constant 1
  witness.fill(0, 0, ORDER_BYTES).fill(1, 0, 1);
  return witness;
};

/** Times a key of Groth16: its opening, and the second proof, as the first one compiles. */
const timeProof = async (file: DiskFile, variables: number): Promise<Facts> => {
  const begun = performance.now();
  const { key } = await openAnyKey(file, { onWarning: () => undefined }, () => undefined);
  try {
    const openMs = Math.round(performance.now() - begun);
    const witness = drawWitness(variables);
    await key.prove(witness);
    const proving = performance.now();
    await key.prove(witness);
    return { openMs, proofMs: Math.round(performance.now() - proving) };
  } finally {
    key.destroy();
  }
};

const describeZkey: Describe = async (file, { warn }, time) => {
  const zkey = await openZkey(file, { onWarning: warn });
  const { protocol, curve, variables, publicSignals, domainSize } = zkey;
  const facts = {
    ...{ format: 'zkey', protocol, curve, variables, publicSignals, domainSize },
    ...{ loadedBytes: loadedBytes(zkey), witnessBytes: variables * ORDER_BYTES },
  };
  if (time && protocol !== 'groth16') {
    throw new MsmError('bad-argument', `--time is for keys of groth16, and this is a key of ${protocol}`);
  }
  return {
    ...facts,
    ...(time && (await timeProof(file, variables))),
    ...(protocol === 'groth16' && { contributions: await contributionLines(zkey) }),
  };
};

const describeCompact: Describe = async (file, terminal, time) => {
  const { byteLength, sha256 } = await openCompact(openFile('zkey', file));
  const { format, ...facts } = await describeZkey(file, terminal, time);
  return { format: `compact ${format}`, ...facts, zkeyBytes: byteLength, statedZkeySha256: sha256 };
};

const describePtau: Describe = async (file, { warn }) => {
  const { curve, power, ceremonyPower } = await openPtau(file, { onWarning: warn });
  return { format: 'ptau', curve, power, mostConstraints: 2 ** power, ceremonyPower };
};

/** The newest versions of the formats. */
const newest = { wtns: 2, r1cs: 1 } as const;

/** Reads the header of a file, up to the prime of its field. @throws MsmError `bad-argument` */
const readHeader = async (
  format: 'wtns' | 'r1cs',
  source: DiskFile,
  onWarning: (message: string) => void,
): Promise<{ readonly header: Fields; readonly prime: bigint }> => {
  const { file, warn } = openSnarkjsFile(format, source, { onWarning });
  const sections = await readSections(file, format, newest[format], warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const bytes = header.u32();
  if (bytes === 0 || bytes > ORDER_BYTES) {
    throw new MsmError(
      'bad-argument',
      `${format}: the header has a prime of ${bytes} bytes; ${ORDER_BYTES} are the most`,
    );
  }
  return { header, prime: header.number(bytes) };
};

const describeWtns: Describe = async (file, { warn }) => {
  const { header, prime } = await readHeader('wtns', file, warn);
  return { format: 'wtns', ...fieldFacts(prime), values: header.u32() };
};

const describeR1cs: Describe = async (file, { warn }) => {
  const { header, prime } = await readHeader('r1cs', file, warn);
  const [variables, outputs, publicInputs, privateInputs] = [header.u32(), header.u32(), header.u32(), header.u32()];
  const labels = Number(header.number(8));
  const constraints = header.u32();
  return {
    format: 'r1cs',
    ...fieldFacts(prime),
    ...{ constraints, variables, outputs, publicInputs, privateInputs, labels },
  };
};

const describeWasm: Describe = async (file) => {
  const circuit = await openCircuit({ wasm: file }, { worker: false });
  const { prime, values } = circuit;
  circuit.destroy();
  return { format: 'wasm', ...fieldFacts(prime), values };
};

/** Formats by the letters with which their files begin. */
const formats: ReadonlyMap<string, Describe> = new Map([
  ['zkey', describeZkey],
  [COMPACT_MAGIC, describeCompact],
  ['ptau', describePtau],
  ['wtns', describeWtns],
  ['r1cs', describeR1cs],
  ['\0asm', describeWasm],
]);

const MAGIC_BYTES = 4;

/** Prints facts about a file: never values of a witness. */
export const describeFile = async (
  { path, json, time = false }: InfoArguments,
  terminal: Terminal,
): Promise<Outcome> => {
  const disk = await openDiskFile(path);
  const head = await readRange(openFile('file', disk), 0, Math.min(MAGIC_BYTES, disk.byteLength));
  const describe = formats.get(new TextDecoder().decode(head));
  if (describe === undefined) {
    throw new MsmError(
      'bad-argument',
      `${path} is no .zkey, compact key, .ptau, .wtns, .r1cs or .wasm file; name one of these`,
    );
  }
  if (time && describe !== describeZkey && describe !== describeCompact) {
    throw new MsmError('bad-argument', `--time is for proving keys of groth16, and ${path} is none`);
  }
  const facts: Facts = { ...(await describe(disk, terminal, time)), byteLength: disk.byteLength };
  return { output: json ? `${JSON.stringify(facts)}\n` : linesOf(facts), exitCode: 0 };
};

/** Returns a line for each fact, and one for each entry of a list. */
const linesOf = (facts: Facts): string =>
  Object.entries(facts)
    .map(([name, value]) =>
      typeof value === 'object'
        ? `${name}: ${value.length}\n${value.map((each, i) => `  ${i + 1}. ${each}\n`).join('')}`
        : `${name}: ${value}\n`,
    )
    .join('');
