/** What was found about a target, and what that means. */

/**
 * @typedef {{ readonly most: number } | { readonly least: number }} Target
 *
 * @typedef {object} Finding a line of the table
 * @property {string} what
 * @property {Target | null} target null: the value is for information only
 * @property {number | null} value null: not measured
 * @property {string} [unit]
 * @property {string} [note] why it was not measured, or what is to be known about the value
 * @property {string} [failure] what went wrong; then no value counts
 *
 * @typedef {'met' | 'MISSED' | 'FAILED' | 'not measured' | 'no verdict'} Verdict
 */

/**
 * @param {Finding} finding
 * @returns {Verdict}
 */
export function verdictOf({ target, value, failure }) {
  if (failure !== undefined) return 'FAILED';
  if (value === null) return 'not measured';
  // no time and no ratio is that; it must not pass for a target that is merely missed
  if (!Number.isFinite(value)) return 'FAILED';
  if (target === null) return 'no verdict';
  const met = 'most' in target ? value <= target.most : value >= target.least;
  return met ? 'met' : 'MISSED';
}

/**
 * @param {readonly Finding[]} findings
 * @param {boolean} strict
 */
export function exitCodeOf(findings, strict) {
  const verdicts = findings.map(verdictOf);
  return verdicts.includes('FAILED') || (strict && verdicts.includes('MISSED')) ? 1 : 0;
}

/**
 * @param {string} what
 * @param {Target | null} target
 * @param {string} why
 * @returns {Finding}
 */
export const notMeasured = (what, target, why) => ({ what, target, value: null, note: why });

/** @param {number} logn */
export const needs = (logn) => `needs --logn ${logn}`;
