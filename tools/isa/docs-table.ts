/**
 * Makes the table of docs/reference/chips.md: its kernels and chips, its text, and a digest that
 * shows when sources have changed.
 */
import { bn254 } from '../../src/curves/bn254.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { type ChipName, chips } from './chips.js';
import type { Figures } from './figures.js';
import { type ChipKernel, fieldKernels, stageKernels, vectorKernels } from './kernels.js';
import { type ChipRow, figureHeads, numberText } from './report.js';

/**
 * Chips of the table. Mali's compiler takes a minute for a product, and longer for other kernels.
 */
export const tableChips: readonly ChipName[] = [
  'navi31',
  'navi21',
  'vega10',
  'ampere',
  'sm_75',
  'sm_86',
  'sm_90',
  'sm_120',
  'dg2',
  'adreno740',
  'adreno660',
  'm1',
  'malig610',
];
const isListed = (chip: ChipName, title: string): boolean =>
  chips[chip].maker !== 'arm' || /^(product|square) /.test(title);

/** Kernels that differ in G2 and are long. */
const OF_PAIRS = ['import_points', 'tables_double', 'run_program', 'walk', 'walk_xyzz', 'normalize'];

/**
 * Returns the kernels that the library compiles on a chip with default knobs, and field-bench
 * operations: those of BN254, those that differ in its G2, and those of vectors.
 */
export const kernelsOfTable = async (chip: ChipName): Promise<ChipKernel[]> => {
  const ofPairs = (await stageKernels({ createMsmEngine }, chip, bn254G2, {})).filter(({ name }) =>
    OF_PAIRS.includes(name),
  );
  const all = [
    ...(await stageKernels({ createMsmEngine }, chip, bn254, {})),
    ...ofPairs.map((kernel) => ({ ...kernel, title: `${kernel.title}, G2` })),
    ...(await vectorKernels(chip)),
    ...(await fieldKernels(chip, bn254)),
  ];
  return all.filter(({ title }) => isListed(chip, title));
};

/** Returns WGSL as compilers see it, without comments and extra spaces. */
const bare = (source: string): string =>
  source
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .split(/\s+/)
    .join(' ')
    .trim();

const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns a digest of the kernels of the table, which comments do not change. */
export const sourcesOf = async (kernels: ReadonlyMap<ChipName, readonly ChipKernel[]>): Promise<string> => {
  const text = [...kernels].map(([chip, own]) => [chip, own.map(({ title, source }) => [title, bare(source)])]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(text)));
  return hexOf(digest).slice(0, 16);
};

/**
 * Returns the main figure of a chip: the driver's cycle estimate, or the instructions if there is
 * none.
 */
const mainFigure = ({ cycles, instructions }: Figures): number => cycles ?? instructions;

const isTimed = (chip: ChipName): boolean => {
  const { maker, sm } = chips[chip];
  return sm !== undefined || !['nvidia', 'qualcomm'].includes(maker);
};

const markdown = (lines: readonly (readonly string[])[]): string[] => {
  const [head = [], ...rows] = lines.map((line) => `| ${line.join(' | ')} |`);
  return [head as string, `|---|${'--:|'.repeat((lines[0]?.length ?? 1) - 1)}`, ...rows];
};

/** @param drivers name and driver of each chip */
export const docsTable = (
  sources: string,
  rows: readonly ChipRow[],
  drivers: ReadonlyMap<ChipName, string>,
): string => {
  const figuresOn = (chip: ChipName, kernel: string): Figures | null =>
    rows.find((row) => row.chip === chip && row.kernel === kernel)?.figures[0] ?? null;
  const kernels = [...new Set(rows.map(({ kernel }) => kernel))];
  const all = [...drivers.keys()];
  const overview = [
    ['', ...all.map((chip) => chips[chip].title)],
    ['what is counted', ...all.map((chip) => (isTimed(chip) ? 'cycles' : 'instructions'))],
    ...kernels.map((kernel) => [
      kernel,
      ...all.map((chip) => {
        const figures = figuresOn(chip, kernel);
        return numberText(figures && mainFigure(figures));
      }),
    ]),
  ];
  const details = all.flatMap((chip) => {
    const own = rows.filter((row) => row.chip === chip);
    const heads = figureHeads.filter(([key]) => own.some(({ figures: [one] }) => typeof one?.[key] === 'number'));
    return [
      `\n### ${chips[chip].title}\n\n${drivers.get(chip)}.\n`,
      ...markdown([
        ['kernel', ...heads.map(([, head]) => head)],
        ...own.map(({ kernel, figures: [one] }) => [kernel, ...heads.map(([key]) => numberText(one?.[key]))]),
      ]),
    ];
  });
  return [`Made from the sources \`${sources}\`.\n`, ...markdown(overview), ...details].join('\n');
};
