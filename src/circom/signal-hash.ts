/** Hashes by which programs of circom name their signals: FNV-1a of 64 bits. */

/** Two halves of 32 bits. */
export interface Hash {
  readonly high: number;
  readonly low: number;
}

/** Constants of FNV-1a of 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/. */
const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** Hashes a name. */
export const hashOf = (name: string): Hash => {
  let hash = FNV_OFFSET;
  for (let i = 0; i < name.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(name.charCodeAt(i))) * FNV_PRIME);
  }
  return { high: Number(hash >> 32n) | 0, low: Number(hash & 0xffffffffn) | 0 };
};
