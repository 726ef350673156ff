/** Makes command-line options of the bench's knobs. */
import { flag, repeatable } from './command-line.mjs';

/**
 * Returns an option for each knob of a mode.
 *
 * @param {Pick<typeof import('../dev/bench/index.js'), 'knobsOf' | 'knobHelp'>} library
 * @param {string | null} mode null for the knobs of all modes
 */
export function knobOptions({ knobsOf, knobHelp }, mode) {
  const options = knobsOf(mode).map((name) => {
    const help = knobHelp(mode, name.replace(/^[ab]\./, ''));
    return [name, name === 'strict' ? flag(help) : repeatable(name.endsWith('build') ? 'DIR' : '…', help)];
  });
  return /** @type {Record<string, import('./command-line.mjs').Option<string[] | boolean>>} */ (
    Object.fromEntries(options)
  );
}
