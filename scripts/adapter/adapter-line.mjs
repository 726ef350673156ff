/**
 * One line for people.
 *
 * @param {import('./open-gpu.mjs').Adapter} adapter
 */
export function adapterLine(adapter) {
  const family = [adapter.vendor, adapter.architecture].filter(Boolean).join(' ');
  const name = adapter.description || adapter.device || family || 'unnamed';
  return `${name}${name === family || !family ? '' : ` (${family})`}, ${adapter.software ? 'software' : 'hardware'}`;
}
