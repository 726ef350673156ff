/** What can be done wrong to one call, and how. */
import type { Random } from '../oracle/known-bases.js';
import {
  bound,
  buffersOf,
  type Command,
  type Dispatch,
  isStorage,
  isUniform,
  type Mapped,
  type Plain,
  type Step,
  type Trace,
} from './commands.js';
import { mutantOf } from './mutant.js';
import { pointChangeNames, pointChanges, pointsIn } from './points.js';
import { promiseFaults } from './promises.js';
import type { Injection, RecordingDevice } from './recording-device.js';
import { MOST_WORDS, xorWords } from './xor.js';

/** What a fault may strike. */
type Target = 'submit' | 'pass' | 'dispatch' | 'copy' | 'clear' | 'write' | 'map';

/** A command of a call: its place in the trace, and in the steps of the submit if it is one of them. */
interface Site {
  readonly at: number;
  readonly step: number | null;
  /** Of the command. */
  readonly label: string;
}

/** What a fault is made from. */
export interface Circumstances {
  readonly device: RecordingDevice;
  readonly random: Random;
  /** The call before: of the same shape, so that it has the same commands. */
  readonly before: Trace;
  /** Earlier calls of the engine. */
  readonly earlier: readonly Trace[];
  /** Promises of WebGPU that the call before waited for, by the method that gave them. */
  readonly asked: ReadonlyMap<string, number>;
  /** Label of the command that is to be struck; any unless given. */
  readonly label?: string | undefined;
  readonly pointBytes: number;
}

/** A fault, ready to strike. */
export interface Armed {
  readonly injection: Injection;
  /** What it strikes, and how: for people. */
  readonly where: string;
  /** Whether it has. */
  struck(): boolean;
  /** Ends what it has begun; called when the call is over. */
  over?(): void;
}

export type Arm = (circumstances: Circumstances) => Armed | null | Promise<Armed | null>;

// ------------------------------------------------------------------------------------------------------------ where

const isFirstOfPass = (steps: readonly Step[], i: number): boolean => {
  const [step, last] = [steps[i], steps[i - 1]];
  return step?.kind === 'dispatch' && !(last?.kind === 'dispatch' && last.pass === step.pass);
};

const sitesOf = (trace: Trace, target: Target): Site[] =>
  trace.flatMap((command, at): Site[] => {
    if (command.kind === target) return [{ at, step: null, label: command.label }];
    if (command.kind !== 'submit') return [];
    return command.steps.flatMap((step, i) =>
      (target === 'pass' ? isFirstOfPass(command.steps, i) : step.kind === target)
        ? [{ at, step: i, label: step.label }]
        : [],
    );
  });

const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

const drawSite = ({ random, before, label }: Circumstances, target: Target): Site | undefined =>
  pick(
    random,
    sitesOf(before, target).filter((site) => label === undefined || site.label === label),
  );

const stepAt = (trace: Trace, { at, step }: Site): Step | undefined => {
  const command = trace[at];
  return command?.kind === 'submit' && step !== null ? command.steps[step] : undefined;
};

// -------------------------------------------------------------------------------------------------------------- how

/** Where what happens again, or late, happens: at once, behind the next of its kind, or behind all else. */
type Moment = 'at once' | 'next' | 'end';

/** What is done to a command. */
type Deed =
  | { readonly kind: 'drop' }
  | { readonly kind: 'replace'; readonly command: Command | Step }
  | { readonly kind: 'repeat' | 'delay'; readonly moment: Moment };

/** A list in which a deed was done to one of the items; what is delayed beyond it is in `left`. */
const edit = (steps: readonly Step[], at: number, deed: Deed): { steps: readonly Step[]; left: readonly Step[] } => {
  const step = steps[at] as Step;
  if (deed.kind === 'drop') return { steps: steps.toSpliced(at, 1), left: [] };
  if (deed.kind === 'replace') return { steps: steps.toSpliced(at, 1, deed.command as Step), left: [] };
  const next = steps.findIndex((each, i) => i > at && each.kind === step.kind);
  const to = deed.moment === 'at once' ? at + 1 : deed.moment === 'next' && next !== -1 ? next + 1 : steps.length;
  if (deed.kind === 'repeat') return { steps: steps.toSpliced(to, 0, step), left: [] };
  // the last one can only come after the submit
  if (to === at + 1) return { steps: steps.toSpliced(at, 1), left: [step] };
  return { steps: steps.toSpliced(to, 0, step).toSpliced(at, 1), left: [] };
};

/** A deed done to one command of a call. */
class Strike implements Injection {
  readonly #site: Site;
  readonly #kind: string;
  readonly #deed: Deed;
  #held: { readonly command: Command; readonly until: Command['kind'] | null } | null = null;
  struck = false;

