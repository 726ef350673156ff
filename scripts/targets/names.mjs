/**
 * How a size is called.
 *
 * @param {number} logn
 */
export const stageName = (logn) => `2^${logn}`;
