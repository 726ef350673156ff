/** Sites: the commands of a call that a fault can strike. */
import type { Random } from '../oracle/known-bases.js';
import type { Circumstances } from './arm.js';
import type { Step, Trace } from './commands.js';

/** Kinds of commands that a fault can strike. */
export type Target = 'submit' | 'pass' | 'dispatch' | 'copy' | 'clear' | 'write' | 'map';

/** A command of a call: its index in the trace, and its step in the submit if it is part of one. */
export interface Site {
  readonly at: number;
  readonly step: number | null;
  /** Label of the command. */
  readonly label: string;
}

export const isFirstOfPass = (steps: readonly Step[], i: number): boolean => {
  const [step, last] = [steps[i], steps[i - 1]];
  return step?.kind === 'dispatch' && !(last?.kind === 'dispatch' && last.pass === step.pass);
};

export const sitesOf = (trace: Trace, target: Target): Site[] =>
  trace.flatMap((command, at): Site[] => {
    if (command.kind === target) return [{ at, step: null, label: command.label }];
    if (command.kind !== 'submit') return [];
    return command.steps.flatMap((step, i) =>
      (target === 'pass' ? isFirstOfPass(command.steps, i) : step.kind === target)
        ? [{ at, step: i, label: step.label }]
        : [],
    );
  });

export const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

export const drawSite = ({ random, before, label }: Circumstances, target: Target): Site | undefined =>
  pick(
    random,
    sitesOf(before, target).filter((site) => label === undefined || site.label === label),
  );

export const stepAt = (trace: Trace, { at, step }: Site): Step | undefined => {
  const command = trace[at];
  return command?.kind === 'submit' && step !== null ? command.steps[step] : undefined;
};

export const nameOf = ({ at, step, label }: Site): string =>
  `${label} (command ${at}${step === null ? '' : `, step ${step}`})`;
