import { describeAdapter, formatRuntime, isCpu } from '../bench/format.js';
import type { RowOf } from '../bench/rows.js';
import { h } from './dom.js';
import { table } from './table-view.js';

/** Shows the CPU or the adapter in one line, with a caution for software adapters. */
export function adapterLine(init: RowOf<'init'>): HTMLElement {
  const { adapter, environment } = init;
  const small = h('small', {}, formatRuntime(init));
  if (isCpu(adapter)) {
    const cores = environment.cores === null ? '' : `, ${environment.cores} logical cores`;
    return h('p', {}, h('strong', {}, `CPU${cores}`), ' ', h('span', { class: 'badge' }, 'no GPU opened'), ' ', small);
  }
  const caution = adapter.software
    ? [h('span', { class: 'badge' }, 'software'), ' Software GPU: correct but slow; timings do not reflect real GPUs. ']
    : [];
  const name = h('strong', {}, describeAdapter(adapter));
  return h('p', { class: adapter.software ? 'caution' : false }, name, ' ', ...caution, small);
}

export function environmentDetails(init: RowOf<'init'>): HTMLElement {
  const { environment, seed, settings, query } = init;
  const { features, limits, wgslFeatures, ...facts } = environment;
  const lists = { settings: settings.join(' | '), features: features.join(', '), wgsl: wgslFeatures.join(', ') };
  const described = Object.entries({ ...facts, seed, query, ...lists }).map(
    ([name, value]) => [name, value === null ? 'unknown' : String(value)] as const,
  );
  return h(
    'details',
    { class: 'environment' },
    h('summary', {}, 'Environment, features and limits'),
    table('Environment', ['Name', 'Value'], described),
    isCpu(init.adapter)
      ? null
      : table(
          'Limits of the adapter',
          ['Limit', 'Value'],
          Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en')]),
        ),
  );
}
