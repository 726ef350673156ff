/** Summaries of the rates of field-bench, for the page and for terminals. */
import type { FieldBenchRow } from '../field-bench/run.js';
import { type Fastest, fastestBy } from './summary.js';
import { standingText } from './verdict-text.js';

/** Returns the row of an operation in one variant with the best number of chains. */
export const bestRow = <Row extends FieldBenchRow>(
  rows: readonly Row[],
  variant: string,
  operation: string,
): Row | undefined =>
  rows
    .filter((row) => row.variant === variant && row.operation === operation)
    .sort((a, b) => b.perSecond - a.perSecond)[0];

/** Returns the best row of each product. */
export const products = <Row extends FieldBenchRow>(rows: readonly Row[]): Row[] => {
  const variants = new Set(rows.filter(({ operation }) => operation === 'product').map(({ variant }) => variant));
  return [...variants].flatMap((variant) => bestRow(rows, variant, 'product') ?? []);
};

export const fastestProduct = <Row extends FieldBenchRow>(rows: readonly Row[]): Fastest<Row> | null =>
  fastestBy(products(rows), ({ rates }) => rates.map((rate) => 1 / rate));

export const productText = (fastest: Fastest<FieldBenchRow>, rows: readonly FieldBenchRow[]): string =>
  standingText(fastest, products(rows).length, ({ variant }) => variant);
