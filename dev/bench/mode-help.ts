/** Describes a mode and its knobs, for the help of its command and for the reference. */
import type { KnobText } from './knob.js';
import { type Mode, modeOf, notOnPage } from './modes.js';
import { knobText, runKnobs } from './run-knobs.js';
import { engineKnobs } from './settings.js';

/** Returns the lines about a mode: its purpose, duration, limits, and an example. */
export function modeHelp(mode: Mode): string[] {
  const { title, about, takes, runsOn, limits, example } = modeOf(mode);
  const why = notOnPage(mode);
  return [
    `${title}: ${about}`,
    `With defaults it takes ${takes} on two cores${runsOn === 'cpu' ? '' : ' with a software adapter'}.`,
    ...(limits === undefined ? [] : [limits]),
    ...(why === null ? [] : [`In a terminal only: ${why}.`]),
    `Example: npm run bench -- ${example}`,
  ];
}

/** Returns the help of a knob, with its values and its default, in one mode or in general. */
export function knobHelp(mode: Mode | null, name: string): string {
  if (name === 'build') return 'The library in DIR/dist.';
  const engine = engineKnobs[name];
  if (engine !== undefined) {
    const values = 'words' in engine ? Object.keys(engine.words).join(', ') : engine.range.join(' to ');
    return `${engine.help} Values: ${values}.`;
  }
  const { help, values, unset } = mode === null ? (runKnobs[name] as KnobText) : knobText(mode, name);
  return [help, values && `Values: ${values}.`, unset && `Default: ${unset}.`].filter((part) => part !== '').join(' ');
}
