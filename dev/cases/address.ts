/**
 * Address of a case: `points=pairs,scalars=all-equal,n=4097,seed=1`. It begins with `curve=pallas`
 * on a curve other than BN254, `group=g2` in the second group, and `encoding=ark` for points in
 * another encoding. URLs, CI and reports use the same text.
 */
import type { PointEncoding } from '../../src/api/values.js';
import type { Group } from '../../src/curves/more-curves.js';
import { type CurveGroup, type CurveName, curveNames, groupsOf, noSuchGroup } from '../oracle/curves.js';
import { encodingsOf } from '../oracle/encodings.js';
import { type PointDistributionName, pointDistributions } from './point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from './scalar-distributions.js';

/** A group of a curve, and the encoding of its points. */
export interface EncodedGroup extends CurveGroup {
  readonly encoding: PointEncoding;
}

export interface CaseAddress extends EncodedGroup {
  readonly points: PointDistributionName;
  readonly scalars: ScalarDistributionName;
  readonly n: number;
  readonly seed: number;
}

/** Largest number of points of a case. */
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

/** Returns the word that a text is. @throws RangeError that quotes the text, and lists the words */
function wordOf<Word extends string>(field: string, text: string, words: readonly Word[], what: string): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new RangeError(`${field}: "${text}" is not ${what}; use ${words.join(', ')}`);
}

export const everyPoints = Object.keys(pointDistributions) as PointDistributionName[];
export const everyScalars = Object.keys(scalarDistributions) as ScalarDistributionName[];

export const parsePointDistribution = (text: string) => wordOf('points', text, everyPoints, 'a distribution');
export const parseScalarDistribution = (text: string) => wordOf('scalars', text, everyScalars, 'a distribution');
export const parseCurve = (text: string): CurveName => wordOf('curve', text, curveNames, 'a curve');

/** @param said name of the knob in errors */
export const parseGroup = (text: string, said = 'group'): Group => {
  if (text === 'g1' || text === 'g2') return text;
  throw new RangeError(`${said}: "${text}" is not g1 or g2`);
};

/** @throws RangeError that lists the curves with a second group, if this curve has none */
export function curveGroup(curve: CurveName, group: Group): CurveGroup {
  if (groupsOf(curve).includes(group)) return { curve, group };
  throw new RangeError(noSuchGroup(curve));
}

/** @param said name of the knob in errors */
export const parseEncoding = (text: string, of: CurveGroup, said = 'encoding'): PointEncoding =>
  wordOf(said, text, encodingsOf(of), `an encoding of ${of.curve}, ${of.group}`);

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
 * Parses the `key=value` fields of an address, or of a filter, which may omit some.
 *
 * @throws RangeError that quotes a field that is unknown, repeated or without a value
 */
export function parseFields(text: string): ReadonlyMap<keyof CaseAddress, string> {
  const fields = new Map<keyof CaseAddress, string>();
  for (const part of text.split(',')) {
    const [key = '', value, ...rest] = part.trim().split('=');
    if (!isField(key)) throw new RangeError(`case "${text}": "${key}" is not a field; use ${fieldNames.join(', ')}`);
    if (value === undefined || value === '' || rest.length > 0) {
      throw new RangeError(`case "${text}": write the field "${key}" as ${key}=value`);
    }
    if (fields.has(key)) throw new RangeError(`case "${text}": the field "${key}" occurs twice`);
    fields.set(key, value);
  }
  return fields;
}

/** @throws RangeError that quotes what is wrong or missing */
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
