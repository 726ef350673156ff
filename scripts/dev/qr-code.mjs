import { renderUnicodeCompact } from 'uqr';

/**
 * A QR code for a terminal, two modules to a character.
 *
 * @param {string} text
 * @param {boolean} inColour a terminal: light is then white and dark black, whatever its own colours are
 */
export function qrCode(text, inColour) {
  const code = renderUnicodeCompact(text, { border: 2 });
  return inColour ? code.replace(/^.*$/gm, '\x1b[97;40m$&\x1b[0m') : code;
}
