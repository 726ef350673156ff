/** Makes command-line options of the bench's knobs. */
import { flag, repeatable } from './command-line.mjs';

/**
 * Returns an option for each knob of a mode.
 *
 * @param {typeof import('../dev/bench/index.js')} library
 * @param {string | null} mode null for the knobs of all modes
 */
export function knobOptions({ runKnobs, engineKnobs, knobsOf }, mode) {
  const help = { ...runKnobs, ...engineKnobs, build: { help: 'The library in DIR/dist.' } };
  const options = knobsOf(/** @type {any} */ (mode)).map((name) => {
    const own = help[/** @type {keyof typeof help} */ (name.replace(/^[ab]\./, ''))];
    return [name, name === 'strict' ? flag(own.help) : repeatable(name.endsWith('build') ? 'DIR' : '…', own.help)];
  });
  return /** @type {Record<string, import('./command-line.mjs').Option<string[] | boolean>>} */ (
    Object.fromEntries(options)
  );
}
