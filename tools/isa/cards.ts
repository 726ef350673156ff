/** Cards of the predictions, with the compiler that speaks for each. */
import { deviceClassOf } from '../../src/msm/plan/device-profiles.js';
import { type ChipName, chips } from './chips.js';
import { type Figures, figuresOf, type Statistics } from './figures.js';
import type { Cycles, InnerLoop } from './nvidia-sass.js';
import { batches, type Card, type WalkCycles } from './prediction.js';

/** A card, and the chip that its code is compiled for. */
export interface CardOfChip extends Card {
  readonly chip: ChipName;
}

const MB = 2 ** 20;

/** By the makers' data sheets; rates of caches as others measured them. */
export const cards: readonly CardOfChip[] = [
  {
    ...{ title: 'NVIDIA H200', chip: 'sm_90', schedulers: 528, lanes: 32, gigahertz: 1.98 },
    ...{ cacheBytes: 50 * MB, cacheRate: 5500, memoryRate: 4800 },
  },
  {
    ...{ title: 'NVIDIA RTX 4090', chip: 'sm_89', schedulers: 512, lanes: 32, gigahertz: 2.52 },
    ...{ cacheBytes: 72 * MB, cacheRate: 4500, memoryRate: 1008 },
  },
  {
    ...{ title: 'AMD RX 7900 XTX', chip: 'navi31', schedulers: 192, lanes: 64, gigahertz: 2.5 },
    ...{ cacheBytes: 96 * MB, cacheRate: 2500, memoryRate: 960 },
  },
  {
    ...{ title: 'Apple M1, 8 cores', chip: 'm1', schedulers: 32, lanes: 32, gigahertz: 1.278 },
    ...{ cacheBytes: 8 * MB, cacheRate: 200, memoryRate: 68 },
  },
  {
    ...{ title: 'Qualcomm Adreno 740', chip: 'adreno740', schedulers: 12, lanes: 128, gigahertz: 0.68 },
    ...{ cacheBytes: 3 * MB, cacheRate: 150, memoryRate: 67 },
  },
];

/** Figures of the kernels that a prediction is made from. */
export interface CardFigures {
  readonly walk: Figures;
  readonly product: Figures;
  readonly inverse: Figures;
  /** Inner loops of walk and inversion; NVIDIA's compiler alone. */
  readonly loops?: { readonly walk: readonly InnerLoop[]; readonly inverse: readonly InnerLoop[] };
}

/**
 * A turn has as much around its product everywhere as in NVIDIA's code: 1,504 cycles for 1,124. On
 * an H200 a turn in extended coordinates takes 1,199 cycles at the bound and 1,760 alone for 875
 * and 1,314 (experiment h200-form-xyzz-fma).
 */
const TURN_TO_PRODUCT = 1504 / 1124;

/** Cycles of a warp alone for those of the busiest pipe; on NVIDIA 1.8 (sm_90) to 2.3 (sm_86). */
const ALONE_TO_BOUND = 2;

/** Loops of the inversion in the instructions of its kernel, as in NVIDIA's code. */
const LOOPS_OF_INVERSE = 0.68;

/** Rounds that AMD's driver counts for a loop. */
const ROUNDS = 8;

/** Returns the cycles and the room for warps that the compiler of a card's chip gives. */
export const walkCycles = (card: CardOfChip, { walk, product, inverse, loops }: CardFigures): WalkCycles => {
  const scaled = (bound: number, alone = ALONE_TO_BOUND * bound): Cycles => ({
    bound: Math.round(bound),
    alone: Math.round(alone),
  });
  if (loops !== undefined) {
    const { cycles, alone } = product;
    const turn = hasExtendedSums(card.chip)
      ? scaled(TURN_TO_PRODUCT * (cycles as number), TURN_TO_PRODUCT * (alone as number))
      : loops.walk.reduce((most, loop) => (loop.bound > most.bound ? loop : most));
    const rounds = (of: 'bound' | 'alone'): number => batches * loops.inverse.reduce((sum, loop) => sum + loop[of], 0);
    return {
      turn: { bound: turn.bound, alone: turn.alone },
      inversion: { bound: rounds('bound'), alone: rounds('alone') },
      // an SM has four schedulers
      warps: (walk.waves as number) / 4,
    };
  }
  if (card.chip === 'navi31') {
    return {
      turn: scaled((TURN_TO_PRODUCT * (product.cycles as number)) / ROUNDS),
      inversion: scaled((batches * (inverse.cycles as number)) / ROUNDS ** 2),
      warps: walk.waves as number,
    };
  }
  const count = ({ cycles, instructions }: Figures): number => cycles ?? instructions;
  return {
    turn: scaled(TURN_TO_PRODUCT * count(product)),
    inversion: scaled(batches * LOOPS_OF_INVERSE * count(inverse)),
    // Apple's driver reports threads of a core, which has four schedulers
    warps: card.chip === 'm1' ? (walk.waves as number) / card.lanes / 4 : (walk.waves as number),
  };
};

/** Returns whether the default walk of a chip has sums in extended coordinates. */
const hasExtendedSums = (chip: ChipName): boolean => {
  const { maker, architecture } = chips[chip];
  return deviceClassOf({ vendor: maker, architecture }).knobs.walkerCoordinates === 'xyzz';
};

/** Names of the kernels that a prediction for a chip is made from. */
export const kernelsOfPrediction = (chip: ChipName): Record<'walk' | 'product' | 'inverse', string> => {
  const { maker, architecture } = chips[chip];
  const { product } = deviceClassOf({ vendor: maker, architecture });
  const walk = hasExtendedSums(chip) ? 'walk_xyzz' : 'walk';
  return { walk, product: `product words, ${product}`, inverse: `inverse words, ${product}` };
};

interface Compiled {
  readonly chip: ChipName;
  readonly kernel: string;
  readonly statistics: Statistics | null;
}

/** Returns the cycles of all cards, by their titles. @throws Error if a kernel is missing */
export const cyclesOfCards = (compiled: readonly Compiled[]): Map<string, WalkCycles> =>
  new Map(
    cards.map((card) => {
      const names = kernelsOfPrediction(card.chip);
      const found = (part: keyof typeof names): Statistics => {
        const one = compiled.find(({ chip, kernel }) => chip === card.chip && kernel === names[part]);
        if (!one?.statistics) throw new Error(`${card.chip} has no ${names[part]}`);
        return one.statistics;
      };
      const [walk, product, inverse] = [found('walk'), found('product'), found('inverse')];
      const loopsIn = ({ loops }: Statistics): InnerLoop[] => JSON.parse(String(loops));
      const figures = {
        walk: figuresOf(card.chip, walk),
        product: figuresOf(card.chip, product),
        inverse: figuresOf(card.chip, inverse),
        ...(walk.loops !== undefined && { loops: { walk: loopsIn(walk), inverse: loopsIn(inverse) } }),
      };
      return [card.title, walkCycles(card, figures)];
    }),
  );
