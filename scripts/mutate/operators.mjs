/** Mutation operators for any language, and the places in WGSL where they apply. */

/**
 * @typedef {object} Change
 * @property {number} at offset in the source
 * @property {string} from the text at that offset
 * @property {string} to the text that replaces it
 * @property {string} what description in a few characters
 */

/** @type {Readonly<Record<string, string>>} */
const operators = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '&&': '||', '||': '&&' },
  ...{ '<<': '>>', '>>': '<<', '>>>': '<<', '&': '|', '|': '&', '^': '|' },
  ...{ '+=': '-=', '-=': '+=', '*=': '+=', '|=': '&=', '&=': '|=', '^=': '|=', '<<=': '>>=', '>>=': '<<=' },
  ...{ true: 'false', false: 'true', min: 'max', max: 'min' },
};

/**
 * Lists replacements of a token: another operator, another word, or the number plus or minus one.
 *
 * @param {number} at
 * @param {string} from
 * @returns {Change[]}
 */
export function tokenChanges(at, from) {
  const [, digits, suffix = ''] = /^(0x[0-9a-f]+|\d+)([uin]?)$/i.exec(from) ?? [];
  const value = BigInt(digits ?? 0);
  const tos =
    digits === undefined
      ? Object.hasOwn(operators, from)
        ? [operators[from]]
        : []
      : [value + 1n, ...(value > 0n ? [value - 1n] : [])].map((number) => `${number}${suffix}`);
  return tos.map((to) => ({ at, from, to: /** @type {string} */ (to), what: `${from} → ${to}` }));
}

/** Negates a condition. @param {number} at @param {string} from @returns {Change} */
export const negated = (at, from) => ({ at, from, to: `!(${from})`, what: `${from} → not` });

/** Removes a statement. @param {number} at @param {string} from @returns {Change} */
export const removed = (at, from) => ({ at, from, to: ';', what: 'removed' });

/** Applies a change to a source. @param {string} source @param {Change} change */
export const applied = (source, { at, from, to }) => source.slice(0, at) + to + source.slice(at + from.length);

/** Returns the line of an offset, from 1. @param {string} source @param {number} at */
export const lineOf = (source, at) => source.slice(0, at).split('\n').length;

/** Matches numbers, operators between spaces, and words. */
const TOKEN =
  /(?<![\w.<])(?:0x[0-9a-f]+|\d+)[ui]?(?![\w.>])|(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^]=?|[<>])(?= )|\b(?:true|false)\b|\b(?:min|max)(?=\()/gi;

/** Matches lines without behaviour: attributes, declarations, tags of the template. */
const isInert = /^\s*(@|enable|struct|fn |\{\{|\}|$)/;

/** Replaces tags of the template and comments by blanks, so that offsets stay. @param {string} line */
const blanked = (line) => line.replace(/\/\/.*|\{\{.*?\}\}/g, (text) => '_'.repeat(text.length)).replace(/_+$/, '');

/**
 * Lists the changes of a shader.
 *
 * @param {string} source the shader, or its template
 * @param {boolean} [parts] false for changes of tokens only, without conditions and statements
 * @returns {Change[]}
 */
export function wgslChanges(source, parts = true) {
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
    const text = (/** @type {string} */ part, /** @type {number} */ from) => line.slice(from, from + part.length);
    return [
      ...tokens,
      ...(condition === undefined ? [] : [negated(at + before.length, text(condition, before.length))]),
      ...(statement === undefined ? [] : [removed(at + indent.length, text(statement, indent.length))]),
    ];
  });
}
