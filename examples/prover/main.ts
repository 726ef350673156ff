/** The page: settings, progress, and what came of it. All work is done by a worker, which is terminated where somebody cancels. */
import { type Message, msmNames, type Outcome, type ProofTimes, type Task } from './messages.js';

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

/** Rows of the table: what each stage takes in the middle of the proofs. */
const rowsOf = (proofs: readonly ProofTimes[]): readonly { name: string; ms: number }[] => {
  const msmsOf = ({ msms }: ProofTimes): number => msmNames.reduce((sum, name) => sum + msms[name], 0);
  return [
    ...msmNames.map((name) => ({ name: `MSM ${name}`, ms: median(proofs.map(({ msms }) => msms[name])) })),
    { name: 'all else', ms: median(proofs.map((proof) => proof.total - msmsOf(proof))) },
    { name: 'proof', ms: median(proofs.map(({ total }) => total)) },
  ];
};

const element = (name: string, className: string, text = ''): HTMLElement => {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
};

/** A bar with its number. */
const barOf = (kind: 'plain' | 'ours', ms: number, longest: number): HTMLElement => {
  const line = element('div', `line ${kind}`);
  const drawn = element('span', 'drawn');
  drawn.style.inlineSize = `${(100 * ms) / longest}%`;
  const track = element('span', 'track');
  track.append(drawn);
  line.append(track, element('span', 'ms', formatted(ms)));
  return line;
};

/** What computed the MSMs. */
const whereOf = ({ on }: Outcome): string => {
  const parts = [
    [on.gpu, 'the GPU'],
    [on.cpu, 'the CPU'],
    [on.both, 'both at once'],
  ] as const;
  const computed = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} on ${what}`]));
  return `MSMs with webgpu-msm: ${computed.join(', ') || 'none'}.`;
};

const adapterOf = ({ name, software, isGpu }: Outcome['adapter']): string => {
  if (!isGpu) return 'There is no WebGPU here, or it was not asked for.';
  return software
    ? `Adapter: ${name}. It is software: a CPU that plays GPU, and no measure of what a GPU does.`
    : `Adapter: ${name}.`;
};

const show = (outcome: Outcome): void => {
  const [plain, ours] = [rowsOf(outcome.plain), rowsOf(outcome.ours)];
  const [plainMs, oursMs] = [plain.at(-1)?.ms as number, ours.at(-1)?.ms as number];
  const ratio = oursMs / plainMs;
  const { plain: isPlainRight, ours: areOursRight } = outcome.verified;
  byId('verdict').textContent =
    isPlainRight && areOursRight
      ? `Both proofs verify. With webgpu-msm a proof takes ${ratio.toFixed(2)} of the time.`
      : `${isPlainRight ? 'The proof with webgpu-msm' : 'The proof of snarkjs alone'} does not verify.`;
  byId('verdict').classList.toggle('wrong', !(isPlainRight && areOursRight));
  byId('where').textContent = whereOf(outcome);
  byId('adapter').textContent = adapterOf(outcome.adapter);
  byId('adapter').classList.toggle('wrong', outcome.adapter.isGpu && outcome.adapter.software);
  byId('caption').textContent =
    `${outcome.constraints.toLocaleString('en')} constraints, medians of ${outcome.ours.length} proofs of each kind`;
  const longest = Math.max(plainMs, oursMs);
  byId('stages').replaceChildren(
    ...plain.map(({ name, ms }, i) => {
      const row = document.createElement('tr');
      const head = element('th', '', name);
      head.setAttribute('scope', 'row');
      const cell = document.createElement('td');
      cell.append(barOf('plain', ms, longest), barOf('ours', ours[i]?.ms as number, longest));
      row.append(head, cell);
      return row;
    }),
  );
  byId('notes').textContent = [
    `The first proof with webgpu-msm, which loads the points and compiles, took ${formatted(outcome.first.total)} ms.`,
    outcome.warning,
  ]
    .filter((each) => each !== null)
    .join(' ');
  byId('result').hidden = false;
};

/** Stays when it is done, with its keys. */
let worker: Worker | null = null;

const setBusy = (isBusy: boolean): void => {
  prove.disabled = isBusy;
  cancel.disabled = !isBusy;
  byId('progress').hidden = !isBusy;
};

/** @param isOver whether the worker is of no more use */
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
    // without a value it moves to and fro
    if (message.share === null) bar.removeAttribute('value');
    else bar.value = message.share;
    return;
  }
  end(message.kind === 'problem');
  if (message.kind === 'outcome') show(message.outcome);
  else complain(`It ended with an error: ${message.text}. Try a smaller circuit or another backend.`);
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
  const task: Task = { logn: Number(given.get('logn')), backend: given.get('backend') as Task['backend'] };
  for (const id of ['problem', 'result']) byId(id).hidden = true;
  setBusy(true);
  worker ??= startWorker();
  worker.postMessage(task);
});

cancel.addEventListener('click', () => {
  end(true);
  complain('Cancelled.');
});

/** `?logn=10&backend=cpu` chooses, where there is such a choice. */
for (const [name, value] of new URLSearchParams(location.search)) {
  const choice = form.elements.namedItem(name);
  if (!(choice instanceof HTMLSelectElement)) continue;
  if ([...choice.options].some((option) => option.value === value)) choice.value = value;
}
