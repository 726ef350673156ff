/**
 * Faults of data: uploads, buffers, shaders with one changed number or operator, and what the host
 * reads. All changes of points but swaps of words leave each point on the curve.
 */
import type { Random } from '../oracle/known-bases.js';
import { type Arm, type Armed, type Circumstances, striking } from './command-faults.js';
import {
  bound,
  type Dispatch,
  drawSite,
  isStorage,
  type Mapped,
  nameOf,
  type Plain,
  pick,
  type RecordingDevice,
  type Site,
  type Step,
  sitesOf,
  stepAt,
  type Trace,
} from './recording-device.js';

/** Changes some of the points, unless all are equal. */
type Change = (random: Random, points: readonly Uint8Array[]) => void;

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

const swap = (a: Uint8Array, b: Uint8Array): void => {
  const kept = a.slice();
  a.set(b);
  b.set(kept);
};

const drawPair = <Item>(
  random: Random,
  items: readonly Item[],
  differ: (a: Item, b: Item) => boolean,
): [Item, Item] => {
  const draw = (): Item => items[random.below(items.length)] as Item;
  let pair: [Item, Item] = [draw(), draw()];
  for (let tries = 0; tries < 100 && !differ(...pair); tries++) pair = [draw(), draw()];
  return pair;
};

const differ = (a: Uint8Array, b: Uint8Array): boolean => !isSame(a, b);

const wordsOf = (points: readonly Uint8Array[]): Uint8Array[] =>
  points.flatMap((point) => Array.from({ length: point.length / 4 }, (_, w) => point.subarray(4 * w, 4 * w + 4)));

export const pointChanges = {
  swapped: (random, points) => swap(...drawPair(random, points, differ)),
  doubled: (random, points) => {
    const [from, to] = drawPair(random, points, differ);
    to.set(from);
  },
  zeroed: (random, points) => {
    const zeros = new Uint8Array((points[0] as Uint8Array).length);
    drawPair(random, points, (point) => differ(point, zeros))[0].set(zeros);
  },
  'one place further': (random, points) => {
    // moves the points of a range by one; the last one becomes the first
    const indices = [...points.keys()];
    const [one, other] = drawPair(random, indices, (a, b) => differ(points[a] as Uint8Array, points[b] as Uint8Array));
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    for (let i = last; i > first; i--) swap(points[i] as Uint8Array, points[i - 1] as Uint8Array);
  },
  'stretches swapped': (random, points) => {
    const length = 1 + random.below(Math.max(1, Math.floor(points.length / 2)));
    const starts = Array.from({ length: points.length - length + 1 }, (_, i) => i);
    const [one, other] = drawPair(
      random,
      starts,
      (a, b) => Math.abs(a - b) >= length && differ(points[a] as Uint8Array, points[b] as Uint8Array),
    );
    if (Math.abs(one - other) < length) return;
    for (let i = 0; i < length; i++) swap(points[one + i] as Uint8Array, points[other + i] as Uint8Array);
  },
  'words swapped': (random, points) => swap(...drawPair(random, wordsOf(points), differ)),
  'words swapped within one': (random, points) => {
    const [point] = drawPair(random, points, (each) => differ(each, new Uint8Array(each.length)));
    swap(...drawPair(random, wordsOf([point]), differ));
  },
} as const satisfies Readonly<Record<string, Change>>;
export type PointChange = keyof typeof pointChanges;
export const pointChangeNames = Object.keys(pointChanges) as readonly PointChange[];

/** Returns views of consecutive points in some bytes. */
export const pointsIn = (bytes: Uint8Array, pointBytes: number): Uint8Array[] =>
  Array.from({ length: bytes.length / pointBytes }, (_, i) => bytes.subarray(i * pointBytes, (i + 1) * pointBytes));

