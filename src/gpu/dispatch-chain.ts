import { GpuFault } from '../errors.js';
import type { Dispatch } from '../shaders/commands.js';
import { absorb, CHAIN, Tail } from '../shaders/hash-chain.js';

/** A dispatch, and the digest that it leaves for the next one. */
interface Link {
  readonly phase: string;
  readonly value: number;
}

const isChained = ({ kernel, bindings }: Dispatch): boolean =>
  bindings[CHAIN] === undefined && kernel.bindings.some(({ name }) => name === CHAIN);

/** Hash chain over the configs of a job's dispatches; see shaders/hash-chain.ts. */
export class DispatchChain {
  /** Configs of all dispatches, each with the digest of the one before it. */
  readonly configs: readonly (ArrayLike<number> | undefined)[];
  readonly #call: number;
  readonly #links: Link[] = [];

  /**
   * @param call number of the job: not 0, and not that of a job whose bytes may be left in the
   *   buffer
   * @param first word of the chain buffer at which the links begin
   */
  constructor(call: number, first: number, dispatches: readonly Dispatch[]) {
    this.#call = call;
    let before = call;
    this.configs = dispatches.map((dispatch) => {
      if (!isChained(dispatch)) return dispatch.config;
      const words = dispatch.config ?? [];
      const after = absorb(before, words);
      const tail = Tail.pack({ slot: first + this.#links.length, before, after });
      this.#links.push({ phase: dispatch.phase, value: after });
      before = after;
      return [...words, ...tail];
    });
  }

  /**
   * @param links words that were read back
   * @throws GpuFault that names the first dispatch that was not executed, or not correctly
   */
  assertWhole(links: Uint32Array): void {
    if (links[0] !== this.#call) {
      throw new GpuFault('read-back', 'the bytes that came back are not those of this call');
    }
    const broken = this.#links.findIndex(({ value }, i) => links[i + 1] !== value);
    if (broken < 0) return;
    const { phase } = this.#links[broken] as Link;
    const kind = links[broken + 1] === 0 ? 'was not done, or not on what this call gave it' : 'was done more than once';
    throw new GpuFault(phase, `dispatch ${broken + 1} of ${this.#links.length} ${kind}`);
  }
}
