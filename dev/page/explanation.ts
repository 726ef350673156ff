/** What the page says about itself. */
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { caseSets } from '../cases/select.js';
import { h } from './dom.js';

const examples: readonly (readonly [query: string, what: string])[] = [
  ['autorun=msm-bench&logn=10,12,14', 'time 2^10, 2^12 and 2^14 points'],
  [
    'autorun=msm-cross-check&logn=8,10&case=core',
    'check the cases that go wrong most easily, with both kinds of scratch',
  ],
  ['autorun=field-bench', 'what a field product costs here, and how far from the device’s peak it is'],
  ['autorun=msm-bench&logn=12&scalars=mostly-zero', 'the scalars that provers really have'],
  ['autorun=msm-bench&logn=14&walkerpriv=1', 'prefix products in private memory …'],
  ['autorun=msm-bench&logn=14&walkerpriv=0', '… against workgroup memory'],
  [
    'autorun=msm-cross-check&n=1000&points=pairs&scalars=all-equal',
    'one adversarial case: P, −P, Q, −Q, … all in one bucket',
  ],
];

export function introduction(): HTMLElement {
  return h(
    'section',
    { class: 'prose', 'aria-labelledby': 'about-title' },
    h('h2', { id: 'about-title' }, 'What this is'),
    h(
      'p',
      {},
      'Provers spend much of their time on sums of the form s₀·P₀ + s₁·P₁ + … over an elliptic curve. ',
      h('strong', {}, 'webgpu-msm'),
      ' computes them on the GPU, with WebGPU. This page checks and times the library on the device that you hold. Nothing runs before you press Run or follow one of the links, and nothing is sent anywhere but to the dev server that the page came from.',
    ),
    h(
      'p',
      {},
      'Every point is a known multiple of the generator, so the right answer of any size costs one multiplication by ',
      h('a', { href: 'https://github.com/paulmillr/noble-curves' }, 'noble-curves'),
      '; up to 256 points noble adds up the whole sum as well. A result is compared before anything is timed, and a wrong one has no time.',
    ),
    h('h2', {}, 'Links to try'),
    h(
      'ul',
      { class: 'links' },
      ...examples.map(([query, what]) => h('li', {}, h('a', { href: `?${query}` }, `?${query}`), h('span', {}, what))),
    ),
  );
}

export function reference(): HTMLElement {
  return h(
    'section',
    { class: 'prose', 'aria-labelledby': 'sets-title' },
    h('h2', { id: 'sets-title' }, 'Sets of cases'),
    glossary(caseSets),
    h('h2', {}, 'Distributions of the points'),
    glossary(pointDistributions),
    h('h2', {}, 'Distributions of the scalars'),
    glossary(scalarDistributions),
    h('h2', {}, 'For programs'),
    h(
      'p',
      {},
      'The state is ',
      h('code', {}, 'window.msmBench'),
      ': status (idle, running, done, failed), runId, adapter, rows, lastWallMs, error. Rows are posted to the dev server, which appends them to ',
      h('code', {}, 'dev/results/progress.jsonl'),
      ' and ',
      h('code', {}, 'dev/results/results.jsonl'),
      '. ',
      h('code', {}, 'npm run correctness'),
      ' drives this page without a window.',
    ),
  );
}

const glossary = (terms: Readonly<Record<string, { readonly about: string }>>): HTMLElement =>
  h(
    'dl',
    {},
    ...Object.entries(terms).flatMap(([name, { about }]) => [h('dt', {}, h('code', {}, name)), h('dd', {}, about)]),
  );

/** Why nothing can run here; null when it can. Looks only whether the interface is there, and starts no GPU. */
export function missingWebGpu(): HTMLElement | null {
  if ('gpu' in navigator) return null;
  return h(
    'p',
    { class: 'alert' },
    isSecureContext
      ? 'This browser offers no WebGPU. Chrome and Edge from 113 on, Safari from 26 on and Firefox from 141 on do, on most devices.'
      : 'Browsers offer WebGPU only to pages from https or from localhost, and this page came from neither.',
  );
}
