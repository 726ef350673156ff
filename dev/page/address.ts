/**
 * What the page's own address says: its query, and the same in its fragment (`#autorun=…`, with or without `?` or `/`), for links that must not
 * reach a server. What both have is the query's.
 */
export function readAddress({ search, hash }: Pick<Location, 'search' | 'hash'>): URLSearchParams {
  const query = new URLSearchParams(search);
  const ofQuery = new Set(query.keys());
  for (const [name, value] of new URLSearchParams(hash.replace(/^#[/?]*/, '')))
    if (!ofQuery.has(name)) query.append(name, value);
  return query;
}
