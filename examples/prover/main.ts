/** The page: files and an input in, a proof out. Workers of the package compute. */
import {
  type Circuit,
  type CircuitInput,
  type CircuitProgress,
  type CircuitProof,
  type CircuitResult,
  openCircuit,
  type ProofTimings,
} from 'webgpu-msm/circom';
import { showTimes } from './times.js';

const byId = <Of extends HTMLElement>(id: string): Of => document.getElementById(id) as Of;
const fields = {
  wasm: byId<HTMLInputElement>('wasm'),
  zkey: byId<HTMLInputElement>('zkey'),
  json: byId<HTMLInputElement>('json'),
};
const input = byId<HTMLTextAreaElement>('input');
const copyButtons = document.querySelectorAll<HTMLButtonElement>('[data-copies]');
const bar = byId<HTMLProgressElement>('bar');

/** The circuit of the chosen files; null until the first proof. */
let circuit: Circuit | null = null;
/** Duration of opening the circuit, and proofs since. */
let opened = { openMs: 0, proofs: 0 };
/** The last proof, and its input. */
let last: { readonly values: CircuitInput; readonly result: CircuitResult } | null = null;
/** Ends the work that runs; null if none does. */
let running: AbortController | null = null;

/** Runs work that the button Cancel ends, and shows its error. */
const run = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const ending = new AbortController();
  running = ending;
  setBusy(true);
  try {
    await work(ending.signal);
  } catch (error) {
    complain(ending.signal.aborted ? 'Cancelled.' : error instanceof Error ? error.message : String(error));
  }
  running = null;
  setBusy(false);
};

const prove = async (signal: AbortSignal): Promise<void> => {
  byId('result').hidden = true;
  const values = readInput();
  if (circuit === null) {
    const begun = performance.now();
    const [wasm, zkey] = [fields.wasm.files?.[0] as File, fields.zkey.files?.[0] as File];
    circuit = await openCircuit({ wasm, zkey }, { signal, onProgress: showProgress, onWarning: warn });
    opened = { openMs: performance.now() - begun, proofs: 0 };
  }
  const result = await circuit.prove(values, { signal, onProgress: showProgress, verifyProof: true });
  opened.proofs++;
  last = { values, result };
  await showResult(result);
};

const readInput = (): CircuitInput => {
  try {
    return JSON.parse(input.value);
  } catch (error) {
    throw new Error(`The input is not JSON: ${(error as Error).message}`);
  }
};

const stageNames: Readonly<Record<CircuitProgress['stage'], string>> = {
  download: 'Reading the files',
  key: 'Loading the key',
  witness: 'Computing the witness',
  proof: 'Proving',
  verification: 'Verifying',
};

const showProgress = ({ stage, done, total, remainingMs }: CircuitProgress): void => {
  byId('stage').textContent = stageNames[stage];
  byId('remaining').textContent = remainingMs === null ? '' : `${(remainingMs / 1000).toFixed(1)} s left`;
  // without a value the bar shows activity, not progress
  if (total === null || done === 0) bar.removeAttribute('value');
  else bar.value = done / total;
};

const showResult = async ({ proof, publicSignals, timings }: CircuitResult): Promise<void> => {
  showTimes(timings, null);
  byId('caption').textContent =
    `${proof.protocol}, domain of ${circuit?.key?.domainSize}: proof ${opened.proofs} since the key was loaded, which took ${Math.round(opened.openMs)} ms`;
  byId<HTMLTextAreaElement>('proof').value = JSON.stringify(proof, null, 1);
  byId<HTMLTextAreaElement>('signals').value = JSON.stringify(publicSignals, null, 1);
  const calldata = byId<HTMLTextAreaElement>('calldata');
  // a proof on BLS12-381 has none
  calldata.value = proof.curve === 'bn128' ? await calldataOf(proof, publicSignals) : '';
  (calldata.parentElement as HTMLElement).hidden = calldata.value === '';
  for (const button of copyButtons) button.textContent = 'Copy';
  byId('result').hidden = false;
};

