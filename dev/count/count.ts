/**
 * Counts the work of MSMs and transforms on a GPU: increments are written into the text of the shipped
 * shaders. Tools alone do that; src/ and the package contain nothing of it.
 */

import type { Tuning } from '../../src/api/device.js';
import type { TransformOptions } from '../../src/api/fields.js';
import { createMsmEngine } from '../../src/engine/create-engine.js';
import { createFieldEngine, type FieldName, type FieldVector } from '../../src/fields.js';
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { tableLines } from '../bench/format.js';
import { engineIn, makeCase } from '../cases/msm-case.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import type { ScalarDistributionName } from '../cases/scalar-distributions.js';
import { readBack } from '../field-bench/rig.js';
import { type CurveGroup, type CurveName, oracleOf } from '../oracle/curves.js';
import { assertTransforms, transformInput } from '../oracle/field-values.js';
import { samePoint } from '../oracle/known-bases.js';

/** Counted quantities, in the order of the words in the buffer. */
const counted = ['products', 'squares', 'inversions', 'coordinates', 'words'] as const;
type Counted = (typeof counted)[number];
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

/** Offset alignment of storage bindings that every device supports. */
const ALIGNMENT = 256;
const MOST_PHASES = 16;
const STAGE_COMPUTE = 4;

/**
 * Instruments the library's kernels that a device compiles, so that they count their work by phase.
 * The device stays changed.
 */
export class CountingDevice {
  readonly device: GPUDevice;
  readonly #layout: GPUBindGroupLayout;
  readonly #totals: GPUBuffer;
  readonly #phases: string[] = [];

