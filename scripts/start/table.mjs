/** What `npm start` prints. */

/** @typedef {import('./measure.mjs').Measurement} Measurement */

/**
 * A column for each n, as the phases are many and the sizes few.
 *
 * @param {Measurement[]} measurements
 * @param {number} reps
 */
export function table(measurements, reps) {
  /** @type {[label: string, cell: (measurement: Measurement) => string][]} */
  const rows = [
    ['n', ({ n }) => n.toLocaleString('en')],
    [`wall, ms (median of ${reps})`, ({ wallMs }) => milliseconds(wallMs)],
    ...phaseNames(measurements).map((name) => phaseRow(name)),
    ['cost, million products', ({ productEquivalents }) => (productEquivalents / 1e6).toPrecision(3)],
    ['scratch', ({ scratchBytes }) => bytes(scratchBytes)],
    ['bases', ({ basesBytes }) => bytes(basesBytes)],
    ['agrees with noble', ({ wrong }) => (wrong.length === 0 ? 'yes' : 'NO')],
  ];
  const cells = rows.map(([label, cell]) => [label, ...measurements.map(cell)]);
  const widths = (cells[0] ?? []).map((_, column) => width(cells, column));
  const lines = cells.map((row) =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('   '),
  );
  const rule = '─'.repeat(lines[0]?.length ?? 0);
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

/**
 * @param {string[][]} cells
 * @param {number} column
 */
function width(cells, column) {
  return Math.max(...cells.map((row) => row[column]?.length ?? 0));
}

/**
 * The phases of all sizes, in the order in which they first come.
 *
 * @param {Measurement[]} measurements
 */
function phaseNames(measurements) {
  return [...new Set(measurements.flatMap(({ phases }) => phases ?? []).map(({ name }) => name))];
}

/**
 * @param {string} name
 * @returns {[string, (measurement: Measurement) => string]}
 */
function phaseRow(name) {
  return [
    `  ${name}`,
    ({ phases }) => {
      const phase = phases?.find((candidate) => candidate.name === name);
      return phase ? milliseconds(phase.ms) : '–';
    },
  ];
}

/** @param {number} ms */
function milliseconds(ms) {
  return ms.toFixed(ms < 100 ? 2 : 0);
}

/** @param {number} count */
function bytes(count) {
  return count < 2 ** 20 ? `${(count / 2 ** 10).toFixed(1)} KiB` : `${(count / 2 ** 20).toFixed(1)} MiB`;
}