const source = `
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> masks: array<vec4u, 2>; // the first word, then the masks of it and the following words

@compute @workgroup_size(1)
fn flip() {
  for (var i = 0u; i < 7u; i++) {
    let at = masks[0].x + i;
    if (at < arrayLength(&words)) {
      words[at] ^= masks[(i + 1u) >> 2u][(i + 1u) & 3u];
    }
  }
}`;

/** Largest number of words of one dispatch. */
export const MOST_WORDS = 7;

const pipelines = new WeakMap<GPUDevice, GPUComputePipeline>();

/**
 * @param first index of the first word
 * @param masks masks of that word and the following ones, at most `MOST_WORDS`
 */
const xorWords = (
  device: RecordingDevice,
  pass: GPUComputePassDescriptor,
  buffer: GPUBuffer,
  first: number,
  masks: readonly number[],
): Dispatch => {
  const { real } = device;
  const pipeline =
    pipelines.get(real) ??
    real.createComputePipeline({ layout: 'auto', compute: { module: real.createShaderModule({ code: source }) } });
  pipelines.set(real, pipeline);
  const contents = new Uint32Array(1 + MOST_WORDS);
  contents.set([first, ...masks]);
  const uniform = device.uniform(new Uint8Array(contents.buffer));
  const entries = [
    { binding: 0, resource: { buffer } },
    { binding: 1, resource: { buffer: uniform } },
  ];
  const group = real.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return { kind: 'dispatch', label: 'xor', pass, pipeline, group, entries, groups: [1, 1, 1] };
};

/** Replacements of an operator or word. */
const operators: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '|' },
  ...{ '+=': '-=', '-=': '+=', '*=': '+=', '|=': '&=', '&=': '|=', '^=': '|=' },
  ...{ true: 'false', false: 'true', min: 'max', max: 'min' },
};

/** Matches numbers, operators between spaces, and words. */
const TOKEN =
  /(?<![\w.<])(?:0x[0-9a-f]+|\d+)[ui]?(?![\w.>])|(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^]=?|[<>])(?= )|\b(?:true|false)\b|\b(?:min|max)(?=\()/gi;

/** Matches lines without behaviour: attributes and declarations. */
const isInert = /^\s*(@|enable|struct|fn |\}|$)/;

/**
 * Matches lines that decide how often something runs. They stay as they are, because SwiftShader
 * does not end endless loops.
 */
const decidesHowOften = /^const |\b(for|while|loop|break|continue)\b/;

/** Returns what a token may become: another operator or word, or the number plus or minus one. */
function replacementsOf(token: string): string[] {
  const [, digits, suffix = ''] = /^(0x[0-9a-f]+|\d+)([ui]?)$/i.exec(token) ?? [];
  if (digits === undefined) return Object.hasOwn(operators, token) ? [operators[token] as string] : [];
  const value = BigInt(digits);
  return [value + 1n, ...(value > 0n ? [value - 1n] : [])].map((number) => `${number}${suffix}`);
}

/** @returns the source with one change, and a description of the change */
export function mutate(random: Random, source: string): { readonly source: string; readonly change: string } {
  const lines = source.split('\n');
  const changes = lines.flatMap((line, row) => {
    if (isInert.test(line) || decidesHowOften.test(line)) return [];
    return [...line.replace(/\/\/.*/, '').matchAll(TOKEN)].flatMap(({ 0: from, index }) =>
      replacementsOf(from).map((to) => ({ row, index, from, to })),
    );
  });
  const { row, index, from, to } = changes[random.below(changes.length)] as (typeof changes)[0];
  const line = lines[row] as string;
  lines[row] = line.slice(0, index) + to + line.slice(index + from.length);
  return { source: lines.join('\n'), change: `${row + 1}: ${from} → ${to}` };
}

const TRIES = 10;

