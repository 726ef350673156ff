/**
 * Instruments a kernel so that it counts its own work: increments are written into the text of the
 * shipped shader. Tools alone do that; src/ and the package contain nothing of it.
 */

/** Counted quantities, in the order of the words in the buffer. */
export const counted = ['products', 'squares', 'inversions', 'coordinates', 'words'] as const;
export type Counted = (typeof counted)[number];
export type Counts = Readonly<Record<Counted, number>>;

/**
 * Functions of wgsl/field/field.wgsl and wgsl/field/inverse.wgsl, with the quantity and amount that
 * a call counts.
 */
const functions: Readonly<Record<string, readonly [Counted, number]>> = {
  field_mul: ['products', 1],
  field_mul_minus: ['products', 1],
  field_square: ['squares', 1],
  field_square_minus: ['squares', 1],
  field_inverse: ['inversions', 1],
};

/**
 * Functions of the prime field below wgsl/field/quadratic.wgsl: a product of pairs takes three of its
 * products.
 */
const functionsOfPairs: typeof functions = Object.fromEntries(
  Object.entries(functions).map(([name, as]) => [`prime_${name}`, as]),
);

/** Returns the words of an element of a storage array, by WGSL type. */
const elementWords = (type: string, pointWords: number): number => {
  const structs = {
    Entry: 2,
    Vector: 3,
    Level: 8,
    Point: pointWords,
    Packed: pointWords / 2,
    Extended: 2 * pointWords,
  };
  const known: Readonly<Record<string, number>> = { u32: 1, 'atomic<u32>': 1, 'vec4<u32>': 4, ...structs };
  const words = known[type];
  if (words === undefined)
    throw new Error(`instrument: array<${type}> has an unknown element size; add it to the list`);
  return words;
};

/** Returns the index of the bracket that closes the one at `open`. */
const closing = (line: string, open: number): number => {
  let depth = 0;
  for (let i = open; i < line.length; i++) {
    if (line[i] === '[') depth++;
    if (line[i] === ']' && --depth === 0) return i;
  }
  throw new Error(`instrument: an index must not continue on the next line: ${line}`);
};

/**
 * Returns what a line of code moves from and to storage. An access counts wherever its statement
 * executes.
 */
const moved = (
  line: string,
  arrays: ReadonlyMap<string, string>,
  pointWords: number,
): { words: number; coordinates: number } => {
  const code = line.replace(/\/\/.*/, '');
  let [words, coordinates] = [0, 0];
  for (const { 0: text, 1: name = '', index } of code.matchAll(/(?<![\w.])(\w+)\[/g)) {
    const type = arrays.get(name);
    if (type === undefined) continue;
    const [, member] = /^\.(\w+)/.exec(code.slice(closing(code, index + text.length - 1) + 1)) ?? [];
    const isPoint = type === 'Point';
    const whole = elementWords(type, pointWords);
    words += member === undefined ? whole : isPoint ? whole / 2 : 1;
    if (isPoint) coordinates += member === undefined ? 2 : 1;
  }
  return { words, coordinates };
};

/** Returns the parameters of an entry point without attributes, and their names. */
const plainParameters = (parameters: string): { declared: string; names: string } => {
  const list = parameters
    .split(/,\s*(?=@|$)/)
    .map((parameter) => parameter.trim().replace(/@builtin\(\w+\)\s*/, ''))
    .filter((parameter) => parameter !== '');
  return { declared: list.join(', '), names: list.map((parameter) => parameter.split(':')[0]).join(', ') };
};

/**
 * @param source WGSL of one kernel
 * @param pointWords words of a point of its curve
 * @returns the same kernel, which adds its work to `ops_total`, binding 0 of group 1
 */
export const instrument = (source: string, pointWords: number): string => {
  const arrays = new Map<string, string>();
  for (const [, name = '', type = ''] of source.matchAll(/var<storage, \w+> (\w+): array<(.+)>;/g))
    arrays.set(name, type);
  const known = source.includes('fn prime_field_mul(') ? functionsOfPairs : functions;
  const lines = source.split('\n').flatMap((line) => {
    if (line.startsWith('@group')) return [line];
    const [, name] = /^fn (\w+)\(/.exec(line) ?? [];
    const as = name === undefined ? undefined : known[name];
    if (as !== undefined) return [line, `  ops_${as[0]} += ${as[1]}u;`];
    const { words, coordinates } = moved(line, arrays, pointWords);
    if (words === 0) return [line];
    if (line.trim().startsWith('}')) throw new Error(`instrument: no statement can precede this line: ${line}`);
    return [`ops_words += ${words}u;`, ...(coordinates > 0 ? [`ops_coordinates += ${coordinates}u;`] : []), line];
  });
  const [entry, size, name = '', parameters = ''] =
    /@compute @workgroup_size\((\d+)\)\s*fn (\w+)\(([\s\S]*?)\) \{/.exec(lines.join('\n')) ?? [];
  if (entry === undefined) throw new Error('instrument: the shader has no entry point');
  const { declared, names } = plainParameters(parameters);
  return [
    ...counted.map((what) => `var<private> ops_${what}: u32;`),
    '@group(1) @binding(0) var<storage, read_write> ops_total: array<atomic<u32>>;',
    lines.join('\n').replace(entry, `fn ${name}_counted(${declared}) {`),
    `@compute @workgroup_size(${size})`,
    `fn ${name}(${parameters}) {`,
    `  ${name}_counted(${names});`,
    ...counted.map((what, i) => `  atomicAdd(&ops_total[${i}], ops_${what});`),
    '}',
  ].join('\n');
};
