/** Arithmetic that combines the windows of a device: WebAssembly, and BigInts until it is there. */
import type { CurveContext } from '../../curves/curve.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import { bigIntHorner, type Horner } from '../stages/horner.js';
import { agree } from '../stages/horner-test.js';

/** Chooses the arithmetic of a device. */
export class HornerSource {
  /** True after a failure: a policy that forbids WebAssembly reports every attempt. */
  static #isMissing = false;
  readonly #curve: CurveContext;
  #now: Horner;
  #loading: Promise<void> | null = null;

  /** @param curve has the field product of the device */
  constructor(curve: CurveContext) {
    this.#curve = curve;
    this.#now = bigIntHorner(curve);
  }

  /** The fastest arithmetic that is there now. */
  get now(): Horner {
    return this.#now;
  }

  /**
   * Loads the arithmetic in WebAssembly, once. BigInts stay where its known answer is wrong, the
   * file is not found, the platform has no WebAssembly, or a content security policy forbids it.
   * After the latter no other source of this thread tries again.
   */
  prepare(): Promise<void> {
    this.#loading ??= this.#load().catch(() => {
      HornerSource.#isMissing = true;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    if (HornerSource.#isMissing) return;
    // the file of the CPU backend: bundlers keep what two files like it share
    const { WasmHorner } = await import('../cpu/cpu-backend.js');
    // the caller hands its work to the GPU first
    await nextTurn();
    const horner = await WasmHorner.open(this.#curve);
    if (agree(this.#curve, horner, this.#now)) this.#now = horner;
  }
}
