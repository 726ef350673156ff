import { describeAdapter, formatClock } from '../bench/format.js';
import type { InitRow } from '../bench/rows.js';
import { h, table } from './dom.js';

/** The adapter in one line, and that its times say little where it is software. */
export const adapterLine = ({ adapter, environment }: InitRow): HTMLElement =>
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

export function environmentDetails(init: InitRow): HTMLElement {
  const { environment, seed, settings, query } = init;
  const { features, limits, wgslFeatures, ...facts } = environment;
  const described = Object.entries({ ...facts, seed, settings: settings.join(' | '), query }).map(
    ([name, value]) => [name, value === null ? 'unknown' : String(value)] as const,
  );
  return h(
    'details',
    { class: 'environment' },
    h('summary', {}, 'Environment, features and limits'),
    table('Where this ran', ['What', 'Value'], described),
    h('p', {}, h('strong', {}, 'Features: '), features.length === 0 ? 'none' : features.join(', ')),
    h('p', {}, h('strong', {}, 'WGSL: '), wgslFeatures.length === 0 ? 'no extensions' : wgslFeatures.join(', ')),
    table(
      'Limits of the adapter',
      ['Limit', 'Value'],
      Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en')]),
    ),
  );
}
