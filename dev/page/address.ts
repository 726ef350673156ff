/** What the page's own address says: its query, and the same in its fragment, for links that must not reach a server. */

export interface Address {
  readonly query: URLSearchParams;
  /** Where the two do not agree. */
  readonly notes: readonly string[];
}

/** The query and the fragment (`#autorun=…`, with or without `?` or `/`) as one query; what both have is the query's. */
export function readAddress({ search, hash }: Pick<Location, 'search' | 'hash'>): Address {
  const query = new URLSearchParams(search);
  const fragment = new URLSearchParams(hash.replace(/^#[/?]*/, ''));
  const notes: string[] = [];
  const ofQuery = new Set(query.keys());
  for (const [name, value] of fragment) {
    if (!ofQuery.has(name)) query.append(name, value);
    else if (!query.getAll(name).includes(value))
      notes.push(`${name} is “${query.get(name)}” in the query and “${value}” in the fragment: the query counts.`);
  }
  return { query, notes };
}
