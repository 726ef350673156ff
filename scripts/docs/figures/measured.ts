/** Computes figures from their rows. */
import { leastPairs, median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { formatRange, formats, type Measured } from './format.js';
import { contentOf, rowsIn, select, valueAt, type Where } from './rows.js';
import { type Figure, type FigureFile, type RowFigure, readFigures } from './schema.js';

/** @throws Error if a value is no number */
const numbersAt = (rows: readonly unknown[], path: string, id: string): number[] =>
  rows.map((row) => {
    const value = valueAt(row, path);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error(`${id}: ${path} of its row is no number`);
    return value;
  });

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const ratioOf = (own: readonly number[], others: readonly number[]): Measured => {
  const pairs = Math.min(own.length, others.length);
  if (pairs < leastPairs || own.length !== others.length)
    return { value: (median(own) as number) / (median(others) as number) };
  const { ratio, low, high } = ratioOfMedians(others, own);
  return { value: ratio, low, high };
};

const measure = (figure: RowFigure): Measured => {
  const { id, file, list, value } = figure;
  const numbers = (where: Where, path: string): number[] => {
    const rows = select(rowsIn(file, list), where);
    if (rows.length === 0) throw new Error(`${id}: dev/results/${file} has no row with ${JSON.stringify(where)}`);
    return numbersAt(rows, path, id);
  };
  const own = (path: string) => numbers(figure.where, path);
  if ('median' in value) return { value: median(own(value.median)) as number };
  if ('sum' in value) return { value: sum(own(value.sum)) };
  if ('ratio' in value) return ratioOf(own(value.ratio), numbers(value.to, value.ratio));
  if ('sumRatio' in value) return { value: sum(own(value.sumRatio)) / sum(numbers(value.to, value.sumRatio)) };
  if ('share' in value) return { value: (median(own(value.share)) as number) / (median(own(value.of)) as number) };
  const found = own(value.field);
  if (found.length !== 1) throw new Error(`${id}: ${found.length} rows instead of one`);
  return { value: found[0] as number };
};

/** The figures of dev/results/figures.json, each computed once. */
export class Figures {
  readonly all: readonly Figure[];
  readonly files: FigureFile['files'];
  readonly #measured = new Map<string, Measured>();

  constructor(content: unknown = contentOf('figures.json')) {
    const { figures, files } = readFigures(content);
    this.all = figures;
    this.files = files;
  }

  /** @throws Error if there is none */
  find(id: string): Figure {
    const figure = this.all.find((each) => each.id === id);
    if (figure === undefined) throw new Error(`dev/results/figures.json has no figure ${id}`);
    return figure;
  }

  has(id: string): boolean {
    return this.all.some((each) => each.id === id);
  }

  measuredOf(figure: RowFigure): Measured {
    const measured = this.#measured.get(figure.id) ?? measure(figure);
    this.#measured.set(figure.id, measured);
    return measured;
  }

  /** Returns all row figures that a figure is made of. */
  sourcesOf(figure: Figure): RowFigure[] {
    return 'range' in figure ? figure.range.flatMap((id) => this.sourcesOf(this.find(id))) : [figure];
  }

  /**
   * Returns the text of a figure for a page.
   *
   * @throws Error if there is no such figure or row, or a newer row supersedes it
   */
  text(id: string): string {
    const figure = this.find(id);
    for (const each of [figure, ...this.sourcesOf(figure)])
      if (each.supersededBy !== undefined) throw new Error(`${each.id} is superseded by ${each.supersededBy}`);
    if (!('range' in figure)) return formats[figure.as](this.measuredOf(figure));
    return formatRange(
      this.sourcesOf(figure).map((each) => this.measuredOf(each)),
      figure.as,
    );
  }
}
