/** Refuses a run about workers without workers. */
export const refuseNoWorkers = (query: URLSearchParams): string | null =>
  query.get('workers') === '0' ? 'workers: "0" leaves nothing to compare; use 1 or more' : null;
