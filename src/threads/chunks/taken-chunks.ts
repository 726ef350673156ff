/** Chunks that workers took, by the number of the worker, for sources without shared memory. */
export class TakenChunks {
  readonly #taken = new Map<number, number[]>();

  /** Records the first chunk of an assignment. */
  begin(worker: number, chunk: number): void {
    this.#taken.set(worker, [chunk]);
  }

  add(worker: number, chunk: number): void {
    this.#taken.get(worker)?.push(chunk);
  }

  of(worker: number): readonly number[] {
    return this.#taken.get(worker) ?? [];
  }
}
