/** Witnesses for snarkjs's `fullProve`, by programs of circom that stay compiled. */
import type { WitnessProgram } from '../circom/program.js';
import { notLoaded } from '../errors.js';
import { digestOf } from './proof-files.js';

/** Programs that stay compiled. */
const KEPT = 4;

export class Witnesses {
  readonly #programs = new Map<string, Promise<WitnessProgram>>();

  /**
   * Computes a witness as `wtns.calculate` of snarkjs does. Prints what the circuit logs, as that does.
   *
   * @throws MsmError as `WitnessProgram.witness`
   */
  async compute(program: Uint8Array, input: unknown): Promise<Uint8Array<ArrayBuffer>> {
    const log: string[] = [];
    const opened = await this.#open(program);
    const witness = await opened.witness(input, (line) => void log.push(line));
    for (const line of log) console.log(line);
    return witness;
  }

  async #open(program: Uint8Array): Promise<WitnessProgram> {
    const name = await digestOf(program);
    const opening = this.#programs.get(name) ?? openProgram(program);
    // the last one again, so that the first one is the oldest
    this.#programs.delete(name);
    this.#programs.set(name, opening);
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > KEPT) this.#programs.delete(oldest as string);
    opening.catch(() => this.#programs.delete(name));
    return opening;
  }

  clear(): void {
    this.#programs.clear();
  }
}

/** Loads a program by the module that circuits have in common. */
const openProgram = async (bytes: Uint8Array): Promise<WitnessProgram> => {
  const { compileProgram, WitnessProgram: Program } = await import('../circom/program.js').catch(notLoaded('circuit'));
  return Program.open(await compileProgram(bytes));
};
