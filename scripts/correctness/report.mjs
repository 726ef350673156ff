/** What `npm run correctness` prints: a line for each case and placement, as it comes. */

/** @typedef {import('../../dev/bench/rows.js').CaseRow} CaseRow */

const COLUMNS = /** @type {const} */ ([
  ['scratch', 9],
  ['agrees', 6],
  ['on curve', 8],
  ['identical', 9],
  ['ms', 8],
]);

/** @param {boolean} right */
const yes = (right) => (right ? 'yes' : 'NO');

/**
 * @param {readonly string[]} cases each with its placement
 * @param {string} adapter
 */
export function makeTable(cases, adapter) {
  const width = cases.reduce((most, name) => Math.max(most, name.lastIndexOf(', ')), 4);
  /** @param {readonly string[]} cells */
  const line = ([name = '', scratch = '', agrees = '', onCurve = '', identical = '', ms = '', last = '']) =>
    [
      name.padEnd(width),
      scratch.padEnd(COLUMNS[0][1]),
      agrees.padEnd(COLUMNS[1][1]),
      onCurve.padEnd(COLUMNS[2][1]),
      identical.padEnd(COLUMNS[3][1]),
      ms.padStart(COLUMNS[4][1]),
      last,
    ].join('  ');
  const head = line(['case', ...COLUMNS.map(([title]) => title), 'adapter']);
  return {
    head: `${head}\n${'─'.repeat(head.length)}`,
    /** @param {CaseRow} row */
    row({ case: name, placement, agrees, onCurve, identical, medianMs, error }) {
      const ms = medianMs === null ? '–' : medianMs.toFixed(0);
      const text = line([name, placement, yes(agrees), yes(onCurve), yes(identical), ms, adapter]);
      return error === null ? text : `${text}\n    ${error}`;
    },
  };
}

/** @param {CaseRow} row */
export const passed = ({ agrees, onCurve, identical, error }) => agrees && onCurve && identical && error === null;
