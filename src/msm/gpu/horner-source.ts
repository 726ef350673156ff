/** Arithmetic that combines the windows of a device: WebAssembly, and BigInts until it is there. */
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, double, negated, toAffine } from '../../curves/jacobian.js';
import { elementToMontgomery, writeElement } from '../../field/field.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import { bigIntHorner, type Horner } from '../stages/horner.js';

/** Returns stored points: G, −G and 2·G. */
const someMultiples = (curve: CurveContext): Uint32Array => {
  const { coordinates: f, generator, pointWords } = curve;
  const twice = toAffine(curve, double(curve, { ...generator, z: f.one }));
  const points = [generator, negated(curve, generator), twice] as NonNullable<Affine>[];
  const words = new Uint32Array(points.length * pointWords);
  for (const [i, { x, y }] of points.entries()) {
    writeElement(f, words, i * pointWords, elementToMontgomery(f, x));
    writeElement(f, words, i * pointWords + f.words, elementToMontgomery(f, y));
  }
  return words;
};

/** Returns results that depend on every step: doublings, opposite points, a wrong point. */
const answers = (horner: Horner, points: Uint32Array): string => {
  const results: unknown[] = [horner.take(points)];
  for (const index of [0, 0, 2, 1]) {
    horner.add(index);
    horner.double();
  }
  results.push(horner.total());
  const wrong = points.slice();
  wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1;
  results.push(horner.take(wrong));
  for (const index of [0, 1]) horner.add(index);
  results.push(horner.total());
  return results.join();
};

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
    const points = someMultiples(this.#curve);
    if (answers(horner, points) === answers(this.#now, points)) this.#now = horner;
  }
}
