/** `curves`, `groups` and `roots`: the curves that have names, from their constants. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadProducts } from '../../../dev/count/load-products.js';
import { bn254 } from '../../../src/curves/bn254.js';
import { type AnyCurve, type CurveContext, curveContext, type EdwardsCurve } from '../../../src/curves/curve.js';
import { weierstrassOf } from '../../../src/curves/edwards.js';
import { type CurveName, type Group, registry } from '../../../src/curves/more-curves.js';
import { scalarFieldOf } from '../../../src/curves/scalar-field.js';
import { power } from '../../../src/field/powers.js';
import { quadraticField } from '../../../src/field/quadratic.js';
import { entriesOf } from '../declarations.js';
import { code, table } from '../markdown.js';
import type { Blocks } from '../pages.js';

/** A group of a named curve. */
export interface NamedGroup {
  readonly curve: CurveName;
  readonly group: Group;
  /** `bn254`, or `bn254 G2`. */
  readonly title: string;
  readonly constants: AnyCurve | EdwardsCurve;
  readonly context: CurveContext;
}

const contextOf = (constants: AnyCurve | EdwardsCurve): CurveContext => {
  const curve = 'edwards' in constants ? weierstrassOf(constants as EdwardsCurve) : (constants as AnyCurve);
  return curveContext(curve, curve.nonResidue === undefined ? undefined : quadraticField);
};

/** All named groups, in the order of the registry. */
export const namedGroups: readonly NamedGroup[] = Object.entries(registry).flatMap(([name, entry]) => {
  const groups: readonly (readonly [Group, AnyCurve | EdwardsCurve])[] = [
    ['g1', entry.g1 ?? bn254],
    ...('g2' in entry ? [['g2', entry.g2] as const] : []),
  ];
  return groups.map(([group, constants]) => ({
    ...{ curve: name as CurveName, group, title: group === 'g1' ? name : `${name} G2` },
    ...{ constants, context: contextOf(constants) },
  }));
});

const bitsOf = (value: bigint): number => value.toString(2).length;
const signed = (value: bigint, p: bigint): bigint => (value > p / 2n ? value - p : value);
const isShort = (value: bigint): boolean => value > -1_000_000n && value < 1_000_000n;

/**
 * Returns a term of an equation: `+ 3`, `− 3·x`, `+ b` if the number is long, nothing if it is 0.
 */
const term = (value: bigint, name: string, factor = ''): string => {
  if (value === 0n) return '';
  if (!isShort(value)) return ` + ${name}${factor}`;
  return ` ${value < 0n ? '−' : '+'} ${value < 0n ? -value : value}${factor}`;
};

const equationOf = ({ constants, context }: NamedGroup): string => {
  const { p } = context;
  if ('edwards' in constants) {
    const [a, d] = [signed(constants.edwards.a, p), signed(constants.edwards.d, p)];
    const first = a === 1n ? '' : a === -1n ? '−' : `${a < 0n ? '−' : ''}${a < 0n ? -a : a}·`;
    return `${first}x² + y² = 1 + ${isShort(d) ? d : 'd'}·x²·y²`;
  }
  if (constants.nonResidue !== undefined) return `y² = x³ + b, u² = ${String(constants.nonResidue).replace('-', '−')}`;
  const { a, b } = constants as AnyCurve & { readonly a: bigint; readonly b: bigint };
  return `y² = x³${term(signed(a, p), 'a', '·x')}${term(signed(b, p), 'b')}`;
};

/**
 * Returns the cofactor: exactly where only one multiple of r is as close to the size of the field
 * as Hasse's theorem says, else its power of two.
 */
const cofactorOf = ({ context: { coordinates, order } }: NamedGroup): string => {
  const size = coordinates.size;
  const cofactor = (size + 1n + order / 2n) / order;
  if (order ** 2n > 16n * size && bitsOf(cofactor) <= 16) return String(cofactor);
  const bits = bitsOf(size) - bitsOf(order);
  const [top, unit] = [Number(size >> BigInt(bitsOf(size) - 50)), Number(order >> BigInt(bitsOf(order) - 50))];
  return `about 2^${Math.round(bits + Math.log2(top / unit))}`;
};

