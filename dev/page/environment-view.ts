import { describeAdapter, formatClock } from '../bench/format.js';
import type { RowOf } from '../bench/rows.js';
import { h } from './dom.js';
import { table } from './table-view.js';

/** The adapter in one line, and that its times say little where it is software. */
export const adapterLine = ({ adapter, environment }: RowOf<'init'>): HTMLElement =>
  h(
    'p',
    { class: adapter.software ? 'caution' : false },
    h('strong', {}, describeAdapter(adapter)),
    ' ',
    ...(adapter.software
      ? [
          h('span', { class: 'badge' }, 'software'),
          ' a CPU that plays GPU: right, and slow. Times say nothing about a GPU. ',
        ]
      : []),
    h('small', {}, `${environment.runtime}, ${environment.os}; ${formatClock(environment)}`),
  );

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
    table('Where this ran', ['What', 'Value'], described),
    table(
      'Limits of the adapter',
      ['Limit', 'Value'],
      Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en')]),
    ),
  );
}