/** Returns the arguments of the verifier contract that snarkjs writes. */
const calldataOf = async (proof: CircuitProof, publicSignals: readonly string[]): Promise<string> => {
  switch (proof.protocol) {
    case 'groth16':
      return (await import('webgpu-msm/groth16')).exportSolidityCallData(proof, publicSignals);
    case 'plonk':
      return (await import('webgpu-msm/plonk')).exportSolidityCallData(proof, publicSignals);
    case 'fflonk':
      return (await import('webgpu-msm/fflonk')).exportSolidityCallData(proof, publicSignals);
  }
};

/** Proves the same by snarkjs, in a worker that loads it, and shows the times beside the library's. */
const compare = async (signal: AbortSignal): Promise<void> => {
  if (last === null) return;
  const { values, result } = last;
  byId('stage').textContent = 'Proving by snarkjs';
  byId('remaining').textContent = '';
  bar.removeAttribute('value');
  const worker = new Worker(new URL('./snarkjs-worker.ts', import.meta.url), { type: 'module' });
  try {
    const times = await new Promise<ProofTimings>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ProofTimings | string>) =>
        typeof data === 'string' ? reject(new Error(`snarkjs: ${data}`)) : resolve(data);
      worker.onerror = () => reject(new Error('The worker of snarkjs did not start.'));
      signal.onabort = reject;
      const [wasm, zkey] = [fields.wasm.files?.[0], fields.zkey.files?.[0]];
      worker.postMessage({ wasm, zkey, input: values, protocol: result.proof.protocol });
    });
    showTimes(result.timings, times);
  } finally {
    worker.terminate();
  }
};

const setBusy = (isBusy: boolean): void => {
  for (const element of document.querySelectorAll<HTMLFieldSetElement>('fieldset, #prove, #compare')) {
    element.disabled = isBusy;
  }
  byId<HTMLButtonElement>('cancel').disabled = !isBusy;
  byId('progress').hidden = !isBusy;
  if (isBusy) byId('problem').hidden = true;
};

const complain = (text: string): void => {
  byId('problem').textContent = text;
  byId('problem').hidden = false;
};

const warn = (text: string): void => {
  byId('warning').textContent = text;
};

/** Puts a file into the field for its kind. */
const take = (file: File): void => {
  const kind = file.name.split('.').at(-1) as keyof typeof fields;
  if (!(kind in fields)) {
    complain(`${file.name} is neither .wasm nor .zkey nor .json.`);
    return;
  }
  const transfer = new DataTransfer();
  transfer.items.add(file);
  fields[kind].files = transfer.files;
  fields[kind].dispatchEvent(new Event('change'));
};

const forget = (): void => {
  circuit?.destroy();
  circuit = null;
  byId('result').hidden = true;
  byId('warning').textContent = '';
};

fields.wasm.addEventListener('change', forget);
fields.zkey.addEventListener('change', forget);
fields.json.addEventListener('change', async () => {
  input.value = (await fields.json.files?.[0]?.text()) ?? '';
});
byId('prove')
  .closest('form')
  ?.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(prove);
  });
byId('cancel').addEventListener('click', () => running?.abort());
byId('compare').addEventListener('click', () => void run(compare));
for (const button of copyButtons) {
  button.addEventListener('click', async () => {
    const text = byId<HTMLTextAreaElement>(button.dataset.copies as string);
    // selected for pages without https, which have no clipboard
    text.select();
    await navigator.clipboard?.writeText(text.value);
    button.textContent = 'Copied';
  });
}
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  if (running === null) for (const file of event.dataTransfer?.files ?? []) take(file);
});

/** Takes the files of the address, such as `?file=circuit.wasm&file=circuit.zkey&file=input.json`. */
for (const url of new URLSearchParams(location.search).getAll('file')) {
  const response = await fetch(url);
  if (response.ok) take(new File([await response.blob()], url));
  else complain(`${url}: ${response.status} ${response.statusText}`);
}
