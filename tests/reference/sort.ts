import { ABSENT, ENTRY_WORDS } from '../../src/msm/stages/entry.js';

/** The CPU twin of all passes of wgsl/msm/sort.wgsl together: absent entries dropped, the rest sorted stably, keys made global. */
export const sort = (
  entries: Uint32Array,
  { slab, windows, buckets, firstWindow = 0 }: { slab: number; windows: number; buckets: number; firstWindow?: number },
): { sorted: Uint32Array; totals: Uint32Array } => {
  const totals = new Uint32Array(windows);
  const all: { key: number; handle: number }[] = [];
  for (let j = 0; j < windows; j++) {
    for (let i = 0; i < slab; i++) {
      const at = (j * slab + i) * ENTRY_WORDS;
      const handle = entries[at + 1] as number;
      if (handle === ABSENT) continue;
      all.push({ key: (firstWindow + j) * buckets + (entries[at] as number), handle });
      totals[j] = (totals[j] as number) + 1;
    }
  }
  all.sort((a, b) => a.key - b.key); // stable by the language's definition
  return { sorted: Uint32Array.from(all.flatMap(({ key, handle }) => [key, handle])), totals };
};
