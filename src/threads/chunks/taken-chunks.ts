/** Chunks that workers took, by the number of the worker, for sources without shared memory. */
export class TakenChunks {
  readonly #taken = new Map<number, number[]>();

  /** Records the chunks of an assignment. */
  begin(worker: number, chunks: readonly number[]): void {
    this.#taken.set(worker, [...chunks]);
  }

  add(worker: number, chunks: readonly number[]): void {
    this.#taken.get(worker)?.push(...chunks);
  }

  of(worker: number): readonly number[] {
    return this.#taken.get(worker) ?? [];
  }
}
