/**
 * CPU reference of wgsl/msm/digest.wgsl and of the digests of decompose, by the definitions: all
 * sums modulo 2^32, in BigInt.
 */
const low = (value: bigint): bigint => value & 0xffffffffn;

const mixed = (word: bigint): bigint => {
  const moved = low(word + 0x9e3779b9n);
  const half = low((moved ^ (moved >> 16n)) * 0x7feb352dn);
  return half ^ (half >> 15n);
};

const weight = (index: number): bigint => low(BigInt(2 * index + 1) * 0x9e3779b9n);

const weighed = (words: readonly (number | bigint)[]): bigint =>
  low(words.reduce((sum: bigint, word, w) => sum + BigInt(word) * weight(w), 0n));

const itemsOf = (words: Uint32Array, itemWords: number): number[][] =>
  Array.from({ length: words.length / itemWords }, (_, i) => [...words.subarray(i * itemWords, (i + 1) * itemWords)]);

const total = (digests: readonly bigint[]): number => Number(low(digests.reduce((sum, digest) => sum + digest, 0n)));

export const digest = (words: Uint32Array, itemWords: number): number =>
  total(itemsOf(words, itemWords).map((item, i) => mixed(weighed([i, weighed(item)]))));

/** Returns the digest of scalars `first`, `first` + 1, … of vector number `vector`. */
export const digestOfScalars = (
  words: Uint32Array,
  scalarWords: number,
  vector: number,
  first: number,
  baseOf: (i: number) => number,
): number =>
  total(itemsOf(words, scalarWords).map((item, i) => mixed(weighed([...item, vector, first + i, baseOf(first + i)]))));

/** Returns the digest of entries, which does not depend on their order. */
export const digestOfEntries = (entries: readonly (readonly [number, number])[]): number =>
  total(entries.map((entry) => mixed(weighed(entry))));

/** Returns the digest of points over their indices and all of their words. */
export const digestOfSums = (words: Uint32Array, pointWords: number): number =>
  total(
    itemsOf(words, pointWords).map((point, i) =>
      point.reduce((digest, word) => mixed(digest ^ BigInt(word)), BigInt(i)),
    ),
  );
