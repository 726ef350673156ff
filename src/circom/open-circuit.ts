/** Opens circuits. */
import { progressRow } from '../engine/options.js';
import { assertNotAborted, badArgument, fromCaller, kindOf, notLoaded, openUntilAborted, warnBy } from '../errors.js';
import { orderOf } from '../formats/binfile.js';
import { beginOrigin, openOrigin } from '../formats/file-origin.js';
import { type FileOrigin, type FileSource, type OriginOptions, openFile, readRange } from '../formats/source.js';
import { type OptionTable, readOptions, setOptions } from '../option-table.js';
import type { EngineOptions } from '../proofs/api.js';
import { keyOptions } from '../proofs/circuit-prover.js';
import type { Circuit, CircuitFiles, CircuitOptions, CircuitProgress } from './api.js';
import { LoadedCircuit } from './circuit.js';
import {
  type KeyFacts,
  type KeyFile,
  type KeyLoad,
  type KeyOptions,
  openKeyHere,
  openProgramHere,
  type Prover,
  type WitnessMaker,
} from './circuit-parts.js';
import type { Constraints } from './constraints.js';
import { type CompiledProgram, compileProgram, type ProgramFacts } from './program.js';
import { openKeyInWorker, openProgramInWorker } from './remote-parts.js';
import { namesInSym, SYM_BYTES } from './sym-names.js';

/** `openCircuit`. */
export const circuitOptions = {
  of: 'openCircuit',
  rows: { ...keyOptions.rows, worker: { kind: 'flag' }, onProgress: progressRow },
} as const satisfies OptionTable<CircuitOptions>;

/** Files of a circuit. */
const fileNames = ['wasm', 'zkey', 'sym', 'r1cs'] as const satisfies readonly (keyof CircuitFiles)[];

/** Checks the names of the files. @throws MsmError `bad-argument` */
const assertFiles = (files: CircuitFiles): void => {
  if (typeof files !== 'object' || files === null) {
    throw badArgument(`files must be an object with wasm and zkey, got ${kindOf(files)}`);
  }
  for (const name of Object.keys(files)) {
    if ((fileNames as readonly string[]).includes(name)) continue;
    throw badArgument(`files.${name} is not a file of a circuit; there are ${fileNames.join(', ')}`);
  }
  if (files.wasm === undefined) throw badArgument('files.wasm is missing: the program that circom writes');
};

/**
 * Checks that a program and a key are of one circuit, as far as their headers tell.
 *
 * @throws MsmError `bad-argument`
 */
const assertSameCircuit = ({ prime, values }: ProgramFacts, { protocol, curve, variables }: KeyFacts): void => {
  if (prime !== orderOf(curve)) {
    throw badArgument(
      `wasm and zkey are of different fields: the key is on ${curve}, and the prime of the program is ${prime}`,
    );
  }
  // keys of PLONK and FFLONK have further variables, which the prover adds
  if (protocol === 'groth16' ? values !== variables : values > variables) {
    throw badArgument(
      `wasm and zkey are of different circuits: the program computes ${values} values, and the key has ${variables} variables`,
    );
  }
};

/** Reads all of a file. @throws MsmError as `openFile` */
const readAll = (what: string, file: FileSource, signal: AbortSignal | undefined): Promise<Uint8Array> => {
  const open = openFile(what, file, signal);
  return readRange(open, 0, open.byteLength);
};

/** Reads the names of signals at the beginning of a `.sym` file. */
const readNames = async (sym: FileSource, signal: AbortSignal | undefined): Promise<string[]> => {
  const file = openFile('sym', sym, signal);
  return namesInSym(new TextDecoder().decode(await readRange(file, 0, Math.min(file.byteLength, SYM_BYTES))));
};

/** Reads constraints, by a module that most circuits do without. @throws MsmError as `Constraints.open` */
const openConstraints: typeof Constraints.open = async (...given) =>
  (await import('./constraints.js').catch(notLoaded('constraints'))).Constraints.open(...given);

/** Options that no worker can be sent. */
const unsendable = [
  'device',
  'deviceOf',
  'gpu',
  'createWorker',
  'onEvent',
] as const satisfies readonly (keyof EngineOptions)[];

/** Returns whether workers are to compute. @throws MsmError `bad-argument` for an option that none can be sent */
const wantsWorker = (worker: boolean | undefined, engines: KeyOptions): boolean => {
  const name = unsendable.find((each) => engines[each] !== undefined);
  if (name === undefined) return worker ?? true;
  if (worker !== true) return false;
  throw badArgument(`options.${name} cannot be sent to a worker; leave it out, or set worker to false`);
};

