/**
 * Names of signals in the `.sym` file that circom writes: a line for each signal with its label, its
 * variable, its component and its name, those of the main component first. Source:
 * https://docs.circom.io/circom-language/formats/sym/.
 */

/** Bytes of the file that are read: the inputs are at its beginning. */
export const SYM_BYTES = 2 ** 22;

/** Names that are kept. */
const MOST_NAMES = 2 ** 12;

/** Returns the names of signals without their indices, in the order of the file, each once. */
export const namesInSym = (text: string): string[] => {
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    const [, name] = /^\d+,-?\d+,\d+,main\.(.*?)(?:\[\d+\])*\r?$/.exec(line) ?? [];
    if (name !== undefined) names.add(name);
    if (names.size === MOST_NAMES) break;
  }
  return [...names];
};
