import { progress } from '../../scripts/command-line.mjs';
import { statisticsOf, toSpirv } from './compilers.mjs';
import { nvidiaStatisticsOf } from './nvidia.mjs';

/** @typedef {import('./chips.js').ChipName} ChipName */
/** @typedef {import('./kernels.js').ChipKernel} ChipKernel */
/**
 * Kernels to compile for a chip, with one of the settings.
 *
 * @typedef {{ chip: ChipName, side: number, kernels: readonly ChipKernel[] }} Wanted
 */

/**
 * A compiled kernel; `statistics` is null if the compiler reached its CPU limit.
 *
 * @typedef {object} Compiled
 * @property {ChipName} chip
 * @property {number} side
 * @property {string} kernel
 * @property {import('./compilers.mjs').Statistics | null} statistics
 */

/** Compilers that run at a time. */
const AT_ONCE = 2;

/**
 * Maps items in parallel, AT_ONCE at a time, and keeps their order.
 *
 * @template Item, Result
 * @param {readonly Item[]} items
 * @param {(item: Item) => Promise<Result>} work
 * @returns {Promise<Result[]>}
 */
async function someAtATime(items, work) {
  /** @type {Result[]} */
  const results = [];
  const left = items.entries();
  const worker = async () => {
    for (const [i, item] of left) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/**
 * Compiles kernels and returns the statistics of the drivers as rows.
 *
 * @param {import('../../scripts/builds.mjs').Isa} isa
 * @param {readonly Wanted[]} wanted
 */
export async function measure(isa, wanted) {
  const { chips, takesVulkanMemoryModel, figuresOf, driverOf } = isa;
  progress('Dawn compiles to SPIR-V …');
  /** @type {(Omit<Compiled, 'statistics'> & { compile: () => Promise<Compiled['statistics']> })[]} */
  const all = [];
  for (const { chip, side, kernels } of wanted) {
    const { sm } = /** @type {import('./chips.js').Chip} */ (chips[chip]);
    const paths = sm === undefined ? await toSpirv(kernels, takesVulkanMemoryModel(chip)) : [];
    for (const [i, kernel] of kernels.entries()) {
      const compile = () =>
        sm === undefined ? statisticsOf(chip, /** @type {string} */ (paths[i])) : nvidiaStatisticsOf(isa, sm, kernel);
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
  /** @type {Map<ChipName, string>} */
  const drivers = new Map();
  for (const { chip, statistics } of compiled) if (statistics !== null) drivers.set(chip, driverOf(statistics));
  return { compiled, rows, drivers };
}
