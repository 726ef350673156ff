/** The section of docs/reference/performance.md with predicted times, and how it is read again. */
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { type CardOfChip, cards } from './cards.js';
import { chips } from './chips.js';
import { planFor, predictedMs, type WalkCycles } from './prediction.js';

const SIZES = [16, 18, 20] as const;

const HEAD = ['card', 'turn', 'turn, alone', 'inversion', 'inversion, alone', 'warps'];

const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });

/** Two digits say as much as a prediction does. */
const msText = (ms: number): string => `${Number(ms.toPrecision(2))} ms`;

/** Returns the predicted times of a card, in the order of the columns. */
export const predictionsOf = (card: CardOfChip, cycles: WalkCycles): string[] => {
  const curve = curveContext(bn254);
  const { maker, architecture } = chips[card.chip];
  return SIZES.map((logn) => msText(predictedMs(card, cycles, planFor(curve, maker, architecture, 2 ** logn))));
};

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** @param cyclesOf cycles by the title of a card */
export const predictionTable = (cyclesOf: ReadonlyMap<string, WalkCycles>): string => {
  const head = [...HEAD, ...SIZES.map((logn) => `2^${logn}, *predicted*`)];
  const rows = cards.map((card) => {
    const cycles = cyclesOf.get(card.title) as WalkCycles;
    const { turn, inversion, warps } = cycles;
    const figures = [turn.bound, turn.alone, inversion.bound, inversion.alone, warps].map(count);
    return row([card.title, ...figures, ...predictionsOf(card, cycles)]);
  });
  return [row(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows].join('\n');
};

/** Reads the cycles of the cards from the section. */
export const readCycles = (page: string): Map<string, WalkCycles> =>
  new Map(
    cards.map(({ title }) => {
      const line = page.split('\n').find((each) => each.startsWith(`| ${title} |`)) ?? '';
      const [bound = 0, alone = 0, inverseBound = 0, inverseAlone = 0, warps = 0] = line
        .split('|')
        .slice(2, 7)
        .map((cell) => Number(cell.replaceAll(',', '')));
      return [title, { turn: { bound, alone }, inversion: { bound: inverseBound, alone: inverseAlone }, warps }];
    }),
  );