  constructor(site: Site, kind: string, deed: Deed) {
    this.#site = site;
    this.#kind = kind;
    this.#deed = deed;
  }

  instead(command: Command, at: number): readonly Command[] {
    if (at === this.#site.at) return this.#strike(command);
    if (this.#held === null || this.#held.until !== command.kind) return [command];
    const { command: held } = this.#held;
    this.#held = null;
    return [command, held];
  }

  rest(): readonly Command[] {
    return this.#held === null ? [] : [this.#held.command];
  }

  #strike(command: Command): readonly Command[] {
    const { step, label } = this.#site;
    if (step === null) return command.kind === this.#kind ? this.#strikeCommand(command) : [command];
    const target = command.kind === 'submit' ? command.steps[step] : undefined;
    if (command.kind !== 'submit' || target === undefined) return [command];
    if (target.label !== label) return [command];
    this.struck = true;
    if (this.#kind === 'pass') {
      const { pass } = target as Dispatch;
      return [{ ...command, steps: command.steps.filter((each) => each.kind !== 'dispatch' || each.pass !== pass) }];
    }
    const { steps, left } = edit(command.steps, step, this.#deed);
    if (left.length > 0) this.#held = { command: { ...command, steps: left }, until: null };
    return [{ ...command, steps }];
  }

  #strikeCommand(command: Command): readonly Command[] {
    const deed = this.#deed;
    this.struck = true;
    if (deed.kind === 'drop') return [];
    if (deed.kind === 'replace') return [deed.command as Command];
    if (deed.moment === 'at once') return [command, command];
    // behind all else: a write comes after the submit that wants it, and a submit when the call is over
    const end = command.kind === 'write' ? 'submit' : null;
    this.#held = { command, until: deed.moment === 'next' ? command.kind : end };
    return deed.kind === 'repeat' ? [command] : [];
  }
}

const armed = (strike: Strike, where: string): Armed => ({ injection: strike, where, struck: () => strike.struck });

const strikeAt =
  (target: Target, draw: (random: Random) => Deed): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    if (site === undefined) return null;
    const deed = draw(circumstances.random);
    const moment = 'moment' in deed ? `, ${deed.moment}` : '';
    return armed(new Strike(site, target, deed), `${nameOf(site)}${moment}`);
  };

const nameOf = ({ at, step, label }: Site): string =>
  `${label} (command ${at}${step === null ? '' : `, step ${step}`})`;

const drop = (target: Target): Arm => strikeAt(target, () => ({ kind: 'drop' }));
const repeat = (target: Target): Arm =>
  strikeAt(target, (random) => ({
    kind: 'repeat',
    moment: pick(random, ['at once', 'next', 'end'] as const) as Moment,
  }));
const delay = (target: Target): Arm =>
  strikeAt(target, (random) => ({ kind: 'delay', moment: pick(random, ['next', 'end'] as const) as Moment }));

// --------------------------------------------------------------------------------------------------- of another call

/** The contents of a buffer as the writes of a call up to some command left them. */
const written = (trace: Trace, upTo: number, buffer: GPUBuffer): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(buffer.size);
  for (const command of trace.slice(0, upTo)) {
    if (command.kind === 'write' && command.buffer === buffer) bytes.set(command.data, command.offset);
  }
  return bytes;
};

/** The dispatch as it was when it was made: with the uniforms of its own call. */
const withOwnUniforms = (device: RecordingDevice, trace: Trace, at: number, step: Step): Step => {
  if (step.kind !== 'dispatch') return step;
  const entries = step.entries.map((entry) => {
    const { buffer, offset, size } = bound(entry);
    if (!isUniform(buffer)) return entry;
    return { ...entry, resource: { buffer: device.uniform(written(trace, at, buffer)), offset, size } };
  });
  const layout = step.pipeline.getBindGroupLayout(0);
  return { ...step, entries, group: device.real.createBindGroup({ layout, entries }) };
};

/** The command of an earlier call that corresponds to one of this call's. */
const earlierCommand = (
  { device, random, before, earlier }: Circumstances,
  target: Target,
  site: Site,
): Command | Mapped | Step | undefined => {
  for (const trace of [pick(random, earlier) ?? before, before]) {
    const alike = sitesOf(trace, target).filter(({ label }) => label === site.label);
    const { at, step } = trace === before ? site : (pick(random, alike) ?? site);
    const asItWas = (each: Step): Step => withOwnUniforms(device, trace, at, each);
    const command = trace[at];
    const found = command?.kind === 'submit' && step !== null ? command.steps[step] : command;
    if (found === undefined || buffersOf(found).some((buffer) => device.isGone(buffer))) continue;
    if (found.kind === 'submit') return { ...found, steps: found.steps.map(asItWas) };
    return found.kind === 'dispatch' ? asItWas(found) : found;
  }
  return undefined;
};

