/** Faults that drop, repeat or delay a command. */
import type { Random } from '../oracle/known-bases.js';
import type { Arm, Armed } from './arm.js';
import type { Command, Dispatch, Step } from './commands.js';
import type { Injection } from './recording-device.js';
import { drawSite, nameOf, pick, type Site, type Target } from './sites.js';

/**
 * Time at which a repeated or delayed command executes: at once, after the next of its kind, or
 * after all others.
 */
export type Moment = 'at once' | 'next' | 'end';

/** A change to a command. */
export type Change =
  | { readonly kind: 'drop' }
  | { readonly kind: 'replace'; readonly command: Command | Step }
  | { readonly kind: 'repeat' | 'delay'; readonly moment: Moment };

/** Applies a change to a step of a list. Steps delayed beyond its end are returned in `left`. */
export const edit = (
  steps: readonly Step[],
  at: number,
  change: Change,
): { steps: readonly Step[]; left: readonly Step[] } => {
  const step = steps[at] as Step;
  if (change.kind === 'drop') return { steps: steps.toSpliced(at, 1), left: [] };
  if (change.kind === 'replace') return { steps: steps.toSpliced(at, 1, change.command as Step), left: [] };
  const next = steps.findIndex((each, i) => i > at && each.kind === step.kind);
  const to = change.moment === 'at once' ? at + 1 : change.moment === 'next' && next !== -1 ? next + 1 : steps.length;
  if (change.kind === 'repeat') return { steps: steps.toSpliced(to, 0, step), left: [] };
  // a delayed last step can only execute after the submit
  if (to === at + 1) return { steps: steps.toSpliced(at, 1), left: [step] };
  return { steps: steps.toSpliced(to, 0, step).toSpliced(at, 1), left: [] };
};

/** Applies a change to one command of a call. */
export class Strike implements Injection {
  readonly #site: Site;
  readonly #kind: string;
  readonly #change: Change;
  #held: { readonly command: Command; readonly until: Command['kind'] | null } | null = null;
  struck = false;

  constructor(site: Site, kind: string, change: Change) {
    this.#site = site;
    this.#kind = kind;
    this.#change = change;
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
    const { steps, left } = edit(command.steps, step, this.#change);
    if (left.length > 0) this.#held = { command: { ...command, steps: left }, until: null };
    return [{ ...command, steps }];
  }

  #strikeCommand(command: Command): readonly Command[] {
    const change = this.#change;
    this.struck = true;
    if (change.kind === 'drop') return [];
    if (change.kind === 'replace') return [change.command as Command];
    if (change.moment === 'at once') return [command, command];
    // at the end, a write executes after the submit that needs it, and a submit after the call
    const end = command.kind === 'write' ? 'submit' : null;
    this.#held = { command, until: change.moment === 'next' ? command.kind : end };
    return change.kind === 'repeat' ? [command] : [];
  }
}

export const armed = (strike: Strike, where: string): Armed => ({
  injection: strike,
  where,
  struck: () => strike.struck,
});

export const strikeAt =
  (target: Target, draw: (random: Random) => Change): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    if (site === undefined) return null;
    const change = draw(circumstances.random);
    const moment = 'moment' in change ? `, ${change.moment}` : '';
    return armed(new Strike(site, target, change), `${nameOf(site)}${moment}`);
  };

export const drop = (target: Target): Arm => strikeAt(target, () => ({ kind: 'drop' }));

export const repeat = (target: Target): Arm =>
  strikeAt(target, (random) => ({
    kind: 'repeat',
    moment: pick(random, ['at once', 'next', 'end'] as const) as Moment,
  }));

export const delay = (target: Target): Arm =>
  strikeAt(target, (random) => ({ kind: 'delay', moment: pick(random, ['next', 'end'] as const) as Moment }));
