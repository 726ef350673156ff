/**
 * Reproducible pseudo-random numbers: a Weyl sequence through the finaliser of MurmurHash3 (A.
 * Appleby). Not for secrets.
 */
export class Random {
  #weyl: number;

  /** @param seed an integer; its low 32 bits are used */
  constructor(seed: number) {
    this.#weyl = seed >>> 0;
  }

  /** Returns an integer in [0, 2^32). */
  u32(): number {
    this.#weyl = (this.#weyl + 0x9e3779b9) >>> 0;
    let h = this.#weyl;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) >>> 0;
  }

  /**
   * Returns an integer in [0, bound). The bias is at most bound / 2^32, so `bound` should be far
   * below 2^32.
   */
  below(bound: number): number {
    return Math.floor((this.u32() / 2 ** 32) * bound);
  }
}
