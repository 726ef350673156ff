/** `encodings`, `point-bytes` and `scalar-encodings`: the encodings, and which curve has which. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { oracleOf } from '../../../dev/oracle/curves.js';
import { pointWriter } from '../../../dev/oracle/encodings.js';
import type { PointEncoding } from '../../../src/api/values.js';
import { type Word, wordsOf } from '../declarations.js';
import { code, prose, table } from '../markdown.js';
import type { Blocks } from '../pages.js';
import { type NamedGroup, namedGroups } from './curves.js';

const VALUES = 'src/api/values.ts';

const pointWords = (): Word[] => [...wordsOf(VALUES, 'PointEncoding'), ...wordsOf(VALUES, 'SpecialEncoding')];

/** Vectors of other software, as files of tests/vectors have them. */
interface Vectors {
  readonly software: string;
  readonly curves?: readonly { readonly encodings?: Readonly<Record<string, unknown>> }[];
}

const comparedWith = (): ReadonlyMap<string, readonly string[]> => {
  const folder = fileURLToPath(new URL('../../../tests/vectors/', import.meta.url));
  const compared = new Map<string, string[]>();
  for (const name of readdirSync(folder)
    .filter((each) => each.endsWith('.json'))
    .sort()) {
    const { software, curves = [] } = JSON.parse(readFileSync(folder + name, 'utf8')) as Vectors;
    for (const encoding of new Set(curves.flatMap(({ encodings = {} }) => Object.keys(encodings))))
      compared.set(encoding, [...(compared.get(encoding) ?? []), software]);
  }
  return compared;
};

const pointRows = (): string[][] => {
  const compared = comparedWith();
  return pointWords().map(({ word, paragraphs }) => [
    code(word),
    prose(paragraphs.join(' ')),
    (compared.get(word) ?? []).join(', '),
  ]);
};

const bytesOf = ({ curve, group }: NamedGroup, encoding: PointEncoding): number => {
  const oracle = oracleOf({ curve, group });
  const { x, y } = oracle.Point.BASE.toAffine();
  return pointWriter(oracle, encoding)({ x, y, infinity: false })?.length ?? 0;
};

const everywhere = wordsOf(VALUES, 'PointEncoding').map(({ word }) => word as PointEncoding);

/** Returns the encodings of a group by the bytes of a point: `64: le, be; 32: ark-compressed`. */
const sizesOf = (of: NamedGroup): string => {
  const bySize = new Map<number, string[]>();
  for (const encoding of [...everywhere, ...of.context.encodings]) {
    const bytes = bytesOf(of, encoding);
    bySize.set(bytes, [...(bySize.get(bytes) ?? []), code(encoding)]);
  }
  return [...bySize].map(([bytes, names]) => `${bytes} bytes: ${names.join(', ')}`).join('; ');
};

const sizeRows = (): string[][] => {
  const titles = new Map<string, string[]>();
  for (const of of namedGroups) {
    const sizes = sizesOf(of);
    titles.set(sizes, [...(titles.get(sizes) ?? []), of.title]);
  }
  return [...titles].map(([sizes, names]) => [names.join(', '), sizes]);
};

export const blocks: Blocks = {
  encodings: () => table(['`encoding`', 'bytes', 'compared with the output of'], pointRows()),
  'point-bytes': () => table(['group', 'bytes of a point'], sizeRows()),
  'scalar-encodings': () =>
    table(
      ['`scalarEncoding`', '32 bytes'],
      wordsOf(VALUES, 'ScalarEncoding').map(({ word, paragraphs }) => [code(word), prose(paragraphs.join(' '))]),
    ),
};
