/** The table of times: a row for each stage, with a bar for each prover. */

import type { ProofTimings } from 'webgpu-msm/circom';

const stages = [
  ['witness', 'witnessMs'],
  ['proof', 'proofMs'],
  ['verification', 'verificationMs'],
  ['in all', 'totalMs'],
] as const satisfies readonly (readonly [name: string, time: keyof ProofTimings])[];

/** @param snarkjs null if it has not been timed */
export const showTimes = (library: ProofTimings, snarkjs: ProofTimings | null): void => {
  const longest = Math.max(library.totalMs, snarkjs?.totalMs ?? 0);
  const rows = stages.map(([name, time]) => {
    const head = elementOf('th', '', name);
    head.setAttribute('scope', 'row');
    const cell = elementOf('td', '');
    cell.append(barOf('library', library[time] ?? 0, longest));
    if (snarkjs !== null) cell.append(barOf('snarkjs', snarkjs[time] ?? 0, longest));
    const row = elementOf('tr', '');
    row.append(head, cell);
    return row;
  });
  document.getElementById('stages')?.replaceChildren(...rows);
};

const barOf = (prover: 'library' | 'snarkjs', ms: number, longest: number): HTMLElement => {
  const bar = elementOf('span', 'bar');
  bar.style.inlineSize = `${(100 * ms) / longest}%`;
  const track = elementOf('span', 'track');
  track.append(bar);
  const line = elementOf('div', `line ${prover}`);
  line.append(track, elementOf('span', 'ms', ms.toFixed(ms < 10 ? 1 : 0)));
  return line;
};

const elementOf = (name: string, className: string, text = ''): HTMLElement => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};