const replace =
  (target: Target): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    const command = site && earlierCommand(circumstances, target, site);
    if (site === undefined || command === undefined) return null;
    return armed(new Strike(site, target, { kind: 'replace', command: command as Command | Step }), nameOf(site));
  };

// ---------------------------------------------------------------------------------------------------------- of data

/** A fault of what the host reads. */
const misread =
  (change: (circumstances: Circumstances, site: Site) => ((data: Uint8Array<ArrayBuffer>) => void) | null): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, 'map');
    const spoil = site && change(circumstances, site);
    if (site === undefined || !spoil) return null;
    let struck = false;
    const mapped = ({ data }: Mapped, at: number): Uint8Array<ArrayBuffer> => {
      if (at !== site.at) return data;
      struck = true;
      const spoilt = data.slice();
      spoil(spoilt);
      return spoilt;
    };
    return { injection: { mapped }, where: nameOf(site), struck: () => struck };
  };

/** What was mapped before is still there, as far as it goes. */
const mappedBefore = (trace: (circumstances: Circumstances) => Trace | undefined): Arm =>
  misread((circumstances, site) => {
    const old = (trace(circumstances) ?? circumstances.before).filter(({ kind }) => kind === 'map');
    const index = circumstances.before.slice(0, site.at).filter(({ kind }) => kind === 'map').length;
    const found = (old[index] ?? old[0]) as Mapped | undefined;
    return found === undefined ? null : (data) => data.set(found.data.subarray(0, data.length));
  });

/** One bit; half of the time of a byte that is not 0, since much of what is uploaded is padding. */
const flipBit = (random: Random, data: Uint8Array): void => {
  let at = random.below(data.length);
  if (random.below(2) === 0) for (let i = 0; i < data.length && data[at] === 0; i++) at = (at + 1) % data.length;
  data[at] = (data[at] as number) ^ (1 << random.below(8));
};

const flipUpload: Arm = (circumstances) => {
  const { random } = circumstances;
  const site = drawSite(circumstances, 'write');
  if (site === undefined) return null;
  let struck = false;
  const instead = (command: Command, at: number): readonly Command[] => {
    if (at !== site.at || command.kind !== 'write' || command.data.length === 0) return [command];
    struck = true;
    const data = command.data.slice();
    flipBit(random, data);
    return [{ ...command, data }];
  };
  return { injection: { instead }, where: nameOf(site), struck: () => struck };
};

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

/** Finds where walks leave the points that a map reads: a stretch of the result for each part of a job. */
const pointsReadBack = (trace: Trace, at: number): readonly Required<GPUBufferBinding>[] => {
  const { buffer: staging } = trace[at] as Mapped;
  const steps = trace.slice(0, at).flatMap((command) => (command.kind === 'submit' ? command.steps : []));
  const copyOf = (step: Step): readonly GPUBuffer[] =>
    step.kind === 'copy' && step.label === 'result' ? step.buffers : [];
  const end = steps.findLastIndex((step) => copyOf(step)[1] === staging);
  const [result] = end < 0 ? [] : (steps[end] as Plain).buffers;
  // a buffer may have been the result of an earlier job
  const begin = steps.findLastIndex((step, i) => i < end && copyOf(step)[0] === result);
  return steps.slice(begin + 1, Math.max(0, end)).flatMap((step) => {
    if (step.kind !== 'dispatch' || step.label !== 'walk') return [];
    // the accounts are in front
    return step.entries.map(bound).filter(({ buffer, offset }) => buffer === result && offset > 0);
  });
};

/** Changes points that come back, whichever part of a job they are of. */
const misplace =
  (change: (typeof pointChanges)[keyof typeof pointChanges]): Arm =>
  ({ random, before, pointBytes }) => {
    const sites = sitesOf(before, 'map').map((site) => ({ site, stretches: pointsReadBack(before, site.at) }));
    const found = pick(
      random,
      sites.filter(({ stretches }) => stretches.length > 0),
    );
    if (found === undefined) return null;
    let struck = false;
    const mapped = ({ data }: Mapped, at: number): Uint8Array<ArrayBuffer> => {
      if (at !== found.site.at) return data;
      const spoilt = data.slice();
      const points = found.stretches.flatMap(({ offset, size }) =>
        pointsIn(spoilt.subarray(offset, offset + size), pointBytes),
      );
      change(random, points);
      struck = !isSame(spoilt, data);
      return spoilt;
    };
    return { injection: { mapped }, where: nameOf(found.site), struck: () => struck };
  };

