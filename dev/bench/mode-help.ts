/** Describes a mode for the help of its command. */
import { type Mode, modes, seenOn } from './modes.js';

/** Returns the lines about a mode: its purpose and its duration. */
export const modeHelp = (mode: string): string[] => {
  const { title, about, takes } = modes[mode as Mode];
  return [`${title}: ${about}`, `With defaults it takes ${takes} on ${seenOn(mode as Mode)}.`];
};