/** Opens the parts of a circuit in workers, or on this thread where none starts. */
class PartOpener {
  inWorkers: boolean;
  readonly #onWarning: EngineOptions['onWarning'];

  constructor(inWorkers: boolean, onWarning: EngineOptions['onWarning']) {
    this.inWorkers = inWorkers;
    this.#onWarning = onWarning;
  }

  async openProgram(compiled: CompiledProgram): Promise<WitnessMaker> {
    return (await this.#inWorker((warn) => openProgramInWorker(compiled, warn))) ?? openProgramHere(compiled);
  }

  async openKey(zkey: KeyFile, load: KeyLoad): Promise<Prover> {
    return (await this.#inWorker((warn) => openKeyInWorker(zkey, load, warn))) ?? openKeyHere(zkey, load);
  }

  async #inWorker<Part>(open: (warn: (message: string) => void) => Promise<Part | null>): Promise<Part | null> {
    if (!this.inWorkers) return null;
    // the message was made for a caller already
    const part = await open((message) => (this.#onWarning ?? console.warn)(message));
    if (part !== null) return part;
    this.inWorkers = false;
    warnBy(
      this.#onWarning,
      'circuits have no worker, so the calling thread computes: serve webgpu-msm-circuit-worker.js of the package beside index.js, or set worker to false',
    );
    return null;
  }
}

/**
 * Opens a circuit that circom compiled: its program, and its key of Groth16, PLONK or FFLONK.
 *
 * @param files the program, the key and the constraints
 * @throws MsmError `bad-argument` (a file that is another one, files of different fields or circuits), `aborted`, `out-of-memory`, `device-lost`; as `openProvingKey` for the key;
 *   and errors of `fetch` and of the file system
 * @example
 * ```ts
 * import { openCircuit } from 'webgpu-msm/circom';
 *
 * const circuit = await openCircuit({ wasm: 'product.wasm', zkey: 'product.zkey' });
 * const { proof, publicSignals } = await circuit.prove({ a: 3, b: 11 }, { verifyProof: true });
 * console.log(proof.protocol, publicSignals); // groth16 [ '33' ]
 * circuit.destroy();
 * ```
 */
export const openCircuit = (files: CircuitFiles, options: CircuitOptions = {}): Promise<Circuit> =>
  fromCaller(async () => {
    const { signal, onProgress, worker, ...read } = readOptions(circuitOptions, options);
    assertNotAborted(signal, 'load');
    assertFiles(files);
    const engines: KeyOptions = setOptions(read);
    const report = (stage: CircuitProgress['stage'], part: string, done: number, total: number | null): void =>
      onProgress?.({ stage, part, done, total, remainingMs: null });
    const optionsOf = (what: (typeof fileNames)[number], inParts: boolean): OriginOptions => {
      const onBytes = (done: number, total: number | null): void => report('download', what, done, total);
      return { signal, onBytes, inParts };
    };
    const open = (what: 'wasm' | 'sym' | 'r1cs', file: FileOrigin): Promise<FileSource> =>
      openOrigin(what, file, optionsOf(what, false));
    const onPart = (part: string, done: number, total: number): void => report('key', part, done, total);
    const parts = new PartOpener(wantsWorker(worker, engines), engines.onWarning);
    // one after the other, so that a wrong program is found before a large key is read
    const wasm = await readAll('wasm', await open('wasm', files.wasm), signal);
    const sym = files.sym === undefined ? null : await open('sym', files.sym);
    const names = sym === null ? [] : await readNames(sym, signal);
    const compiled = await compileProgram(wasm, names);
    const program = await openUntilAborted(parts.openProgram(compiled), signal);
    let prover: Prover | null = null;
    let constraints: Constraints | null = null;
    try {
      if (files.r1cs !== undefined) {
        const r1cs = await open('r1cs', files.r1cs);
        constraints = await openConstraints(r1cs, sym, { signal, onWarning: engines.onWarning });
        constraints.assertProgram(program.facts);
      }
      if (files.zkey !== undefined) {
        const inParts = engines.cache !== undefined || engines.memoryLimit !== undefined;
        const zkey = await beginOrigin('zkey', files.zkey, optionsOf('zkey', inParts));
        prover = await openUntilAborted(parts.openKey(zkey, { engines, signal, onPart }), signal);
        assertSameCircuit(program.facts, prover.facts);
        constraints?.assertKey(prover.facts);
      }
      assertNotAborted(signal, 'load');
      return new LoadedCircuit({ program, prover, constraints, worker: parts.inWorkers });
    } catch (error) {
      program.destroy();
      prover?.destroy();
      throw error;
    }
  });
