/** Assigns the colours of charts.css to names. */

export const PALETTE_SIZE = 8;

export const colourAt = (position: number): string => `var(--series-${(position % PALETTE_SIZE) + 1})`;

/** Passes in execution order, so that each has its colour in whatever order charts are drawn. */
const known = ['decompose', 'sort', 'partition', 'walk', 'combine', 'reduce', 'combine windows (CPU)', 'host, waiting'];
/** Phases in which the host does not compute; they share one colour. */
const waiting = ['encode', 'submit to result', 'read back'];

const positions = new Map([
  ...known.map((name, i) => [name, i] as const),
  ...waiting.map((name) => [name, known.length - 1] as const),
]);

/**
 * Returns the colour of a pass or phase, the same in all charts. Other names get the next free
 * colour.
 */
export function colourOf(name: string): string {
  const position = positions.get(name) ?? positions.size;
  positions.set(name, position);
  return colourAt(position);
}
