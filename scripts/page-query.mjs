/** What the page is to run, as commands take it: `--autorun MODE --query k=v k=v …`. Which knobs there are, the page itself knows. */
import { anyText, pair, repeatable, UsageError, valued } from './command-line.mjs';

export const pageOptions = {
  autorun: valued('MODE', 'what the page runs, such as msm-bench', anyText),
  query: repeatable('k=v k=v …', "the page's knobs; may be given again"),
};

/**
 * @param {{ autorun: string | undefined, query: string[] }} values
 * @param {string[]} words what belongs to no option: more pairs of --query
 * @throws UsageError
 */
export function readQuery({ autorun, query: pairs }, words) {
  if (words.length > 0 && pairs.length === 0) {
    throw new UsageError(`'${words[0]}' belongs to no option; what the page is to run goes after --query`);
  }
  const query = new URLSearchParams(autorun === undefined ? {} : { autorun });
  for (const text of [...pairs, ...words]) query.append(...pair(text, 'query'));
  return query;
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
