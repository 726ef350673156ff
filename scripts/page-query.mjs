/** What the page is to run, as commands take it: `--autorun MODE --query k=v k=v …`. Which knobs there are, the page itself knows. */
import { parseArgs } from 'node:util';
import { UsageError } from './command-line.mjs';

const queryOptions = /** @type {const} */ ({
  autorun: { type: 'string' },
  query: { type: 'string', multiple: true },
});

/**
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {Options} options without --autorun and --query
 * @param {string[]} args without those of Node
 * @returns {{ values: ReturnType<typeof parseArgs<{ options: Options }>>['values'], query: URLSearchParams }}
 * @throws UsageError
 */
export function parseWithQuery(options, args) {
  const all = { ...options, ...queryOptions };
  const { values, tokens } = parse(all, args);
  const query = new URLSearchParams();
  const { autorun } = /** @type {{ autorun?: string }} */ (values);
  if (autorun !== undefined) query.append('autorun', autorun);
  let inQuery = false;
  for (const token of tokens) {
    if (token.kind === 'option') inQuery = token.name === 'query';
    else if (token.kind === 'positional' && !inQuery) {
      throw new UsageError(`'${token.value}' belongs to no option; what the page is to run goes after --query`);
    }
    if (inQuery && token.kind !== 'option-terminator') query.append(...splitPair('query', token.value ?? '', '='));
  }
  return { values: /** @type {any} */ (values), query };
}

/**
 * @param {string} option
 * @param {string} text
 * @param {string} separator
 * @returns {[string, string]}
 * @throws UsageError
 */
export function splitPair(option, text, separator) {
  const cut = text.indexOf(separator);
  if (cut <= 0) throw new UsageError(`--${option}: '${text}' is not of the form name${separator}value`);
  return [text.slice(0, cut).trim(), text.slice(cut + 1).trim()];
}

/**
 * @param {string} url
 * @param {URLSearchParams} query
 */
export function withQuery(url, query) {
  const address = new URL(url);
  for (const [name, value] of query) address.searchParams.append(name, value);
  return address.href;
}

/**
 * @param {NonNullable<import('node:util').ParseArgsConfig['options']>} options
 * @param {string[]} args
 */
function parse(options, args) {
  try {
    return parseArgs({ args, options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}
