/** What the page says about itself. */
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { caseSets } from '../cases/select.js';
import { h } from './dom.js';
import { runLink } from './problems.js';

/** What one wants to know of a device, and the run that answers it. */
const answers: readonly (readonly [question: string, query: string, what: string])[] = [
  [
    'Is it right?',
    'autorun=msm-cross-check&logn=8,10&case=core',
    'Compares the cases that go wrong most easily with the oracles, with both kinds of scratch.',
  ],
  [
    'How fast is it?',
    'autorun=msm-bench&logn=10,12,14',
    'Times 2¹⁰, 2¹² and 2¹⁴ points, beside noble on the CPU and the roofline of this device.',
  ],
  ['Where does the time go?', 'autorun=msm-trace&logn=14', 'Puts every pass of an MSM on a time line.'],
  [
    'Private or workgroup scratch?',
    'autorun=accum-ab&logn=12&a.walkerpriv=1&b.walkerpriv=0',
    'Runs both in turns, and says by how much one wins, if it does.',
  ],
  [
    'How far from the roofline?',
    'autorun=field-bench',
    'Measures what a field product costs here, beside what the device’s arithmetic can do. The benchmark says it of whole MSMs.',
  ],
  [
    'What suits this device?',
    'autorun=calibrate',
    'Tries a dozen settings; this browser remembers the best, if it lets pages do that.',
  ],
];

const examples: readonly (readonly [query: string, what: string])[] = [
  ['autorun=msm-bench&logn=16,18,20', 'larger, for a real GPU'],
  ['autorun=msm-bench&logn=12&scalars=mostly-zero', 'the scalars that provers really have'],
  ['autorun=sweep&logn=12&walkertpb=16,32,64,128', 'which number of threads is best?'],
  ['autorun=sweep&logn=10..14&walkerpriv=0,1', 'private against workgroup scratch at five sizes'],
  ['autorun=accum-ab&logn=12&b.precompute=4', 'what are four multiples of each point worth?'],
  [
    'autorun=msm-cross-check&n=1000&points=pairs&scalars=all-equal',
    'one adversarial case: P, −P, Q, −Q, … all in one bucket',
  ],
];

export function questions(): HTMLElement {
  return h(
    'nav',
    { class: 'questions', 'aria-labelledby': 'questions-title' },
    h('h2', { id: 'questions-title' }, 'What would you like to know?'),
    h(
      'ul',
      {},
      ...answers.map(([question, query, what]) =>
        h('li', {}, h('a', { href: `?${query}` }, h('strong', {}, question), h('small', {}, what))),
      ),
    ),
  );
}

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
      ' computes them on the GPU, with WebGPU. This page checks and times the library on the device that you hold. Nothing runs before you press Run or follow one of the links, and nothing is sent anywhere but to the dev server that the page came from, if it came from one.',
    ),
    h(
      'p',
      {},
      'Every point is a known multiple of the generator, so the right answer of any size costs one multiplication by ',
      h('a', { href: 'https://github.com/paulmillr/noble-curves' }, 'noble-curves'),
      '; up to 256 points noble adds up the whole sum as well. A result is compared before anything is timed, and a wrong one has no time.',
    ),
  );
}

export function reference(): HTMLElement {
  return h(
    'section',
    { class: 'prose', 'aria-labelledby': 'links-title' },
    h('h2', { id: 'links-title' }, 'Links to try'),
    h(
      'ul',
      { class: 'links' },
      ...examples.map(([query, what]) => h('li', {}, runLink(new URLSearchParams(query)), h('small', {}, what))),
    ),
    glossary('Passes of an MSM', passes),
    glossary('Sets of cases', caseSets),
    glossary('Distributions of the points', pointDistributions),
    glossary('Distributions of the scalars', scalarDistributions),
    h('h2', {}, 'For programs'),
    h(
      'p',
      {},
      'The state is ',
      h('code', {}, 'window.msmBench'),
      ': status (idle, running, done, failed), runId, adapter, rows, lastWallMs, error, deviceLost, done, total, secondsLeft. Rows are posted to the dev server, which appends them to ',
      h('code', {}, 'dev/results/progress.jsonl'),
      ' and ',
      h('code', {}, 'dev/results/results.jsonl'),
      '. ',
      h('code', {}, 'npm run correctness'),
      ' and ',
      h('code', {}, 'npm run bench:remote'),
      ' drive this page without a window, and ',
      h('code', {}, 'npm run bench'),
      ' runs the same in Node.',
    ),
  );
}

const passes = {
  decompose: { about: 'cuts each scalar into signed digits, one a window: which bucket each point is added to' },
  sort: { about: 'brings the points of a bucket together' },
  partition: { about: 'cuts the sorted stream into tasks of equal length' },
  walk: { about: 'adds up the points of each bucket: nearly all of the arithmetic' },
  combine: { about: 'joins the sums of buckets that the end of a task has cut' },
  reduce: { about: 'adds up the buckets of each window, times their digits' },
  'fold (CPU)': { about: 'joins the windows by doublings, and checks that the result is on the curve' },
} as const;

/** Folded up on a phone, where it is far to scroll. */
const glossary = (title: string, terms: Readonly<Record<string, { readonly about: string }>>): HTMLElement =>
  h(
    'details',
    { class: 'glossary', open: matchMedia('(width >= 40rem)').matches },
    h('summary', {}, h('h2', {}, title)),
    h(
      'dl',
      {},
      ...Object.entries(terms).flatMap(([name, { about }]) => [h('dt', {}, h('code', {}, name)), h('dd', {}, about)]),
    ),
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
