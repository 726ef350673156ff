/**
 * The address of a case: `points=pairs,scalars=all-equal,n=4097,seed=1`, on another curve than BN254 with `curve=pallas` in front, in its second group
 * with `group=g2`, with points in other bytes with `encoding=ark`. The same text in URLs, in CI and in reports.
 */
import type { PointEncoding } from '../../src/api/values.js';
import type { Group } from '../../src/curves/names.js';
import { type CurveGroup, type CurveName, curveNames, groupsOf, noSuchGroup, oracles } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { type PointDistributionName, pointDistributions } from './point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from './scalar-distributions.js';

/** What points are multiplied, and as what they come. */
export interface EncodedGroup extends CurveGroup {
  readonly encoding: PointEncoding;
}

export interface CaseAddress extends EncodedGroup {
  readonly points: PointDistributionName;
  readonly scalars: ScalarDistributionName;
  readonly n: number;
  readonly seed: number;
}

/** The most points that a case may have. */
export const maxPoints = 2 ** 22;

export const defaultCurve: CurveName = 'bn254';
export const defaultGroup: Group = 'g1';
export const defaultEncoding: PointEncoding = 'le';

export function formatCaseAddress({ curve, group, encoding, points, scalars, n, seed }: CaseAddress): string {
  const where = [
    curve === defaultCurve ? '' : `curve=${curve},`,
    group === defaultGroup ? '' : `group=${group},`,
    encoding === defaultEncoding ? '' : `encoding=${encoding},`,
  ].join('');
  return `${where}points=${points},scalars=${scalars},n=${n},seed=${seed}`;
}

const distributionParser =
  <Name extends string>(field: string, known: Readonly<Record<Name, unknown>>) =>
  /** @throws RangeError that names the unknown name and the known ones */
  (name: string): Name => {
    if (Object.hasOwn(known, name)) return name as Name;
    throw new RangeError(`${field}: no distribution is named "${name}"; there are ${Object.keys(known).join(', ')}`);
  };

export const parsePointDistribution = distributionParser<PointDistributionName>('points', pointDistributions);
export const parseScalarDistribution = distributionParser<ScalarDistributionName>('scalars', scalarDistributions);

/** @throws RangeError that names the unknown name and the known ones */
export const parseCurve = (name: string): CurveName => {
  if (Object.hasOwn(oracles, name)) return name as CurveName;
  throw new RangeError(`curve: none is named "${name}"; there are ${curveNames.join(', ')}`);
};

/**
 * @param said the name that an error has
 * @throws RangeError that names the group, and those that there are
 */
export const parseGroup = (name: string, said = 'group'): Group => {
  if (name === 'g1' || name === 'g2') return name;
  throw new RangeError(`${said}: "${name}" is not g1 or g2`);
};

/** @throws RangeError that names the curves which have the group, where this one has not */
export function curveGroup(curve: CurveName, group: Group): CurveGroup {
  if (groupsOf(curve).includes(group)) return { curve, group };
  throw new RangeError(noSuchGroup(curve));
}

/**
 * @param said the name that an error has
 * @throws RangeError that names the encoding, and those that the group has
 */
export function parseEncoding(name: string, of: CurveGroup, said = 'encoding'): PointEncoding {
  const all = encodingsOf(of);
  const encoding = all.find((each) => each === name);
  if (encoding !== undefined) return encoding;
  throw new RangeError(`${said}: "${name}" is none of ${of.curve}, ${of.group}; there are ${all.join(', ')}`);
}

/** @throws RangeError that names the field and the range */
export function parseInteger(field: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new RangeError(`${field}: "${text}" is not an integer from ${least} to ${most}`);
  }
  return value;
}

export const parseSize = (text: string): number => parseInteger('n', text, 0, maxPoints);
export const parseSeed = (text: string): number => parseInteger('seed', text, 0, 2 ** 32 - 1);

const fieldNames: readonly (keyof CaseAddress)[] = ['curve', 'group', 'encoding', 'points', 'scalars', 'n', 'seed'];
const isField = (key: string): key is keyof CaseAddress => (fieldNames as readonly string[]).includes(key);

/**
 * The `key=value` fields of an address or of a filter, which may leave some out.
 *
 * @throws RangeError that names the field that is unknown, repeated or has no value
 */
export function parseFields(text: string): ReadonlyMap<keyof CaseAddress, string> {
  const fields = new Map<keyof CaseAddress, string>();
  for (const part of text.split(',')) {
    const [key = '', value, ...rest] = part.trim().split('=');
    if (!isField(key))
      throw new RangeError(`case "${text}": no field is named "${key}"; there are ${fieldNames.join(', ')}`);
    if (value === undefined || value === '' || rest.length > 0) {
      throw new RangeError(`case "${text}": write the field "${key}" as ${key}=value`);
    }
    if (fields.has(key)) throw new RangeError(`case "${text}": the field "${key}" occurs twice`);
    fields.set(key, value);
  }
  return fields;
}

/** @throws RangeError that names what is wrong or missing */
export function parseCaseAddress(text: string): CaseAddress {
  const fields = parseFields(text);
  const field = (key: keyof CaseAddress): string => {
    const value = fields.get(key);
    if (value === undefined) throw new RangeError(`case "${text}": the field "${key}" is missing`);
    return value;
  };
  const of = curveGroup(
    parseCurve(fields.get('curve') ?? defaultCurve),
    parseGroup(fields.get('group') ?? defaultGroup),
  );
  return {
    ...of,
    encoding: parseEncoding(fields.get('encoding') ?? defaultEncoding, of),
    points: parsePointDistribution(field('points')),
    scalars: parseScalarDistribution(field('scalars')),
    n: parseSize(field('n')),
    seed: parseSeed(field('seed')),
  };
}
