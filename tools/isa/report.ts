/** Tables of kernels × chips, for terminals and for docs/reference/chips.md. */
import { tableLines, withoutEmpty } from '../../dev/bench/format.js';
import { bn254 } from '../../src/curves/bn254.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { type ChipName, chips, type Figures } from './chips.js';
import { type ChipKernel, fieldKernels, setupKernels, stageKernels, vectorKernels } from './kernels.js';

/** One kernel on one chip. */
interface ChipRow {
  readonly chip: ChipName;
  readonly kernel: string;
  /** Figures of A and B, or of the only setting; null where a setting has no such kernel. */
  readonly figures: readonly (Figures | null)[];
}

/** Figures with their heads, in the order of the tables. */
const figureHeads: readonly (readonly [keyof Figures, string])[] = [
  ['instructions', 'instructions'],
  ['registers', 'registers'],
  ['spills', 'spills'],
  ['memory', 'memory'],
  ['waves', 'waves'],
  ['cycles', 'cycles'],
  ['alone', 'alone'],
  ['codeBytes', 'code bytes'],
  ['compileSeconds', 'compile s'],
];

const NOTHING = '–';

const numberText = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return NOTHING;
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
};

const ratioText = (a: number, b: number): string => (a === 0 ? '' : ` ×${(b / a).toFixed(2)}`);

const cell = (values: readonly (number | null | undefined)[]): string => {
  const [a, b] = values;
  if (values.length === 1 || (a === b && typeof a === 'number')) return numberText(a);
  const both = typeof a === 'number' && typeof b === 'number';
  const text = `${numberText(a)} → ${numberText(b)}${both ? ratioText(a, b) : ''}`;
  return text === `${NOTHING} → ${NOTHING}` ? NOTHING : text;
};

/** @param drivers name and driver of each chip */
export const chipReport = (rows: readonly ChipRow[], drivers: ReadonlyMap<ChipName, string>): string[] =>
  [...drivers].flatMap(([chip, driver]) => {
    const own = rows.filter((row) => row.chip === chip);
    const lines = own.map(({ kernel, figures }) => [
      kernel,
      ...figureHeads.map(([key]) => cell(figures.map((each) => each?.[key]))),
    ]);
    return [
      `\n${chips[chip].title}: ${driver}`,
      ...tableLines(withoutEmpty([['kernel', ...figureHeads.map(([, head]) => head)], ...lines])),
    ];
  });

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
 * operations: those of BN254, those that differ in its G2, those of vectors, and those of setups.
 */
export const kernelsOfTable = async (chip: ChipName): Promise<ChipKernel[]> => {
  const ofPairs = (await stageKernels({ createMsmEngine }, chip, bn254G2, {})).filter(({ name }) =>
    OF_PAIRS.includes(name),
  );
  const all = [
    ...(await stageKernels({ createMsmEngine }, chip, bn254, {})),
    ...ofPairs.map((kernel) => ({ ...kernel, title: `${kernel.title}, G2` })),
    ...(await vectorKernels(chip)),
    ...(await setupKernels(chip, bn254)),
    ...(await setupKernels(chip, bn254G2)).map((kernel) => ({ ...kernel, title: `${kernel.title}, G2` })),
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
