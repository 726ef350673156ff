/** The list of cases, and how filters and sets select from it. */

import type { PointEncoding } from '../../src/api/values.js';
import { type CurveGroup, curveNames, groupsOf } from '../oracle/curves.js';
import { encodingsOf, hasInfinity } from '../oracle/encodings.js';
import {
  type CaseAddress,
  curveGroup,
  defaultCurve,
  defaultEncoding,
  defaultGroup,
  type EncodedGroup,
  everyPoints,
  everyScalars,
  formatCaseAddress,
  parseCurve,
  parseEncoding,
  parseFields,
  parseGroup,
  parsePointDistribution,
  parseScalarDistribution,
  parseSeed,
  parseSize,
} from './address.js';
import { type PointDistribution, type PointDistributionName, pointDistributions } from './point-distributions.js';
import { scalarDistributions } from './scalar-distributions.js';

export { everyPoints, everyScalars };

/**
 * Sizes: empty and nearly empty; the neighbours of a workgroup of 64 and of a window of 2^8; 1000,
 * which is no power; the neighbours of 2^12; a power that fills every buffer; and 2^17 − 1, at
 * which a published implementation is wrong.
 */
export const listSizes = [0, 1, 2, 3, 63, 65, 257, 1000, 4095, 4097, 65_536, 131_071] as const;

export const everyCase = (of: EncodedGroup, seed: number): CaseAddress[] =>
  listSizes.flatMap((n) =>
    everyPoints.flatMap((points) => everyScalars.map((scalars) => ({ ...of, points, scalars, n, seed }))),
  );

/**
 * Returns a tenth of the list in which every pair of points, scalars and n occurs: all pairs of
 * scalars and n, with the points of a Latin square. Points are the fewest of the three, so each row
 * of the square covers them.
 */
export const pairwiseCases = (of: EncodedGroup, seed: number): CaseAddress[] =>
  listSizes.flatMap((n, i) =>
    everyScalars.map((scalars, j) => ({
      ...of,
      points: everyPoints[(i + j) % everyPoints.length] as PointDistributionName,
      scalars,
      n,
      seed,
    })),
  );

export const everyGroup: readonly CurveGroup[] = curveNames.flatMap((curve) =>
  groupsOf(curve).map((group) => ({ curve, group })),
);

/**
 * Returns the case most likely to show a mistake in the constants or arithmetic of a curve: most
 * additions are exceptional, and all digits occur.
 */
const representative = (of: EncodedGroup, n: number, seed: number): CaseAddress => ({
  ...of,
  // points without infinity for encodings that cannot express it
  points: hasInfinity(of.encoding) ? 'few-with-signs' : 'pairs',
  scalars: 'carry-patterns',
  n,
  seed,
});

const representatives = (n: number, seed: number): CaseAddress[] =>
  everyGroup.map((of) => representative({ ...of, encoding: defaultEncoding }, n, seed));

/** Returns a case with more than one workgroup of points, in every encoding of every group. */
export const everyEncoding = (seed: number): CaseAddress[] =>
  everyGroup.flatMap((of) => encodingsOf(of).map((encoding) => representative({ ...of, encoding }, 100, seed)));

/**
 * Returns the placement of prefix products of a case that runs with one only. Placements alternate
 * along each axis of the list.
 */
export const alternatingPlacement = ({ points, scalars, n }: CaseAddress): 'private' | 'workgroup' => {
  const index =
    everyPoints.indexOf(points) + everyScalars.indexOf(scalars) + (listSizes as readonly number[]).indexOf(n);
  return index % 2 === 0 ? 'private' : 'workgroup';
};

interface CaseSet {
  readonly about: string;
  make(sizes: readonly number[], seed: number, of: EncodedGroup): CaseAddress[];
}

const filtered =
  (...filters: string[]): CaseSet['make'] =>
  (sizes, seed, of) =>
    filters.flatMap((filter) => expand(filter, sizes, seed, of));

/** Returns the encoding least like the library's own; every curve supports one of the two. */
const unlikeOwn = (of: CurveGroup): PointEncoding =>
  encodingsOf(of).includes('ark-compressed') ? 'ark-compressed' : 'le-montgomery';

