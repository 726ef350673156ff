/** Rows of bars, each with its name above it, for charts of any width. */
import { type Markish, type PlotOptions, text } from '@observablehq/plot';

/** Heights of a row and of its text, and room for the text at its right end, in CSS pixels. */
const [ROW, TEXT, VALUE] = [46, 20, 110];

/** Width of a letter, in CSS pixels. */
const LETTER = 7;

/** A row of bars: its name, and the text at its right end. */
export interface BarRow {
  readonly name: string;
  readonly value: string;
  readonly isStrong?: boolean;
}

/** Returns a picture of bars in rows, which have their indices as y. */
export const inRows = (width: number, rows: readonly BarRow[], marks: Markish[]): PlotOptions => {
  const label = (of: 'name' | 'value', frameAnchor: 'left' | 'right', isStrong: boolean) =>
    text(rows, {
      ...{ y: rows.map((_, row) => row), text: of, frameAnchor, dy: -TEXT },
      ...{ filter: ({ isStrong: is = false }: BarRow) => is === isStrong, fontWeight: isStrong ? 700 : 400 },
      ...{ textOverflow: 'ellipsis-end', lineWidth: of === 'name' ? (width - VALUE) / LETTER / 1.7 : 99 },
    });
  return {
    ...{ height: ROW * rows.length + TEXT / 2, marginTop: TEXT / 2, marginLeft: 0, marginRight: 1, marginBottom: 0 },
    x: { axis: null },
    y: { type: 'band', domain: rows.map((_, row) => row), axis: null, paddingInner: 0.52, paddingOuter: 0.26 },
    marks: [marks, ...[false, true].flatMap((is) => [label('name', 'left', is), label('value', 'right', is)])],
  };
};
