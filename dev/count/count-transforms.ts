/** Counts the work of transforms on a device. */
import type { TransformOptions } from '../../src/api/fields.js';
import { createFieldEngine, type FieldName, type FieldVector } from '../../src/fields.js';
import { tableLines } from '../bench/table.js';
import type { CurveName } from '../oracle/curves.js';
import { assertTransforms, transformInput } from '../oracle/transforms.js';
import { CountingDevice } from './counting-device.js';

export interface TransformCounts {
  readonly n: number;
  readonly name: string;
  /** Products of elements, scalings included. */
  readonly products: number;
  /** Most products by the target: 1.1·(n/2)·log₂ n, and n for each scaling. */
  readonly mostProducts: number;
  /** Passes of the transform over memory, without copies and scalings. */
  readonly passes: number;
  /** Most passes by the target: ⌈log₂ n ÷ 9⌉. */
  readonly mostPasses: number;
  readonly dispatches: number;
  /** Words of storage that were read or written. */
  readonly words: number;
}

interface Kind {
  readonly name: string;
  readonly direction: 'ntt' | 'intt';
  readonly options: TransformOptions;
  readonly scalings: number;
}

const kinds: readonly Kind[] = [
  { name: 'ntt, to reversed', direction: 'ntt', options: { to: 'reversed' }, scalings: 0 },
  { name: 'ntt', direction: 'ntt', options: {}, scalings: 0 },
  { name: 'intt, from reversed', direction: 'intt', options: { from: 'reversed' }, scalings: 1 },
  { name: 'ntt on a coset, to reversed', direction: 'ntt', options: { to: 'reversed', coset: 5n }, scalings: 1 },
];

/** Share of the products of a textbook transform. */
const MOST_PRODUCTS = 1.1;

/** Stages of a pass: 2^9 elements of 32 bytes are 16 KB of workgroup memory. */
const STAGES = 9;

/** Words of an element of 256 bits; two of them are a point of the instrumentation. */
const ELEMENT_WORDS = 8;

/**
 * Counts transforms on a device, whose kernels it instruments. Results are checked before they
 * count.
 */
export const countTransforms = async (
  device: GPUDevice,
  curve: CurveName,
  sizes: readonly number[],
): Promise<TransformCounts[]> => {
  const counting = new CountingDevice(device, 2 * ELEMENT_WORDS);
  const fr = await createFieldEngine({ field: `${curve}-fr` as FieldName, device });
  const counts: TransformCounts[] = [];
  const count = async (a: FieldVector, { name, direction, options, scalings }: Kind): Promise<TransformCounts> => {
    counting.reset();
    const made = await fr.run((ops) => ops.keep(ops[direction](a, options)));
    const own = (await counting.read()).get(direction);
    made.destroy();
    const { passes, dispatches } = fr.lastRun as NonNullable<typeof fr.lastRun>;
    const [n, log] = [a.length, Math.log2(a.length)];
    return {
      ...{ n, name, products: own?.products ?? 0, words: own?.words ?? 0, passes, dispatches },
      mostProducts: MOST_PRODUCTS * (n / 2) * log + n * scalings,
      mostPasses: Math.ceil(log / STAGES),
    };
  };
  try {
    for (const n of sizes) {
      const input = transformInput(fr.p, n);
      const a = await fr.load(input);
      await assertTransforms(fr, a, input);
      for (const kind of kinds) counts.push(await count(a, kind));
      a.destroy();
    }
  } finally {
    fr.destroy();
  }
  return counts;
};

export const transformTable = (counts: readonly TransformCounts[]): string => {
  const number = (value: number): string => Math.round(value).toLocaleString('en');
  return tableLines([
    ['n', 'transform', 'products', 'target', 'passes', 'target', 'dispatches', 'bytes moved'],
    ...counts.map(({ n, name, products, mostProducts, passes, mostPasses, dispatches, words }) => [
      ...[number(n), name, number(products), `≤ ${number(mostProducts)}`],
      ...[String(passes), `≤ ${mostPasses}`, String(dispatches), number(4 * words)],
    ]),
  ]).join('\n');
};