export const caseSets: Readonly<Record<string, CaseSet>> = {
  core: {
    about:
      'the plain case, four in which most additions are exceptional, and compressed points if the curve supports them, else Montgomery form',
    make: (sizes, seed, of) =>
      filtered(
        'points=distinct,scalars=random',
        'points=all-equal,scalars=all-equal',
        'points=pairs,scalars=all-equal',
        'points=with-infinities,scalars=one-bucket-and-noise',
        'points=few-with-signs,scalars=r-and-above',
        `encoding=${unlikeOwn(of)},points=few-with-signs,scalars=random`,
      )(sizes, seed, of),
  },
  distributions: {
    about:
      'every scalar distribution over distinct points, every point distribution with random and with equal scalars',
    make: filtered('points=distinct,scalars=*', 'points=*,scalars=random', 'points=*,scalars=all-equal'),
  },
  all: {
    about: `every distribution of points with every one of scalars, at fixed sizes: ${listSizes.join(', ')}`,
    make: (_, seed, of) => everyCase(of, seed),
  },
  tenth: {
    about: 'a tenth of “all” in which every pair of points, scalars and size occurs',
    make: (_, seed, of) => pairwiseCases(of, seed),
  },
  groups: {
    about: 'one case in every group of every curve',
    make: (sizes, seed) => sizes.flatMap((n) => representatives(n, seed)),
  },
  encodings: {
    about: 'one case in every encoding of every group of every curve, at a fixed size',
    make: (_, seed) => everyEncoding(seed),
  },
};

/**
 * Expands one filter: the name of a set, a whole address, or an address without some fields. `*`
 * in, or the absence of, `points` or `scalars` means every distribution. Without `n` the case is
 * made at each of `sizes`; some sets have fixed sizes. A filter with a curve but no group means the
 * first group, as in an address. A filter with a curve or group has the library's own encoding
 * unless it names one, and `encoding=*` means every encoding. {@link selectCases} drops cases that
 * an encoding cannot express.
 *
 * @throws RangeError that quotes what is wrong
 */
function expand(filter: string, sizes: readonly number[], seed: number, of: EncodedGroup): CaseAddress[] {
  const set = Object.hasOwn(caseSets, filter) ? caseSets[filter] : undefined;
  if (set !== undefined) return set.make(sizes, seed, of);
  if (!filter.includes('=')) {
    throw new RangeError(
      `case "${filter}" is neither a set (${Object.keys(caseSets).join(', ')}) nor an address such as points=pairs,scalars=*`,
    );
  }
  const fields = parseFields(filter);
  const all = <Value>(text: string | undefined, parse: (text: string) => Value, every: readonly Value[]) =>
    text === undefined ? every : [parse(text)];
  const named = (field: 'points' | 'scalars' | 'encoding') =>
    fields.get(field) === '*' ? undefined : fields.get(field);
  const [ownSeed = seed] = all(fields.get('seed'), parseSeed, [seed]);
  const [ownCurve = of.curve] = all(fields.get('curve'), parseCurve, [of.curve]);
  const [ownGroup = of.group] = all(fields.get('group'), parseGroup, [fields.has('curve') ? defaultGroup : of.group]);
  const own = curveGroup(ownCurve, ownGroup);
  const allPoints = all(named('points'), parsePointDistribution, everyPoints);
  const allScalars = all(named('scalars'), parseScalarDistribution, everyScalars);
  const ownEncoding = fields.has('curve') || fields.has('group') ? defaultEncoding : of.encoding;
  const allEncodings = all(
    named('encoding'),
    (text) => parseEncoding(text, own),
    fields.get('encoding') === '*' ? encodingsOf(own) : [ownEncoding],
  );
  return all(fields.get('n'), parseSize, sizes).flatMap((n) =>
    allEncodings.flatMap((encoding) =>
      allPoints.flatMap((points) =>
        allScalars.map((scalars) => ({ ...own, encoding, points, scalars, n, seed: ownSeed })),
      ),
    ),
  );
}

const canBeWritten = ({ encoding, points }: CaseAddress): boolean =>
  hasInfinity(encoding) || (pointDistributions[points] as PointDistribution).hasInfinity !== true;

/**
 * Returns the cases of all filters, each once, with the given group and encoding as defaults. Cases
 * that share their points are adjacent.
 *
 * @throws RangeError that quotes what is wrong
 */
export function selectCases(
  filters: readonly string[],
  sizes: readonly number[],
  seed: number,
  of: EncodedGroup = { curve: defaultCurve, group: defaultGroup, encoding: defaultEncoding },
): CaseAddress[] {
  const cases = new Map<string, CaseAddress>();
  for (const filter of filters) {
    const all = expand(filter.trim(), sizes, seed, of);
    const own = all.filter(canBeWritten);
    if (own.length === 0 && all.length > 0)
      throw new RangeError(`case "${filter}": these points include infinity, which the encoding cannot express`);
    for (const address of own) cases.set(formatCaseAddress(address), address);
  }
  const rank = ({ points, scalars }: CaseAddress): number =>
    everyPoints.indexOf(points) * everyScalars.length + everyScalars.indexOf(scalars);
  return [...cases.values()].sort((a, b) => a.n - b.n || a.seed - b.seed || rank(a) - rank(b));
}

export function describeCases(): string {
  const list = (title: string, entries: Readonly<Record<string, { readonly about: string }>>): string =>
    [title, ...Object.entries(entries).map(([name, { about }]) => `  ${name.padEnd(22)} ${about}`)].join('\n');
  return [list('Sets', caseSets), list('Points', pointDistributions), list('Scalars', scalarDistributions)].join(
    '\n\n',
  );
}
