import { ABSENT, ENTRY_WORDS } from '../../src/msm/stages/entry.js';

/**
 * CPU reference of all passes of wgsl/msm/sort.wgsl together: drops absent entries, sorts the rest
 * stably, makes keys global.
 */
export const sort = (
  entries: Uint32Array,
  {
    rowLength,
    windows,
    buckets,
    firstWindow = 0,
  }: { rowLength: number; windows: number; buckets: number; firstWindow?: number },
): { sorted: Uint32Array; totals: Uint32Array } => {
  const totals = new Uint32Array(windows);
  const all: { key: number; pointRef: number }[] = [];
  for (let j = 0; j < windows; j++) {
    for (let i = 0; i < rowLength; i++) {
      const at = (j * rowLength + i) * ENTRY_WORDS;
      const pointRef = entries[at + 1] as number;
      if (pointRef === ABSENT) continue;
      all.push({ key: (firstWindow + j) * buckets + (entries[at] as number), pointRef });
      totals[j] = (totals[j] as number) + 1;
    }
  }
  all.sort((a, b) => a.key - b.key); // stable by the language's definition
  return { sorted: Uint32Array.from(all.flatMap(({ key, pointRef }) => [key, pointRef])), totals };
};
