/** What field-bench says of the library's own operations, in the run that the targets are measured in. */
import { openGpu } from '../adapter/open-gpu.mjs';

const CHAINS = [1, 2];
const LEAST_MS = 50;

/** A few would do for a time; what is wanted here are ratios of short dispatches, and those of a busy machine vary. */
const LEAST_REPS = 15;

/**
 * @typedef {object} FieldCosts
 * @property {string} variant
 * @property {number} productsPerSecond the library's own
 * @property {number} inversion in own products
 * @property {number} square in own products
 * @property {number} ownToPlain rate of the own product ÷ that of the plain one as the product meter has it: both from the same turns, so that it
 *   stays when a shared machine slows down
 */

/**
 * @param {import('./workbench.mjs').Workbench} bench
 * @param {GPUDevice} device
 * @param {import('../../src/field/carry.js').CarryMode} carry
 * @returns {Promise<FieldCosts>}
 */
export async function measureField({ tools, software, reps, progress }, device, carry) {
  const variant = tools.libraryVariant(carry);
  const [plain] = tools.libraryOperations;
  const wanted = ['product', 'square', 'inverse'];
  const { rows } = await tools.fieldBench(device, tools.modulus(tools.bn254.p), {
    threads: tools.threadsFor(software),
    chains: CHAINS,
    reps: Math.max(reps, LEAST_REPS),
    leastMs: LEAST_MS,
    operations: tools.libraryOperations.filter(
      (operation) => operation === plain || (operation.variant === variant && wanted.includes(operation.name)),
    ),
    features: /** @type {ReadonlySet<string>} */ (openGpu().wgslLanguageFeatures),
    onProgress: progress,
  });
  return fieldCosts(rows, variant, /** @type {string} */ (plain?.variant));
}

/**
 * @param {readonly import('../../dev/field-bench/run.js').FieldBenchRow[]} rows
 * @param {string} variant the library's
 * @param {string} plain variant
 * @returns {FieldCosts}
 */
export function fieldCosts(rows, variant, plain) {
  // each at its best, as field-bench prints it
  const best = (/** @type {string} */ name) =>
    Math.max(...rows.filter((row) => row.variant === variant && row.operation === name).map((row) => row.perSecond));
  const unit = rows.find((row) => row.variant === plain && row.chains === 1)?.perSecond ?? Number.NaN;
  const product = best('product');
  return {
    variant,
    productsPerSecond: product,
    inversion: product / best('inverse'),
    square: product / best('square'),
    ownToPlain: product / unit,
  };
}
