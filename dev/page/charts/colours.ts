/** The colours of charts.css, and which of them a name has. */

export const PALETTE_SIZE = 8;

export const colourAt = (position: number): string => `var(--series-${(position % PALETTE_SIZE) + 1})`;

/** Passes in the order in which they run, so that each has its colour whoever draws first. */
const known = ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce', 'fold (CPU)', 'host, waiting'];
/** All that the host does without computing is one. */
const waiting = ['encode', 'submit to result', 'read back'];

const positions = new Map([
  ...known.map((name, i) => [name, i] as const),
  ...waiting.map((name) => [name, known.length - 1] as const),
]);

/** The colour of a pass or phase, the same in all charts of the page; of others, who comes first gets the next one. */
export function colourOf(name: string): string {
  const position = positions.get(name) ?? positions.size;
  positions.set(name, position);
  return colourAt(position);
}
