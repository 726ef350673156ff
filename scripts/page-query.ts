/**
 * Options that make the page's query: `--autorun MODE --query k=v k=v …`. The page itself checks
 * the names of the knobs.
 */
import { anyText, pair, repeatable, UsageError, valued } from './command-line.js';

export const pageOptions = {
  autorun: valued('MODE', 'the mode that the page runs, such as msm-bench', anyText),
  query: repeatable('k=v k=v …', "the page's knobs; may be repeated"),
};

/**
 * Joins the mode and all pairs to a query.
 *
 * @param words words that belong to no option: further pairs of --query
 * @throws UsageError
 */
export function readQuery(
  { autorun, query: pairs }: { autorun: string | undefined; query: string[] },
  words: string[],
) {
  if (words.length > 0 && pairs.length === 0) {
    throw new UsageError(`'${words[0]}' belongs to no option; knobs of the page go after --query`);
  }
  const query = new URLSearchParams(autorun === undefined ? {} : { autorun });
  for (const text of [...pairs, ...words]) query.append(...pair(text, 'query'));
  return query;
}

/** Adds a query to an address, whose own values of the same names it replaces. */
export function withQuery(url: string, query: URLSearchParams) {
  const address = new URL(url);
  for (const name of query.keys()) address.searchParams.delete(name);
  for (const [name, value] of query) address.searchParams.append(name, value);
  return address.href;
}
