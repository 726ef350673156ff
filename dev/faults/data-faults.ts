/** Faults of data: uploads, buffers, and what the host reads. */
import type { Random } from '../oracle/known-bases.js';
import { type Arm, type Armed, type Circumstances, striking } from './arm.js';
import {
  bound,
  type Dispatch,
  drawSite,
  isStorage,
  type Mapped,
  nameOf,
  type Plain,
  pick,
  type Site,
  type Step,
  sitesOf,
  stepAt,
  type Trace,
} from './commands.js';
import { mutantOf } from './mutant.js';
import { isSame, type pointChanges, pointsIn } from './points.js';
import { xorWords } from './xor.js';

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
export const pointsReadBack = (trace: Trace, at: number): readonly Required<GPUBufferBinding>[] => {
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
export const MOST_LATE_MS = 3000;

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
