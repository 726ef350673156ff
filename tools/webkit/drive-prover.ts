/** Uses the page examples/prover/ as a person would, from within, and sends what it saw to the server. */

/** Stages at which the page is cancelled. */
const stages = ['Loading the key', 'Computing the witness', 'Proving', 'Verifying'];

/** What the page did. */
interface Seen {
  readonly event: 'prover';
  readonly userAgent: string;
  /** Stages after whose cancelling the page said so. */
  readonly cancelled: readonly string[];
  /** Errors that it showed for an unknown signal, and for text that is not JSON. */
  readonly problems: readonly string[];
  /** Milliseconds of proofs that it verified, and of snarkjs's proof. */
  readonly proofMs: readonly number[];
  readonly snarkjsMs: number;
  /** Characters of the calldata. */
  readonly calldata: number;
  /** Errors that nothing caught. */
  readonly uncaught: readonly string[];
}

const uncaught: string[] = [];
addEventListener('error', ({ message }) => void uncaught.push(message));
addEventListener('unhandledrejection', ({ reason }) => void uncaught.push(String(reason)));

const byId = <Of extends HTMLElement>(id: string): Of => document.getElementById(id) as Of;
const input = byId<HTMLTextAreaElement>('input');

const until = async (is: () => boolean): Promise<void> => {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** Presses a button, and waits for what it begins to end. @returns the error that the page shows */
const press = async (id: string): Promise<string> => {
  byId(id).click();
  await until(() => !byId<HTMLButtonElement>('prove').disabled);
  return byId('problem').hidden ? '' : byId('problem').textContent;
};

const cancelAt = async (stage: string): Promise<boolean> => {
  const observer = new MutationObserver(() => byId('stage').textContent === stage && byId('cancel').click());
  observer.observe(byId('stage'), { childList: true });
  const problem = await press('prove');
  observer.disconnect();
  return problem === 'Cancelled.' && byId('result').hidden === true;
};

/** Proves. @returns the milliseconds that the page shows in a line of the proof */
const timeOf = async (button: string, line: string): Promise<number> => {
  const problem = await press(button);
  if (problem !== '' || byId('result').hidden) throw new Error(`the page did not prove: ${problem}`);
  return Number(document.querySelector(`tr:nth-child(2) .line.${line} .ms`)?.textContent);
};

const drive = async (): Promise<Seen> => {
  await until(() => input.value !== '');
  const cancelled: string[] = [];
  for (const stage of stages) if (await cancelAt(stage)) cancelled.push(stage);
  const values = input.value;
  const problems: string[] = [];
  for (const wrong of ['{ "second": 1 }', '{ first']) {
    input.value = wrong;
    problems.push(await press('prove'));
  }
  input.value = values;
  const proofMs: number[] = [];
  for (let proof = 0; proof < 3; proof++) proofMs.push(await timeOf('prove', 'library'));
  const snarkjsMs = await timeOf('compare', 'snarkjs');
  const calldata = byId<HTMLTextAreaElement>('calldata').value.length;
  const { userAgent } = navigator;
  return { event: 'prover', userAgent, cancelled, problems, proofMs, snarkjsMs, calldata, uncaught };
};

/** Rows that the page sends to its server. */
export type Row = Seen | { readonly event: 'failed'; readonly text: string } | { readonly event: 'end' };

const send = (row: Row): Promise<unknown> => fetch('/rows', { method: 'POST', body: JSON.stringify(row) });

await send(await drive().catch((error: unknown): Row => ({ event: 'failed', text: `${error}; ${uncaught}` })));
await send({ event: 'end' });