/** In front of a dispatch, in what it has bound: bits of words that lie one behind the other are flipped. */
const spoilBuffer =
  (masks: (random: Random) => readonly number[]): Arm =>
  (circumstances) => {
    const { device, random } = circumstances;
    const site = drawSite(circumstances, 'dispatch');
    if (site?.step == null) return null;
    const { step: index } = site;
    const target = stepAt(circumstances.before, site) as Dispatch;
    const storage = target.entries.filter((entry) => isStorage(bound(entry).buffer));
    const drawn = random.below(Math.max(1, storage.length));
    const { buffer, offset, size } = bound(storage[drawn] as GPUBindGroupEntry);
    const word = offset / 4 + random.below(size / 4);
    const drawnMasks = masks(random);
    let struck = false;
    const instead = (command: Command, at: number): readonly Command[] => {
      const step = command.kind === 'submit' && at === site.at ? command.steps[index] : undefined;
      if (command.kind !== 'submit' || step?.kind !== 'dispatch' || step.label !== site.label) return [command];
      struck = true;
      // the buffer that it has now: a larger one may have taken the place of that of before
      const now = bound(step.entries[target.entries.indexOf(storage[drawn] as GPUBindGroupEntry)] as GPUBindGroupEntry);
      const flips = xorWords(device, step.pass, now.buffer, word, drawnMasks);
      return [{ ...command, steps: command.steps.toSpliced(index, 0, flips) }];
    };
    return { injection: { instead }, where: `${buffer.label}[${word}] before ${nameOf(site)}`, struck: () => struck };
  };

// ------------------------------------------------------------------------------------------------- of the device

const changePipeline: Arm = async (circumstances) => {
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
  let struck = false;
  const spoil = (step: Step): Step => {
    if (step.kind !== 'dispatch' || step.pipeline !== pipeline) return step;
    struck = true;
    return { ...step, pipeline: mutant.pipeline };
  };
  const instead = (command: Command): readonly Command[] => [
    command.kind === 'submit' ? { ...command, steps: command.steps.map(spoil) } : command,
  ];
  return { injection: { instead }, where: `${label}, line ${mutant.change}`, struck: () => struck };
};

/** The waits of a call, until they have taken this much longer than they had to: a device is as slow as it is, but a campaign ends. */
const MOST_LATE_MS = 3000;

const slowDown: Arm = () => {
  let left = MOST_LATE_MS;
  let struck = false;
  const slowed = (ms: number): number => {
    const late = Math.min(left, 99 * ms);
    left -= late;
    struck = true;
    return ms + late;
  };
  return { injection: { slowed }, where: 'all waits', struck: () => struck };
};

// ------------------------------------------------------------------------------------------------------------ which

const each = <Word extends string>(kind: string, words: readonly Word[], arm: (target: Word) => Arm): [string, Arm][] =>
  words.map((word) => [`${kind}: ${word}`, arm(word)]);

const anyMask = (random: Random): number => random.u32() || 1;

/** Every fault by its name, `kind: what`. */
export const faults: ReadonlyMap<string, Arm> = new Map([
  ...each('did not happen', ['submit', 'pass', 'dispatch', 'copy', 'clear', 'write'], drop),
  ['did not happen: map', mappedBefore(({ before }) => before)],
  ...each('of another call', ['submit', 'dispatch', 'copy', 'write'], replace),
  ['of another call: map', mappedBefore(({ random, earlier }) => pick(random, earlier))],
  ...each('done twice', ['submit', 'dispatch', 'copy', 'clear', 'write'], repeat),
  ...each('late', ['submit', 'dispatch', 'copy', 'clear', 'write'], delay),
  ['a bit flipped: in an upload', flipUpload],
  ['a bit flipped: in a buffer', spoilBuffer((random) => [(1 << random.below(32)) >>> 0])],
  [
    'a bit flipped: in mapped data',
    misread(
      ({ random }) =>
        (data) =>
          flipBit(random, data),
    ),
  ],
  ...each('points read back', pointChangeNames, (name) => misplace(pointChanges[name])),
  ['garbage: in a buffer', spoilBuffer((random) => Array.from({ length: MOST_WORDS }, () => anyMask(random)))],
  ['one constant changed: pipeline', changePipeline],
  ['slow by 100 ×: device', slowDown],
  ...promiseFaults,
]);

export const faultNames: readonly string[] = [...faults.keys()];

/** Those of which one in so many is enough: they take seconds. */
export const rare: ReadonlyMap<string, number> = new Map([
  ['one constant changed: pipeline', 2],
  ['slow by 100 ×: device', 8],
]);
