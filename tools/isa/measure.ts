import { progress } from '../../scripts/command-line.js';
import {
  type Chip,
  type ChipName,
  chips,
  driverOf,
  figuresOf,
  type Statistics,
  takesVulkanMemoryModel,
} from './chips.js';
import { nvidiaStatisticsOf, statisticsOf, toSpirv } from './compilers.js';
import type { ChipKernel } from './kernels.js';

/** Kernels to compile for a chip, with one of the settings. */
interface Wanted {
  readonly chip: ChipName;
  readonly side: number;
  readonly kernels: readonly ChipKernel[];
}

/** A compiled kernel; `statistics` is null if the compiler reached its CPU limit. */
export interface Compiled {
  readonly chip: ChipName;
  readonly side: number;
  readonly kernel: string;
  readonly statistics: Statistics | null;
}

/** Compilers that run at a time. */
const AT_ONCE = 2;

/** Maps items in parallel, AT_ONCE at a time, and keeps their order. */
async function someAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [i, item] of left) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

export async function measure(wanted: readonly Wanted[]) {
  progress('Dawn compiles to SPIR-V …');
  const all: (Omit<Compiled, 'statistics'> & { compile: () => Promise<Compiled['statistics']> })[] = [];
  for (const { chip, side, kernels } of wanted) {
    const { sm } = chips[chip] as Chip;
    const paths = sm === undefined ? await toSpirv(kernels, takesVulkanMemoryModel(chip)) : [];
    for (const [i, kernel] of kernels.entries()) {
      const compile = () =>
        sm === undefined ? statisticsOf(chip, paths[i] as string) : nvidiaStatisticsOf(sm, kernel);
      all.push({ chip, side, kernel: kernel.title, compile });
    }
  }
  let begun = 0;
  const compiled = await someAtATime(all, async ({ compile, ...which }) => {
    progress(`${++begun} of ${all.length}: ${which.kernel} on ${which.chip} …`);
    return { ...which, statistics: await compile() };
  });
  progress('');
  const sides = [...new Set(wanted.map(({ side }) => side))];
  const distinct = new Map(compiled.map((one) => [`${one.chip} ${one.kernel}`, one]));
  const rows = [...distinct.values()].map(({ chip, kernel }) => ({
    chip,
    kernel,
    figures: sides.map((side) => {
      const found = compiled.find((each) => each.chip === chip && each.kernel === kernel && each.side === side);
      return found?.statistics ? figuresOf(chip, found.statistics) : null;
    }),
  }));
  const drivers = new Map<ChipName, string>();
  for (const { chip, statistics } of compiled) if (statistics !== null) drivers.set(chip, driverOf(statistics));
  return { compiled, rows, drivers };
}