  /** @param pointWords words of a point of the curve */
  constructor(device: GPUDevice, pointWords: number) {
    this.device = device;
    this.#layout = device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: STAGE_COMPUTE, buffer: { type: 'storage' } }],
    });
    this.#totals = device.createBuffer({
      label: 'counts',
      size: MOST_PHASES * ALIGNMENT,
      usage: bufferUsage.storage | bufferUsage.copySrc | bufferUsage.copyDst,
    });
    const createShaderModule = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) =>
      createShaderModule({ ...descriptor, code: instrument(descriptor.code, pointWords) });
    const createPipelineLayout = device.createPipelineLayout.bind(device);
    device.createPipelineLayout = ({ bindGroupLayouts, ...rest }) =>
      createPipelineLayout({ ...rest, bindGroupLayouts: [...bindGroupLayouts, this.#layout] });
    const createCommandEncoder = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (descriptor) => {
      const encoder = createCommandEncoder(descriptor);
      const begin = encoder.beginComputePass.bind(encoder);
      encoder.beginComputePass = (pass) => {
        const compute = begin(pass);
        compute.setBindGroup(1, this.#groupOf((pass?.label ?? '').replace('webgpu-msm ', '')));
        return compute;
      };
      return encoder;
    };
  }

  reset(): void {
    this.device.queue.writeBuffer(this.#totals, 0, new Uint32Array(this.#totals.size / 4));
  }

  /** Returns the counts since the last reset by phase, in order of first use. */
  async read(): Promise<Map<string, Counts>> {
    const words = await readBack(this.device, this.#totals);
    return new Map(
      this.#phases.map((phase, at) => {
        const own = counted.map((what, i) => [what, words[(at * ALIGNMENT) / 4 + i] as number]);
        return [phase, Object.fromEntries(own) as unknown as Counts];
      }),
    );
  }

  #groupOf(phase: string): GPUBindGroup {
    if (!this.#phases.includes(phase)) this.#phases.push(phase);
    const offset = this.#phases.indexOf(phase) * ALIGNMENT;
    if (offset >= this.#totals.size) throw new Error(`counting supports at most ${MOST_PHASES} phases`);
    return this.device.createBindGroup({
      layout: this.#layout,
      entries: [{ binding: 0, resource: { buffer: this.#totals, offset, size: ALIGNMENT } }],
    });
  }
}

export interface MsmCounts {
  readonly n: number;
  readonly points: PointDistributionName;
  readonly scalars: ScalarDistributionName;
  readonly windows: number;
  readonly windowBits: number;
  /** Non-zero digits. */
  readonly entries: number;
  readonly phases: Readonly<Record<string, Counts>>;
}

export interface CountOptions {
  readonly n: number;
  readonly points?: PointDistributionName;
  readonly scalars?: ScalarDistributionName;
  readonly tuning?: Partial<Tuning>;
}

/**
 * Counts MSMs of a group on a device, and instruments the kernels of that device. Results are
 * checked before they count.
 */
export const makeCounter = (device: GPUDevice, where: CurveGroup = { curve: 'bn254', group: 'g1' }) => {
  const counting = new CountingDevice(device, oracleOf(where).coordinateBytes / 2);
  return async ({ n, points = 'distinct', scalars = 'random', tuning = {} }: CountOptions): Promise<MsmCounts> => {
    const options = { device, tuning: { ...tuning, cpuBelow: 0 }, selfTest: false };
    const engine = await engineIn(createMsmEngine, where, options);
    try {
      const made = makeCase({ ...where, points, scalars, n, seed: 1 });
      const bases = await engine.loadBases(made.points.bytes);
      counting.reset();
      const sum = await engine.msm(bases, made.scalars.bytes);
      if (!samePoint(sum, made.expected)) throw new Error(`WRONG at n = ${n}: the counted MSM gave a wrong result`);
      const { windows, windowBits, entries } = engine.lastRun as NonNullable<typeof engine.lastRun>;
      const phases = await counting.read();
      // phases of loading are counted in load-products.ts
      for (const phase of ['image', 'import', 'digest']) phases.delete(phase);
      return { n, points, scalars, windows, windowBits, entries, phases: Object.fromEntries(phases) };
    } finally {
      engine.destroy();
    }
  };
};

/** Products that a squaring counts as, as in the targets. */
const SQUARE = 0.8;

const sum = (counts: readonly Counts[]): Counts =>
  Object.fromEntries(
    counted.map((what) => [what, counts.reduce((total, own) => total + own[what], 0)]),
  ) as unknown as Counts;

export const countTable = ({ n, windows, windowBits, entries, phases }: MsmCounts): string => {
  const irreducible = 6 * n * windows;
  const cells = (name: string, { products, squares, inversions, coordinates, words }: Counts): string[] => {
    const work = products + SQUARE * squares;
    const number = (value: number): string => Math.round(value).toLocaleString('en');
    return [
      name,
      number(products),
      number(squares),
      number(inversions),
      (work / irreducible).toFixed(3),
      number(coordinates / 2),
      number(words * 4),
    ];
  };
  const rows = [
    ['stage', 'products', 'squares', 'inversions', '÷ 6nT', 'points moved', 'bytes moved'],
    ...Object.entries(phases).map(([name, counts]) => cells(name, counts)),
    cells('all', sum(Object.values(phases))),
  ];
  const digits = n * windows;
  return [
    `n = ${n.toLocaleString('en')}, c = ${windowBits}, T = ${windows}, 6nT = ${irreducible.toLocaleString('en')}; ` +
      `${entries.toLocaleString('en')} of ${digits.toLocaleString('en')} digits are not zero`,
    ...tableLines(rows),
  ].join('\n');
};

interface TransformCounts {
  readonly n: number;
  readonly name: string;
  /** Products of elements, scalings included. */
  readonly products: number;
  /** Most products by the target: 1.1·(n/2)·log₂ n, and n for each scaling. */
  readonly mostProducts: number;
  /** Passes of the transform over memory, without copies and scalings. */
  readonly passes: number;
  /** Most passes by the target: ⌈log₂ n ÷ 9⌉. */
  readonly mostPasses: number;
  readonly dispatches: number;
  /** Words of storage that were read or written. */
  readonly words: number;
}

interface Kind {
  readonly name: string;
  readonly direction: 'ntt' | 'intt';
  readonly options: TransformOptions;
  readonly scalings: number;
}

const kinds: readonly Kind[] = [
  { name: 'ntt, to reversed', direction: 'ntt', options: { to: 'reversed' }, scalings: 0 },
  { name: 'ntt', direction: 'ntt', options: {}, scalings: 0 },
  { name: 'intt, from reversed', direction: 'intt', options: { from: 'reversed' }, scalings: 1 },
  { name: 'ntt on a coset, to reversed', direction: 'ntt', options: { to: 'reversed', coset: 5n }, scalings: 1 },
];

/** Share of the products of a textbook transform. */
const MOST_PRODUCTS = 1.1;

/** Stages of a pass: 2^9 elements of 32 bytes are 16 KB of workgroup memory. */
const STAGES = 9;

/** Words of an element of 256 bits; two of them are a point of the instrumentation. */
const ELEMENT_WORDS = 8;

/**
 * Counts transforms on a device, whose kernels it instruments. Results are checked before they
 * count.
 */
export const countTransforms = async (
  device: GPUDevice,
  curve: CurveName,
  sizes: readonly number[],
): Promise<TransformCounts[]> => {
  const counting = new CountingDevice(device, 2 * ELEMENT_WORDS);
  const fr = await createFieldEngine({ field: `${curve}-fr` as FieldName, device });
  const counts: TransformCounts[] = [];
  const count = async (a: FieldVector, { name, direction, options, scalings }: Kind): Promise<TransformCounts> => {
    counting.reset();
    const made = await fr.run((ops) => ops.keep(ops[direction](a, options)));
    const own = (await counting.read()).get(direction);
    made.destroy();
    const { passes, dispatches } = fr.lastRun as NonNullable<typeof fr.lastRun>;
    const [n, log] = [a.length, Math.log2(a.length)];
    return {
      ...{ n, name, products: own?.products ?? 0, words: own?.words ?? 0, passes, dispatches },
      mostProducts: MOST_PRODUCTS * (n / 2) * log + n * scalings,
      mostPasses: Math.ceil(log / STAGES),
    };
  };
  try {
    for (const n of sizes) {
      const input = transformInput(fr.p, n);
      const a = await fr.load(input);
      await assertTransforms(fr, a, input);
      for (const kind of kinds) counts.push(await count(a, kind));
      a.destroy();
    }
  } finally {
    fr.destroy();
  }
  return counts;
};

export const transformTable = (counts: readonly TransformCounts[]): string => {
  const number = (value: number): string => Math.round(value).toLocaleString('en');
  return tableLines([
    ['n', 'transform', 'products', 'target', 'passes', 'target', 'dispatches', 'bytes moved'],
    ...counts.map(({ n, name, products, mostProducts, passes, mostPasses, dispatches, words }) => [
      ...[number(n), name, number(products), `≤ ${number(mostProducts)}`],
      ...[String(passes), `≤ ${mostPasses}`, String(dispatches), number(4 * words)],
    ]),
  ]).join('\n');
};
