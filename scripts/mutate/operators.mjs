/** What is changed in sources to see whether a test notices, in any language; and where it can be in WGSL. */

/**
 * @typedef {object} Change
 * @property {number} at offset in the source
 * @property {string} from what stands there
 * @property {string} to what takes its place
 * @property {string} what it is, in a few characters
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
 * Another token in the place of one: an operator, a word, or a number that is one more or one less.
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

/** @param {number} at @param {string} from @returns {Change} */
export const negated = (at, from) => ({ at, from, to: `!(${from})`, what: `${from} → not` });

/** @param {number} at @param {string} from @returns {Change} */
export const removed = (at, from) => ({ at, from, to: ';', what: 'removed' });

/** @param {string} source @param {Change} change */
export const applied = (source, { at, from, to }) => source.slice(0, at) + to + source.slice(at + from.length);

/** @param {string} source @param {number} at */
export const lineOf = (source, at) => source.slice(0, at).split('\n').length;

/** Numbers, operators between spaces, words. */
const TOKEN =
  /(?<![\w.<])(?:0x[0-9a-f]+|\d+)[ui]?(?![\w.>])|(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^]=?|[<>])(?= )|\b(?:true|false)\b|\b(?:min|max)(?=\()/gi;

/** No part of what a shader does: attributes, declarations, tags of the template. */
const isInert = /^\s*(@|enable|struct|fn |\{\{|\}|$)/;

/** Tags of the template and comments, as blanks: offsets stay. @param {string} line */
const blanked = (line) => line.replace(/\/\/.*|\{\{.*?\}\}/g, (text) => '_'.repeat(text.length)).replace(/_+$/, '');

/**
 * @param {string} source of a shader, or its template
 * @param {boolean} [parts] conditions and statements as well, not only tokens
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
    // an assignment, a call, or where a function or a turn of a loop ends early; without its value a function does not compile
    const [, indent = '', statement] = /^(\s*)((?!let\b|var\b|const\b|return |for\b)\w.*;)\s*$/.exec(code) ?? [];
    const text = (/** @type {string} */ part, /** @type {number} */ from) => line.slice(from, from + part.length);
    return [
      ...tokens,
      ...(condition === undefined ? [] : [negated(at + before.length, text(condition, before.length))]),
      ...(statement === undefined ? [] : [removed(at + indent.length, text(statement, indent.length))]),
    ];
  });
}
