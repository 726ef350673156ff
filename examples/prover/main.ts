/**
 * The page: settings, progress and results. A worker does all work, and is terminated on cancel.
 */
import {
  type Message,
  type Outcome,
  type ProofTimes,
  type Side,
  type System,
  stagesOf,
  type Task,
} from './messages.js';

const byId = <Of extends HTMLElement>(id: string): Of => document.getElementById(id) as Of;
const form = byId<HTMLFormElement>('settings');
const prove = byId<HTMLButtonElement>('prove');
const cancel = byId<HTMLButtonElement>('cancel');
const bar = byId<HTMLProgressElement>('bar');

const formatted = (ms: number): string => ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 1 : 0 });

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[sorted.length >> 1] as number;
};

/** Times of several proofs: the median and the range. */
interface Spread {
  readonly ms: number;
  readonly least: number;
  readonly most: number;
}

const spreadOf = (values: readonly number[]): Spread => ({
  ms: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

/** Rows of the table. */
type Rows = readonly { readonly name: string; readonly spread: Spread }[];

/** Returns the rows of the table: each stage, the whole proof, and the first proof. */
const rowsOf = (system: System, proofs: readonly ProofTimes[], first: ProofTimes): Rows => {
  const row = (name: string, of: (proof: ProofTimes) => number) => ({ name, spread: spreadOf(proofs.map(of)) });
  return [
    ...stagesOf[system].map(({ name }, i) => row(name, ({ stages }) => stages[i] as number)),
    row('proof', ({ total }) => total),
    { name: 'first proof', spread: spreadOf([first.total]) },
  ];
};

const element = (name: string, className: string, text = ''): HTMLElement => {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
};

/**
 * Draws a bar up to the median with its number, and a line over the range. A bar beyond the longest
 * fades out at the edge.
 */
const barOf = (kind: Side, { ms, least, most }: Spread, longest: number): HTMLElement => {
  const line = element('div', `line ${kind}`);
  const share = (of: number): string => `${(100 * of) / longest}%`;
  const [track, drawn] = [element('span', 'track'), element('span', 'drawn')];
  drawn.style.inlineSize = share(Math.min(ms, longest));
  drawn.classList.toggle('beyond', ms > longest);
  track.append(drawn);
  const hasSpread = most > least;
  if (hasSpread) {
    const stroke = element('span', 'stroke');
    stroke.style.insetInlineStart = share(least);
    stroke.style.inlineSize = share(most - least);
    track.append(stroke);
  }
  const spread = hasSpread ? `${formatted(least)} – ${formatted(most)}` : '';
  line.append(track, element('span', 'ms', formatted(ms)), element('span', 'spread', spread));
  return line;
};

/** Returns the time of the library ÷ that of snarkjs, over pairs. */
const ratiosOf = ({ plain, ours }: Outcome): Spread =>
  spreadOf(ours.map(({ total }, i) => total / (plain[i] as ProofTimes).total));

/** Describes the backends. */
const whereOf = ({ backends }: Outcome): string =>
  `webgpu-msm may compute on ${backends.map((each) => `the ${each.toUpperCase()}`).join(' and ')}.`;

const adapterOf = ({ name, software, isGpu }: Outcome['adapter']): string => {
  if (!isGpu) return 'WebGPU is not available here, or was not asked for.';
  return software ? `Adapter: ${name}. It is a software GPU, so times do not reflect real GPUs.` : `Adapter: ${name}.`;
};

/** Returns a ratio of times as a sentence has it. */
const speedText = (ratio: number): string =>
  ratio < 1 ? `${(1 / ratio).toFixed(1)} × faster` : `${ratio.toFixed(1)} × slower`;

const show = (outcome: Outcome): void => {
  const [plain, ours] = (['plain', 'ours'] as const).map((side) =>
    rowsOf(outcome.system, outcome[side], outcome.first[side]),
  ) as [Rows, Rows];
  const ratio = ratiosOf(outcome);
  const pairs = outcome.ours.length;
  // one contradicting pair is enough for no verdict
  const isClear = ratio.most < 1 || ratio.least > 1;
  const { plain: isPlainRight, ours: areOursRight } = outcome.verified;
  byId('verdict').textContent =
    isPlainRight && areOursRight
      ? `Both proofs verify. ${isClear ? `webgpu-msm is ${speedText(ratio.ms)}.` : 'These pairs do not tell which is faster.'}`
      : `${isPlainRight ? 'The proof of webgpu-msm' : 'The proof of snarkjs'} does not verify.`;
  byId('verdict').classList.toggle('wrong', !(isPlainRight && areOursRight));
  byId('spread').textContent =
    `webgpu-msm ÷ snarkjs, in ${pairs} pairs: ${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)}, median ${ratio.ms.toFixed(2)}.`;
  byId('where').textContent = whereOf(outcome);
  byId('adapter').textContent = adapterOf(outcome.adapter);
  byId('adapter').classList.toggle('wrong', outcome.adapter.isGpu && outcome.adapter.software);
  byId('caption').textContent =
    `${outcome.constraints.toLocaleString('en')} constraints; medians of ${pairs} interleaved pairs of proofs, with their range`;
  // excluded from the scale, because a first proof may take many times as long as any other
  const others = [...plain, ...ours].filter(({ name }) => name !== 'first proof');
  const longest = Math.max(...others.map(({ spread }) => spread.most));
  byId('stages').replaceChildren(
    ...plain.map(({ name, spread }, i) => {
      const row = element('tr', ['proof', 'first proof'].includes(name) ? 'whole' : '');
      const head = element('th', '', name);
      head.setAttribute('scope', 'row');
      const cell = document.createElement('td');
      cell.append(barOf('plain', spread, longest), barOf('ours', ours[i]?.spread as Spread, longest));
      row.append(head, cell);
      return row;
    }),
  );
  byId('notes').textContent = [
    'The first proof starts snarkjs’s workers; that of webgpu-msm loads the key and compiles. It is not part of the medians.',
    outcome.system === 'groth16'
      ? 'webgpu-msm computes stages of Groth16 at the same time: the time of a stage is that from the end of the one that ended before it.'
      : null,
    outcome.warning,
  ]
    .filter((each) => each !== null)
    .join(' ');
  byId('result').hidden = false;
};

/** The worker, which stays with its keys after a run. */
let worker: Worker | null = null;

const setBusy = (isBusy: boolean): void => {
  prove.disabled = isBusy;
  cancel.disabled = !isBusy;
  byId('progress').hidden = !isBusy;
};

/** @param isOver true if the worker must not be reused */
const end = (isOver: boolean): void => {
  if (isOver) {
    worker?.terminate();
    worker = null;
  }
  setBusy(false);
  prove.focus();
};

const complain = (text: string): void => {
  byId('problem').textContent = text;
  byId('problem').hidden = false;
};

const receive = (message: Message): void => {
  if (message.kind === 'stage') {
    byId('stage').textContent = message.name;
    // without a value the bar shows activity, not progress
    if (message.share === null) bar.removeAttribute('value');
    else bar.value = message.share;
    return;
  }
  end(message.kind === 'problem');
  if (message.kind === 'outcome') show(message.outcome);
  else complain(`The run failed: ${message.text}. Try a smaller circuit or another backend.`);
};

const startWorker = (): Worker => {
  const started = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<Message>) => receive(data));
  started.addEventListener('error', ({ message }) => {
    end(true);
    complain(`The worker did not start: ${message || 'its module could not be loaded'}. Reload the page.`);
  });
  return started;
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const given = new FormData(form);
  const task: Task = {
    system: given.get('system') as System,
    logn: Number(given.get('logn')),
    backend: given.get('backend') as Task['backend'],
  };
  for (const id of ['problem', 'result']) byId(id).hidden = true;
  setBusy(true);
  worker ??= startWorker();
  worker.postMessage(task);
});

cancel.addEventListener('click', () => {
  end(true);
  complain('Cancelled.');
});

/** Applies the choices of the address, such as `?logn=10&backend=cpu`. */
for (const [name, value] of new URLSearchParams(location.search)) {
  const choice = form.elements.namedItem(name);
  if (!(choice instanceof HTMLSelectElement)) continue;
  if ([...choice.options].some((option) => option.value === value)) choice.value = value;
}
