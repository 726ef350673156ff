/** What `npm run ab` prints. */

/**
 * @typedef {import('../../dev/ab/compare.js').Comparison} Comparison
 * @typedef {import('./options.mjs').SideOptions} SideOptions
 *
 * @typedef {object} Ran
 * @property {string} on gpu or cpu
 * @property {number} plans of its timed runs
 */

/** @param {number} count */
const millions = (count) => (count / 1e6).toPrecision(4);

/** @param {number} ratio */
const times = (ratio) => ratio.toFixed(3);

/**
 * @param {Comparison} comparison
 * @param {readonly SideOptions[]} sides A and B
 * @param {readonly Ran[]} ran what they did
 */
export function report({ a, b, productsPerSecond, walls, equivalents }, sides, ran) {
  const table = [['', 'settings', 'build', 'on', 'median, ms', 'product equivalents, millions']];
  let notes = '';
  for (const [i, { name, settings, own, build }] of sides.entries()) {
    const { medianMs, productEquivalents } = name === 'A' ? a : b;
    const { on = '?', plans = 0 } = ran[i] ?? {};
    const cost = [medianMs.toFixed(2), millions(productEquivalents)];
    table.push([name, spell(settings), own ? 'this one' : build, on, ...cost]);
    if (plans > 1)
      notes += `\n${name} ran with ${plans} different plans: its engine learned the device's speed meanwhile.`;
  }
  return `${aligned(table)}

B ÷ A = ${interval(walls)} (ratio of the medians; bootstrap over the pairs)
${verdict(walls)}${notes}

Product equivalents: wall × the rate of the plain 13-bit product, ${millions(productsPerSecond)} million a second here (median), measured
before and after every MSM: the cost to compare with runs at other times. In them B ÷ A = ${interval(equivalents)}.`;
}

/** @param {import('../../dev/bench/statistics.js').RatioOfMedians} ratio */
const interval = ({ ratio, low, high }) => `${times(ratio)}, 95 % interval ${times(low)} to ${times(high)}`;

/**
 * @param {import('../../dev/bench/statistics.js').RatioOfMedians} ratio
 */
function verdict({ ratio, verdict }) {
  switch (verdict) {
    case 'A is faster':
      return `A is faster: B takes ${times(ratio)} times as long.`;
    case 'B is faster':
      return `B is faster: A takes ${times(1 / ratio)} times as long.`;
    case 'no difference':
      return 'No difference that these pairs show: the interval has 1 in it.';
    case 'too few pairs':
      return 'Too few pairs for a verdict: --reps 6 or more.';
  }
}

/** @param {import('./options.mjs').Settings} settings */
function spell(settings) {
  const named = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return named.length === 0 ? 'defaults' : named.join(', ');
}

/** @param {string[][]} rows the numbers are in the last two columns */
function aligned(rows) {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const cell = (/** @type {string} */ text, /** @type {number} */ i) =>
    i < columns - 2 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return rows.map((row) => row.map(cell).join('   ')).join('\n');
}
