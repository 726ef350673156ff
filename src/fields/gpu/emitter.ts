/** Emits the commands of a run, and gives them memory. */

import type { Modulus } from '../../field/modulus.js';
import type { Upload } from '../../gpu/submission.js';
import { DIGEST_THREADS, DigestConfig } from '../../msm/stages/entry.js';
import { LANES } from '../../shaders/hash-chain.js';
import { type Command, type Dispatch, type Kernel, RESULT, type Slice } from '../../shaders/kernel.js';
import { aligned, groupsFor } from '../../shaders/limits.js';
import type { OpenField } from '../program/open-field.js';

/** Arithmetic and kernels of a device. */
export interface FieldSetup {
  readonly own: OpenField;
  /** The prime, with the products of the device. */
  readonly field: Modulus;
  readonly kernels: FieldKernels;
  /** Products that a submit may have, so that it takes some 50 ms. */
  readonly productsPerSubmit: number;
  /** Products a millisecond, as a guess from below. */
  readonly productsPerMs: number;
}

/** Kernels of a field, each made when it is first needed. */
export interface FieldKernels {
  combine(): Kernel;
  transform(): Kernel;
  scan(): Kernel;
  invert(): Kernel;
  rows(): Kernel;
  gather(): Kernel;
  scalars(): Kernel;
  digest(): Kernel;
}

/** Part of a buffer with elements. */
export type Part = Slice & { readonly offset: number; readonly size: number };

/** Bound where a kernel reads nothing. */
export const nothing: Slice = { buffer: 'nothing' };

/** Words that a run uploads, of which the GPU computes a digest. */
export interface Sent {
  readonly words: Uint32Array;
  readonly itemWords: number;
  /** First word of the digest among the accounts. */
  readonly account: number;
}

/** Elements that the host reads, of which the GPU computes a digest. */
export interface Left {
  readonly part: Part;
  /** First word of the digest among the accounts. */
  readonly account: number;
}

/** A scratch buffer that vectors use one after the other. */
interface Slot {
  readonly name: string;
  bytes: number;
}

/** Part of a buffer. */
export interface Place {
  readonly offset: number;
  readonly size: number;
}

/** Gives parts of a buffer one after the other, each where a binding may start. */
export class Parts {
  bytes = 0;

  take(size: number): Place {
    const offset = this.bytes;
    this.bytes = aligned(offset + size);
    return { offset, size };
  }
}

export class Emitter {
  readonly setup: FieldSetup;
  readonly isOther: boolean;
  readonly commands: Command[] = [];
  readonly uploads: Upload[] = [];
  readonly sent: Sent[] = [];
  readonly left: Left[] = [];
  readonly external: Record<string, GPUBuffer> = {};
  readonly #slots: Slot[] = [];
  readonly #free: Slot[] = [];
  readonly #uploadedAt = new Map<Uint32Array, Part>();
  /** Name of the operation that is emitted, for the times of a run. */
  phase = 'vectors';
  products = 0;
  /** Passes of transforms. */
  passes = 0;
  #since = 0;
  readonly #result = new Parts();
  #accounts = 0;

  /** @param isOther true to compute in another way, for a check */
  constructor(setup: FieldSetup, isOther = false) {
    this.setup = setup;
    this.isOther = isOther;
  }

  /** Bytes of an element. */
  get bytes(): number {
    return this.setup.field.bytes;
  }

