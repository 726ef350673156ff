/** Circuits in workers for calls of snarkjs's `fullProve`, which stay open from one proof to the next. */
import type { Circuit, CircuitInput } from '../circom/api.js';
import { badArgument, notLoaded } from '../errors.js';
import { noCounts, type ReadAccelerateOptions } from './accelerate-options.js';
import { KeyCache } from './caches.js';
import { digestOf, openKeySource, readWitnessProgram } from './proof-files.js';
import { bytesOf, type SnarkjsProof, type WholeSystem, withEither } from './proving-keys.js';

/** Arguments of `fullProve`. */
export interface FullProof {
  readonly input: object;
  readonly wasm: unknown;
  readonly zkey: unknown;
}

/** Computes witnesses and proofs off the calling thread, until it is ended. */
export class WorkerCircuits {
  readonly #options: ReadAccelerateOptions;
  readonly #circuits: KeyCache<Circuit>;
  /** Ends loads and proofs. */
  readonly #ending = new AbortController();

  /** @param budget bytes of keys that may stay loaded */
  constructor(options: ReadAccelerateOptions, budget: { bytes(): number; onTight(bytes: number): void }) {
    this.#options = options;
    this.#circuits = new KeyCache(budget, noCounts());
  }

  /** Proves from inputs, and prints what the circuit logs, as snarkjs does. @throws MsmError as `Circuit.prove` */
  async fullProve(
    system: WholeSystem,
    { input, wasm, zkey }: FullProof,
    signalOfProof: AbortSignal | undefined,
  ): Promise<SnarkjsProof> {
    const { readsInParts, verifyProof, memoryLimit = Number.POSITIVE_INFINITY } = this.#options;
    const program = await readWitnessProgram(wasm);
    const file = await openKeySource(zkey, readsInParts);
    const request = {
      ...{ kind: `${system} ${await digestOf(program)}`, file },
      bytes: async () => Math.min(memoryLimit, await bytesOf(file, this.#ending.signal)),
      open: () => this.#open(system, program, file.source),
    };
    return this.#circuits.with(request, (circuit) =>
      withEither([this.#ending.signal, signalOfProof], async (signal) => {
        const lines: string[] = [];
        const onLog = (line: string): void => void lines.push(line);
        const { proof, publicSignals } = await circuit.prove(input as CircuitInput, { signal, verifyProof, onLog });
        for (const line of lines) console.log(line);
        return { proof, publicSignals };
      }),
    );
  }

  async #open(system: WholeSystem, wasm: Uint8Array, zkey: Parameters<typeof bytesOf>[0]['source']): Promise<Circuit> {
    const { openCircuit } = await import('../circom.js').catch(notLoaded('circom'));
    const { engines, cache, memoryLimit } = this.#options;
    const { signal } = this.#ending;
    const circuit = await openCircuit({ wasm, zkey }, { ...engines, memoryLimit, cache, signal, worker: true });
    const protocol = circuit.key?.protocol;
    if (protocol === system) return circuit;
    circuit.destroy();
    throw badArgument(`zkey is a key of ${protocol}, not of ${system}`);
  }

  /** Ends all workers. Proofs under way reject. */
  end(): void {
    this.#ending.abort();
    this.#circuits.clear();
  }
}