/** Returns a pipeline with one change against another; null if no change compiles. */
async function mutantOf(
  random: Random,
  device: RecordingDevice,
  pipeline: GPUComputePipeline,
): Promise<{ readonly pipeline: GPUComputePipeline; readonly change: string } | null> {
  const { descriptor, source } = device.madeOf(pipeline);
  const { real } = device;
  for (let i = 0; i < TRIES; i++) {
    const mutant = mutate(random, source);
    if (mutant.source === source) continue;
    real.pushErrorScope('validation');
    const module = real.createShaderModule({ code: mutant.source });
    const error = await real.popErrorScope();
    if (error !== null) continue;
    try {
      const compute = { ...descriptor.compute, module };
      return { pipeline: await real.createComputePipelineAsync({ ...descriptor, compute }), change: mutant.change };
    } catch {
      // a change such as an array without elements does not compile; try another one
    }
  }
  return null;
}

type Spoil = (data: Uint8Array<ArrayBuffer>) => boolean;

const misreadAt = (site: Site, spoil: Spoil): Armed =>
  striking(nameOf(site), (hit) => ({
    mapped({ data }, at) {
      if (at !== site.at) return data;
      const spoilt = data.slice();
      if (spoil(spoilt)) hit();
      return spoilt;
    },
  }));

/** Makes a fault of the bytes that the host reads. */
export const misread =
  (change: (circumstances: Circumstances, site: Site) => ((data: Uint8Array<ArrayBuffer>) => void) | null): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, 'map');
    const spoil = site && change(circumstances, site);
    if (site === undefined || !spoil) return null;
    return misreadAt(site, (data) => {
      spoil(data);
      return true;
    });
  };

/** Returns old mapped bytes in place of new ones, as far as they reach. */
export const mappedBefore = (trace: (circumstances: Circumstances) => Trace | undefined): Arm =>
  misread((circumstances, site) => {
    const old = (trace(circumstances) ?? circumstances.before).filter(({ kind }) => kind === 'map');
    const index = circumstances.before.slice(0, site.at).filter(({ kind }) => kind === 'map').length;
    const found = (old[index] ?? old[0]) as Mapped | undefined;
    return found === undefined ? null : (data) => data.set(found.data.subarray(0, data.length));
  });

/**
 * Flips one bit. Every second time it chooses a non-zero byte, because uploads are mostly padding.
 */
export const flipBit = (random: Random, data: Uint8Array): void => {
  let at = random.below(data.length);
  if (random.below(2) === 0) for (let i = 0; i < data.length && data[at] === 0; i++) at = (at + 1) % data.length;
  data[at] = (data[at] as number) ^ (1 << random.below(8));
};

export const flipUpload: Arm = (circumstances) => {
  const site = drawSite(circumstances, 'write');
  if (site === undefined) return null;
  return striking(nameOf(site), (hit) => ({
    instead(command, at) {
      if (at !== site.at || command.kind !== 'write' || command.data.length === 0) return [command];
      hit();
      const data = command.data.slice();
      flipBit(circumstances.random, data);
      return [{ ...command, data }];
    },
  }));
};

/**
 * Returns the ranges of the result buffer where walks leave the points that a map reads, one for
 * each batch of a job.
 */
const pointsReadBack = (trace: Trace, at: number): readonly Required<GPUBufferBinding>[] => {
  const { buffer: staging } = trace[at] as Mapped;
  const steps = trace.slice(0, at).flatMap((command) => (command.kind === 'submit' ? command.steps : []));
  const copyOf = (step: Step): readonly GPUBuffer[] =>
    step.kind === 'copy' && step.label === 'result' ? step.buffers : [];
  const end = steps.findLastIndex((step) => copyOf(step)[1] === staging);
  const [result] = end < 0 ? [] : (steps[end] as Plain).buffers;
  // a pooled buffer may also have been the result of an earlier job
  const begin = steps.findLastIndex((step, i) => i < end && copyOf(step)[0] === result);
  return steps.slice(begin + 1, Math.max(0, end)).flatMap((step) => {
    if (step.kind !== 'dispatch' || step.label !== 'walk') return [];
    // accounts are at the start of the buffer, so points have an offset
    return step.entries.map(bound).filter(({ buffer, offset }) => buffer === result && offset > 0);
  });
};

