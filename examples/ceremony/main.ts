/** The page: the file of a ceremony in, the file with one more contribution and its hash out. */
import { contribute, contributeToPowers } from 'webgpu-msm/setup';
import '../prover/style.css';

const byId = <Of extends HTMLElement>(id: string): Of => document.getElementById(id) as Of;
const [file, name, entropy] = ['file', 'name', 'entropy'].map((id) => byId<HTMLInputElement>(id)) as [
  HTMLInputElement,
  HTMLInputElement,
  HTMLInputElement,
];
const download = document.createElement('a');
byId('file-made').append(download);
const hash = byId<HTMLTextAreaElement>('hash');

/** Ends the contribution that is computed; null if none is. */
let running: AbortController | null = null;

const showProgress = ({ phase, done, total }: { phase: string; done: number; total: number }): void => {
  byId('stage').textContent = phase;
  byId<HTMLProgressElement>('bar').value = done / total;
};

/** Adds a contribution, in workers where the page has some. */
const addTo = async (source: File, signal: AbortSignal): Promise<void> => {
  const author = { name: name.value, ...(entropy.value !== '' && { entropy: entropy.value }) };
  // browsers may keep blobs on the disk
  const parts: Blob[] = [];
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({ write: (bytes) => void parts.push(new Blob([bytes])) });
  const options = { signal, sink, onProgress: showProgress };
  const isPowers = source.name.endsWith('.ptau');
  const made = await (isPowers ? contributeToPowers(source, author, options) : contribute(source, author, options));
  URL.revokeObjectURL(download.href);
  download.href = URL.createObjectURL(new Blob(parts));
  download.download = source.name.replace(/(\.\w+)?$/, `-contributed${isPowers ? '.ptau' : '.zkey'}`);
  download.textContent = `Download ${download.download}`;
  hash.value = [...made.hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};

const setBusy = (isBusy: boolean): void => {
  byId<HTMLButtonElement>('contribute').disabled = isBusy;
  byId<HTMLButtonElement>('cancel').disabled = !isBusy;
  byId('progress').hidden = !isBusy;
};

byId('cancel').addEventListener('click', () => running?.abort());
byId('copy').addEventListener('click', () => void navigator.clipboard.writeText(hash.value));
document.querySelector('form')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const problem = byId('problem');
  problem.hidden = true;
  byId('result').hidden = true;
  const ending = new AbortController();
  running = ending;
  setBusy(true);
  try {
    await addTo(file.files?.[0] as File, ending.signal);
    byId('result').hidden = false;
  } catch (error) {
    problem.textContent = ending.signal.aborted ? 'Cancelled.' : (error as Error).message;
    problem.hidden = false;
  }
  // the text is part of a secret
  entropy.value = '';
  running = null;
  setBusy(false);
});