/**
 * Returns how often 2 divides r − 1: the largest power-of-two domain of an NTT over the scalars.
 */
const twoAdicityOf = (order: bigint): number => {
  let count = 0;
  for (let rest = order - 1n; rest % 2n === 0n; rest /= 2n) count++;
  return count;
};

/** Returns what a point is tested for with `checkSubgroup`. */
const testOf = ({ context: { negatesScalars, membership } }: NamedGroup): string => {
  if (negatesScalars) return 'none: every point is in the group';
  if (membership === undefined) return '(r − 1)·P = −P';
  return membership.conjugates ? 'ψ(P) = k·P' : 'φ(P) = k·P';
};

const curveRows = (): string[][] => {
  const uses = entriesOf('src/curves/more-curves.ts', 'registry');
  return Object.entries(registry).map(([name, { aliases }]) => {
    const groups = namedGroups.filter(({ curve }) => curve === name);
    const { p, order } = (groups[0] as NamedGroup).context;
    return [
      code(name),
      aliases.map(code).join(', '),
      (uses.get(name)?.paragraphs.join(' ') ?? '').replace(/\.$/, ''),
      groups.length === 1 ? 'one' : 'G1, G2',
      String(bitsOf(p)),
      String(bitsOf(order)),
      String(twoAdicityOf(order)),
    ];
  });
};

const groupRows = (): Promise<string[][]> =>
  Promise.all(
    namedGroups.map(async (of) => {
      const { curve, group, title, context } = of;
      const products = await loadProducts({ curve, group });
      const compressed = context.encodings.some((name) => name.endsWith('-compressed'));
      return [
        title,
        equationOf(of),
        cofactorOf(of),
        testOf(of),
        String(products.import),
        compressed ? (products.decompress?.larger ?? 0).toLocaleString('en') : '',
        products.subgroup === null ? '0' : products.subgroup.toLocaleString('en'),
      ];
    }),
  );

/** Roots of unity of other software, as files of tests/vectors have them. */
interface RootVectors {
  readonly software: string;
  readonly fields: readonly { readonly curve: string; readonly roots: Readonly<Record<string, string>> }[];
}

const rootRows = (): string[][] => {
  const vectors = ['roots', 'gnark'].map((name) => {
    const path = fileURLToPath(new URL(`../../../tests/vectors/${name}.json`, import.meta.url));
    return JSON.parse(readFileSync(path, 'utf8')) as RootVectors;
  });
  return Object.entries(registry).map(([name, entry]) => {
    const { constants } = namedGroups.find(({ curve }) => curve === name) as NamedGroup;
    const { order, twoAdicity, rootOfUnity } = scalarFieldOf(constants);
    const generatorOf = (root: bigint): bigint => {
      let generator = 2n;
      while (power(generator, (order - 1n) >> BigInt(twoAdicity), order) !== root) generator++;
      return generator;
    };
    const theirs = vectors.flatMap(({ software, fields }) => {
      const root = fields.find(({ curve }) => curve === name)?.roots[twoAdicity];
      return root === undefined ? [] : [{ software, root: BigInt(root) }];
    });
    const users: readonly string[] = 'software' in entry ? entry.software : [];
    const same = theirs.filter(({ root }) => root === rootOfUnity).map(({ software }) => software);
    return [
      code(`${name}-fr`),
      String(generatorOf(rootOfUnity as bigint)),
      [...(users.includes('snarkjs') ? ['snarkjs'] : []), ...same].join(', '),
      theirs
        .filter(({ root }) => root !== rootOfUnity)
        .map(({ software, root }) => `${software}: ${generatorOf(root)}`)
        .join(', '),
    ];
  });
};

export const blocks: Blocks = {
  roots: () => table(['field', 'g', 'the same roots have', 'others have'], rootRows()),
  curves: () =>
    table(['name', 'other names', 'used by', 'groups', 'bits of p', 'bits of r', '2-adicity of r − 1'], curveRows()),
  groups: async () =>
    table(
      ['group', 'equation', 'cofactor', 'test of `checkSubgroup`', 'load', 'decompress', '`checkSubgroup`'],
      await groupRows(),
    ),
};
