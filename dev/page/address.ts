/**
 * Reads the page's own address: its query, and the same in its fragment (`#autorun=…`, with or
 * without `?` or `/`), for links that must not reach a server. The query wins where both name a
 * knob.
 */
export function readAddress({ search, hash }: Pick<Location, 'search' | 'hash'>): URLSearchParams {
  const query = new URLSearchParams(search);
  const ofQuery = new Set(query.keys());
  for (const [name, value] of new URLSearchParams(hash.replace(/^#[/?]*/, '')))
    if (!ofQuery.has(name)) query.append(name, value);
  return query;
}
