/**
 * Names of the signals that variables stand for, in the `.sym` file that circom writes. The variable of
 * a line is −1 if the simplification removed the signal; signals that it found equal share one. Source:
 * https://docs.circom.io/circom-language/formats/sym/.
 */
import { badArgument } from '../errors.js';
import { type FileSource, openFile } from '../formats/source.js';
import type { TimeSlice } from '../scheduling/time-slice.js';

/** Bytes that are read at a time for the names of variables: some milliseconds of work. */
const PART_BYTES = 2 ** 18;

/** Options of a search for names. */
interface NamesRun {
  /** Number of variables of the circuit. */
  readonly variables: number;
  readonly slice: TimeSlice;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the names of the signals that share each of some variables, in the order of the file, with
 * components and indices: `main.path[3].out`.
 *
 * @throws MsmError `bad-argument` if the file has a variable that the circuit does not have
 */
export const namesOfVariables = async (
  sym: FileSource,
  wanted: ReadonlySet<number>,
  { variables, slice, signal }: NamesRun,
): Promise<Map<number, string[]>> => {
  const file = openFile('sym', sym, signal);
  const names = new Map<number, string[]>();
  const take = (line: string): void => {
    const [, digits, name] = /^\d+,(-?\d+),\d+,(.*?)\r?$/.exec(line) ?? [];
    const variable = Number(digits);
    if (name === undefined || variable < 0) return;
    if (variable >= variables) {
      throw badArgument(
        `sym: the file names variable ${variable}, and the circuit has ${variables}; it is of another circuit`,
      );
    }
    if (!wanted.has(variable)) return;
    const known = names.get(variable);
    if (known === undefined) names.set(variable, [name]);
    else known.push(name);
  };
  const decoder = new TextDecoder();
  let rest = '';
  for (let at = 0; at < file.byteLength; at += PART_BYTES) {
    const bytes = await file.read(at, Math.min(file.byteLength, at + PART_BYTES));
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) take(line);
    if (slice.isOver) await slice.yield();
  }
  take(rest + decoder.decode());
  return names;
};