/** Makes a fault that changes points read back, in any batch of a job. */
export const misplace =
  (change: (typeof pointChanges)[keyof typeof pointChanges]): Arm =>
  ({ random, before: trace, pointBytes }) => {
    const sites = sitesOf(trace, 'map').map((site) => ({ site, ranges: pointsReadBack(trace, site.at) }));
    const found = pick(
      random,
      sites.filter(({ ranges }) => ranges.length > 0),
    );
    if (found === undefined) return null;
    return misreadAt(found.site, (data) => {
      const before = data.slice();
      const points = found.ranges.flatMap(({ offset, size }) =>
        pointsIn(data.subarray(offset, offset + size), pointBytes),
      );
      change(random, points);
      return !isSame(data, before);
    });
  };

/**
 * Makes a fault that flips bits of consecutive words in a buffer bound to a dispatch, before the
 * dispatch.
 */
export const spoilBuffer =
  (masks: (random: Random) => readonly number[]): Arm =>
  (circumstances) => {
    const { device, random } = circumstances;
    const site = drawSite(circumstances, 'dispatch');
    if (site?.step == null) return null;
    const { step: index } = site;
    const target = stepAt(circumstances.before, site) as Dispatch;
    const storage = target.entries.filter((entry) => isStorage(bound(entry).buffer));
    const spoilt = storage[random.below(Math.max(1, storage.length))] as GPUBindGroupEntry;
    const { buffer, offset, size } = bound(spoilt);
    const word = offset / 4 + random.below(size / 4);
    const drawnMasks = masks(random);
    return striking(`${buffer.label}[${word}] before ${nameOf(site)}`, (hit) => ({
      instead(command, at) {
        const step = command.kind === 'submit' && at === site.at ? command.steps[index] : undefined;
        if (command.kind !== 'submit' || step?.kind !== 'dispatch' || step.label !== site.label) return [command];
        hit();
        // the current buffer: a larger one may have replaced that of the previous call
        const now = bound(step.entries[target.entries.indexOf(spoilt)] as GPUBindGroupEntry);
        const flips = xorWords(device, step.pass, now.buffer, word, drawnMasks);
        return [{ ...command, steps: command.steps.toSpliced(index, 0, flips) }];
      },
    }));
  };

export const changePipeline: Arm = async (circumstances) => {
  const { device, random } = circumstances;
  const labels = new Set(sitesOf(circumstances.before, 'dispatch').map(({ label }) => label));
  const label = pick(
    random,
    [...labels].filter((each) => circumstances.label === undefined || each === circumstances.label),
  );
  if (label === undefined) return null;
  const site = drawSite({ ...circumstances, label }, 'dispatch') as Site;
  const { pipeline } = stepAt(circumstances.before, site) as Dispatch;
  const mutant = await mutantOf(random, device, pipeline);
  if (mutant === null) return null;
  return striking(`${label}, line ${mutant.change}`, (hit) => {
    const spoil = (step: Step): Step => {
      if (step.kind !== 'dispatch' || step.pipeline !== pipeline) return step;
      hit();
      return { ...step, pipeline: mutant.pipeline };
    };
    return { instead: (each) => [each.kind === 'submit' ? { ...each, steps: each.steps.map(spoil) } : each] };
  });
};

/** Largest total delay of a call, so that a campaign ends, in milliseconds. */
const MOST_LATE_MS = 3000;

export const slowDown: Arm = () => {
  let left = MOST_LATE_MS;
  return striking('all waits', (hit) => ({
    slowed(ms) {
      const late = Math.min(left, 99 * ms);
      left -= late;
      hit();
      return ms + late;
    },
  }));
};
