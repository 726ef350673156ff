/** What the rates of field-bench say: on the page and in a terminal. */
import type { FieldBenchRow } from '../field-bench/run.js';
import { type Fastest, fastestBy } from './summary.js';
import { standingWords } from './words.js';

/** An operation in one way, with the number of chains at which it is best. */
export const bestRow = <Row extends FieldBenchRow>(
  rows: readonly Row[],
  variant: string,
  operation: string,
): Row | undefined =>
  rows
    .filter((row) => row.variant === variant && row.operation === operation)
    .sort((a, b) => b.perSecond - a.perSecond)[0];

/** All products, each at its best. */
export const products = <Row extends FieldBenchRow>(rows: readonly Row[]): Row[] => {
  const variants = new Set(rows.filter(({ operation }) => operation === 'product').map(({ variant }) => variant));
  return [...variants].flatMap((variant) => bestRow(rows, variant, 'product') ?? []);
};

export const fastestProduct = <Row extends FieldBenchRow>(rows: readonly Row[]): Fastest<Row> | null =>
  fastestBy(products(rows), ({ rates }) => rates.map((rate) => 1 / rate));

export const productWords = (fastest: Fastest<FieldBenchRow>, rows: readonly FieldBenchRow[]): string =>
  standingWords(fastest, products(rows).length, ({ variant }) => variant);
