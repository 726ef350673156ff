/** Mutation operators for any language, and the places in WGSL where they apply. */

export interface Change {
  readonly at: number;
  /** The text at that offset. */
  readonly from: string;
  /** The text that replaces it. */
  readonly to: string;
  /** Description in a few characters. */
  readonly what: string;
}

const operators: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '&&': '||', '||': '&&' },
  ...{ '<<': '>>', '>>': '<<', '>>>': '<<', '&': '|', '|': '&', '^': '|' },
  ...{ '+=': '-=', '-=': '+=', '*=': '+=', '|=': '&=', '&=': '|=', '^=': '|=', '<<=': '>>=', '>>=': '<<=' },
  ...{ true: 'false', false: 'true', min: 'max', max: 'min' },
};

/**
 * Lists replacements of a token: another operator, another word, or the number plus or minus one.
 */
export function tokenChanges(at: number, from: string): Change[] {
  const [, digits, suffix = ''] = /^(0x[0-9a-f]+|\d+)([uin]?)$/i.exec(from) ?? [];
  const value = BigInt(digits ?? 0);
  const tos =
    digits === undefined
      ? Object.hasOwn(operators, from)
        ? [operators[from]]
        : []
      : [value + 1n, ...(value > 0n ? [value - 1n] : [])].map((number) => `${number}${suffix}`);
  return tos.map((to) => ({ at, from, to: to as string, what: `${from} → ${to}` }));
}

export const negated = (at: number, from: string): Change => ({ at, from, to: `!(${from})`, what: `${from} → not` });

export const removed = (at: number, from: string): Change => ({ at, from, to: ';', what: 'removed' });

export const applied = (source: string, { at, from, to }: Change) =>
  source.slice(0, at) + to + source.slice(at + from.length);

/** Returns the line of an offset, from 1. */
export const lineOf = (source: string, at: number) => source.slice(0, at).split('\n').length;

/** Matches numbers, operators between spaces, and words. */
const TOKEN =
  /(?<![\w.<])(?:0x[0-9a-f]+|\d+)[ui]?(?![\w.>])|(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^]=?|[<>])(?= )|\b(?:true|false)\b|\b(?:min|max)(?=\()/gi;

/** Matches lines without behaviour: attributes, declarations, tags of the template. */
const isInert = /^\s*(@|enable|struct|fn |\{\{|\}|$)/;

/** Replaces tags of the template and comments by blanks, so that offsets stay. */
const blanked = (line: string) =>
  line.replace(/\/\/.*|\{\{.*?\}\}/g, (text) => '_'.repeat(text.length)).replace(/_+$/, '');

/**
 * Lists the changes of a shader.
 *
 * @param source the shader, or its template
 * @param parts false for changes of tokens only, without conditions and statements
 */
export function wgslChanges(source: string, parts = true): Change[] {
  let start = 0;
  return source.split('\n').flatMap((line) => {
    const at = start;
    start += line.length + 1;
    if (isInert.test(line)) return [];
    const code = blanked(line);
    const tokens = [...code.matchAll(TOKEN)].flatMap(({ 0: token, index }) => tokenChanges(at + index, token));
    if (!parts) return tokens;
    const [, before = '', condition] = /^(.*\bif \()(.*)\) \{/.exec(code) ?? [];
    // an assignment, a call, or an early end of a function or a loop's turn; a `return` with a
    // value is left out, as the function would not compile without it
    const [, indent = '', statement] = /^(\s*)((?!let\b|var\b|const\b|return |for\b)\w.*;)\s*$/.exec(code) ?? [];
    const text = (part: string, from: number) => line.slice(from, from + part.length);
    return [
      ...tokens,
      ...(condition === undefined ? [] : [negated(at + before.length, text(condition, before.length))]),
      ...(statement === undefined ? [] : [removed(at + indent.length, text(statement, indent.length))]),
    ];
  });
}
