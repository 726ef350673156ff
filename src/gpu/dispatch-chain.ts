import { GpuFault } from '../errors.js';
import type { Dispatch } from '../shaders/commands.js';
import { absorb, CHAIN, Tail } from '../shaders/hash-chain.js';

/** A link: a dispatch, and the stamp that it leaves. */
interface Link {
  readonly phase: string;
  readonly value: number;
}

const isChained = ({ kernel, bindings }: Dispatch): boolean =>
  bindings[CHAIN] === undefined && kernel.bindings.some(({ name }) => name === CHAIN);

/** The stamps that the dispatches of a job leave one on top of the other: see shaders/hash-chain.ts. */
export class DispatchChain {
  /** The configs of all dispatches, with what each has to know of the one before it. */
  readonly configs: readonly (ArrayLike<number> | undefined)[];
  readonly #call: number;
  readonly #links: Link[] = [];

  /**
   * @param call the number of the job, other than 0 and than that of any job whose bytes may still be about
   * @param first the word of the custody buffer where the stamps begin
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
   * @param stamps that were read back
   * @throws GpuFault naming the first dispatch that was not done, or not as it was to be
   */
  assertWhole(stamps: Uint32Array): void {
    if (stamps[0] !== this.#call) {
      throw new GpuFault('read-back', 'the bytes that came back are not those of this call');
    }
    const broken = this.#links.findIndex(({ value }, i) => stamps[i + 1] !== value);
    if (broken < 0) return;
    const { phase } = this.#links[broken] as Link;
    const kind =
      stamps[broken + 1] === 0 ? 'was not done, or not on what this call gave it' : 'was done more than once';
    throw new GpuFault(phase, `dispatch ${broken + 1} of ${this.#links.length} ${kind}`);
  }
}
