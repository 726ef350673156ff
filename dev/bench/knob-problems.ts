/** Problems of a query. */

/** Something invalid in a query. The text begins with the name of the knob. */
export interface Problem {
  readonly text: string;
  /** The knob whose field is marked; for a mistyped name the nearest one. */
  readonly knob: string;
  /** A sweep that accepts the value; null if there is none. */
  readonly instead: URLSearchParams | null;
}

/**
 * Returns the knob that a message begins with: `logn` for `logn: "x"`, and `case` for `case "x"`.
 */
export const nameAtStart = (text: string): string => /^[\w.]*/.exec(text)?.[0] ?? '';

/** Collects problems instead of stopping at the first. */
export class Problems {
  readonly all: Problem[] = [];

  add(text: string, { instead = null, knob = nameAtStart(text) }: Partial<Problem> = {}): void {
    if (!this.all.some((problem) => problem.text === text)) this.all.push({ text, instead, knob });
  }

  /** Returns the result of `read`, or `otherwise` if it throws a RangeError. */
  attempt<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.add(error.message);
      return otherwise;
    }
  }
}

export const problemText = ({ text, instead }: Problem): string =>
  instead === null ? text : `${text}: ?${queryText(instead)}`;

/** Formats a query for people, with commas unescaped. */
export const queryText = (query: URLSearchParams): string =>
  query.toString().replaceAll('%2C', ',').replaceAll('%3D', '=');