  /** Scratch of the commands so far, in bytes by name. */
  get scratch(): Record<string, number> {
    const slots = Object.fromEntries(this.#slots.map(({ name, bytes }) => [name, bytes]));
    const left = this.left.map(({ part }) => [part.buffer, part.size]);
    const uploaded = [...this.#uploadedAt.values()].map(({ buffer, size }) => [buffer, size]);
    return { [nothing.buffer]: this.bytes, ...Object.fromEntries(uploaded), ...slots, ...Object.fromEntries(left) };
  }

  /** Reserves scratch for elements: the free slot whose size is the nearest. */
  take(elements: number): Part {
    const size = elements * this.bytes;
    const distance = ({ bytes }: Slot): number => Math.abs(Math.log(bytes / size));
    const [nearest] = [...this.#free].sort((a, b) => distance(a) - distance(b));
    let slot = nearest;
    if (slot === undefined) {
      slot = { name: `v${this.#slots.length}`, bytes: size };
      this.#slots.push(slot);
    } else {
      this.#free.splice(this.#free.indexOf(slot), 1);
      slot.bytes = Math.max(slot.bytes, size);
    }
    return { buffer: slot.name, offset: 0, size };
  }

  /** Lets later commands overwrite scratch. */
  release({ buffer }: Part): void {
    const slot = this.#slots.find(({ name }) => name === buffer);
    if (slot !== undefined && !this.#free.includes(slot)) this.#free.push(slot);
  }

  /** Reserves an account of a digest. @returns its first word */
  account(): number {
    return LANES * this.#accounts++;
  }

  /** Bytes of all accounts. */
  get accountBytes(): number {
    return 4 * LANES * this.#accounts;
  }

  /** Bytes of the result that is read back. */
  get resultBytes(): number {
    return this.#result.bytes;
  }

  /** Bytes of the elements that the host reads. */
  get leftBytes(): number {
    return this.left.reduce((sum, { part }) => sum + part.size, 0);
  }

  /**
   * Has the host read elements. A copy or a read of the wrong bytes differs from the digest.
   *
   * @param write emits the elements into memory of their own
   */
  leave(elements: number, write: (out: Part) => void): Part {
    const part = { buffer: `h${this.left.length}`, offset: 0, size: elements * this.bytes };
    const account = this.account();
    this.left.push({ part, account });
    write(part);
    this.#digest(part, elements, this.setup.field.words, account);
    return part;
  }

  /** Reserves a part of the result. */
  returned(elements: number): Part {
    return { buffer: RESULT, ...this.#result.take(elements * this.bytes) };
  }

  /** Uploads words before the first command, and the same array once. */
  upload(words: Uint32Array): Part {
    const found = this.#uploadedAt.get(words);
    if (found !== undefined) return found;
    const buffer = `u${this.uploads.length}`;
    const size = Math.max(this.bytes, words.byteLength);
    const part = { buffer, offset: 0, size };
    this.#uploadedAt.set(words, part);
    this.uploadTo(part, words);
    return part;
  }

  /** Uploads words to a buffer before the first command. */
  uploadTo(part: Part, words: Uint32Array): void {
    if (words.length === 0) return;
    const to = { ...part, size: words.byteLength };
    this.uploads.push({ to, data: words });
    const { words: perElement } = this.setup.field;
    const itemWords = words.length % perElement === 0 ? perElement : 1;
    const account = this.account();
    this.sent.push({ words, itemWords, account });
    this.#digest(to, words.length / itemWords, itemWords, account);
  }

  #digest(words: Part, items: number, itemWords: number, account: number): void {
    const config = DigestConfig.pack({ items, item_words: itemWords, account });
    const groups = groupsFor(items, DIGEST_THREADS);
    this.dispatch({ kernel: this.setup.kernels.digest(), config, bindings: { words }, groups });
  }

  /** Names a part of a buffer that is not scratch. */
  bind(buffer: GPUBuffer, offset: number, size: number): Part {
    const found = Object.entries(this.external).find(([, each]) => each === buffer);
    const name = found?.[0] ?? `r${Object.keys(this.external).length}`;
    this.external[name] = buffer;
    return { buffer: name, offset, size };
  }

  /** @param products of elements, all threads together */
  dispatch(dispatch: Omit<Dispatch, 'phase'>, products = 0): void {
    if (this.#since > 0 && this.#since + products > this.setup.productsPerSubmit) {
      this.commands.push({ kind: 'submit' });
      this.#since = 0;
    }
    this.commands.push({ kind: 'dispatch', phase: this.phase, ...dispatch });
    this.#since += products;
    this.products += products;
  }
}
