/** New keys of circuits, from powers of tau. */
import type { OwnBytes } from '../api/values.js';
import { badArgument, show } from '../errors.js';
import { openOrigin } from '../formats/file-origin.js';
import { type R1cs, readR1cs } from '../formats/r1cs.js';
import type { FileOrigin } from '../formats/source.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { planGroth16Key } from './groth16-key.js';
import { assertReadable } from './memory.js';
import { planPlonkishKey } from './plonkish-key.js';
import { openPreparedPowers, type PreparedPowers } from './prepared-powers.js';
import { type KeyPlan, pauseOf, type RunOptions, type SetupOptions, setupOptions, writeBy } from './run.js';

/** The circuit and the powers of tau of a new key. */
export interface NewKeyInput {
  /** The proof system: `groth16`, `plonk`, or, on BN254, `fflonk`. */
  readonly system: 'groth16' | 'plonk' | 'fflonk';
  /** The circuit, a `.r1cs` file. */
  readonly r1cs: FileOrigin;
  /**
   * Powers of tau of at least its size, a `.ptau` file that is prepared for the second phase. PLONK has
   * a gate for each public signal and each constraint, and one more for each term that sums have too
   * many. FFLONK takes nine powers for each gate.
   */
  readonly ptau: FileOrigin;
}

const inputTable = {
  of: 'newKey',
  rows: {
    system: { kind: 'choice', range: ['groth16', 'plonk', 'fflonk'], isRequired: true },
    r1cs: { kind: 'any', isRequired: true },
    ptau: { kind: 'any', isRequired: true },
  },
} as const satisfies OptionTable<NewKeyInput>;

/**
 * Makes the key of a circuit. One of Groth16 is its first: proofs with it are not sound before somebody
 * has contributed, since its δ is 1, which everybody knows. PLONK and FFLONK have no second phase, so
 * theirs are ready. The bytes are those of snarkjs's `zKey.newZKey`, `plonk.setup` and `fflonk.setup`.
 *
 * @returns the `.zkey`; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the file and the section; `aborted`; `unsupported-device`
 *   without WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { openFile } from 'webgpu-msm/node';
 * import { newKey } from 'webgpu-msm/setup';
 *
 * const [r1cs, ptau] = [await openFile('circuit.r1cs'), await openFile('powers.ptau')];
 * const zkey = await newKey({ system: 'groth16', r1cs, ptau });
 * console.log(new TextDecoder().decode(zkey.subarray(0, 4))); // zkey
 * ```
 */
export function newKey(input: NewKeyInput, options?: SetupOptions & { readonly sink?: undefined }): Promise<OwnBytes>;
export function newKey(input: NewKeyInput, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function newKey(input: NewKeyInput, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const { system, r1cs, ptau } = readOptions(inputTable, input, { argument: 'input', path: 'input.' });
  const options = readOptions(setupOptions, given);
  const powers = await openPreparedPowers(ptau, options);
  const plan = await planKey(system, r1cs, powers, options);
  const { bytes } = await writeBy(options, { phase: 'new key', total: plan.total, tables: plan.tables }, plan.write);
  return bytes;
}

/** Plans a key. PLONK and FFLONK leave the matrices of the circuit to the garbage collector. */
const planKey = async (
  system: NewKeyInput['system'],
  r1cs: FileOrigin,
  powers: PreparedPowers,
  options: RunOptions,
): Promise<KeyPlan> => {
  const circuit = await readCircuit(r1cs, powers, options);
  if (system === 'groth16') return planGroth16Key(circuit, powers);
  return planPlonkishKey(system, circuit, powers, options, pauseOf(options));
};

/**
 * Reads a circuit.
 *
 * @throws MsmError `bad-argument` if it cannot be read, or is not of the curve of the powers; `out-of-memory` before
 *   its matrices take more than the limit
 */
export const readCircuit = async (
  source: FileOrigin,
  { groups }: PreparedPowers,
  options: RunOptions,
): Promise<R1cs> => {
  const file = await openOrigin('r1cs', source, { signal: options.signal, inParts: true });
  const circuit = await readR1cs(file, options, pauseOf(options), (terms, numbers) =>
    assertReadable(options.memoryLimit, terms, numbers),
  );
  if (circuit.order === groups.order) return circuit;
  throw badArgument(
    `r1cs: the circuit's prime ${show(circuit.order)} is not the order of ${groups.name}, as ptau has it`,
  );
};
