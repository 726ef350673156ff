/** `proofs`: Groth16 proofs of snarkjs, alone and with the library: what does the one line gain, and what does it take? */

import { openBenchPlace } from '../../bench-place.js';
import type { Host } from '../../environment.js';
import { inTurns } from '../../in-turns.js';
import type { Knobs } from '../../knobs.js';
import { weightOf } from '../../measure.js';
import type { RowOf } from '../../rows.js';
import type { Run } from '../../run.js';
import type { BenchMode } from '../mode.js';
import { type Finding, failureOf } from '../targets/findings.js';
import { openProver, type Side, sides } from './prover.js';
import { judgeProofs, proofsResult } from './result.js';

export const proofs: BenchMode = { run: runProofs, show: proofsResult };

/** Milliseconds between two looks at memory. */
const LOOK_MS = 5;

/** The most memory of the process while `work` runs; null where nobody says. */
async function watchPeak<Result>({ usedBytes }: Host, work: () => Promise<Result>) {
  let peak = usedBytes?.() ?? null;
  const look = (): void => {
    if (usedBytes && peak !== null) peak = Math.max(peak, usedBytes());
  };
  const timer = setInterval(look, LOOK_MS);
  try {
    const result = await work();
    look();
    return { result, peak };
  } finally {
    clearInterval(timer);
  }
}

async function runProofs(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const sizes = knobs.cases.map(({ address }) => Math.round(Math.log2(address.n)));
  run.plan(sizes.flatMap((logn) => Array(4 * knobs.reps + 2).fill(weightOf(2 ** logn))));
  const bench = await openBenchPlace(run, host, knobs);
  try {
    const found: Finding[] = [];
    for (const logn of sizes) {
      const rows = await measure(run, host, knobs, bench.device, logn);
      const findings = judgeProofs(rows);
      found.push(...findings);
      run.tell({ event: 'target', name: `2^${logn}`, findings, measured: null }, 'progress', 'results');
    }
    await run.end(failureOf(found, knobs.strict));
  } finally {
    bench.destroy();
  }
}

async function measure(
  run: Run,
  host: Host,
  { curve, reps, settings }: Knobs,
  device: GPUDevice | null,
  logn: number,
): Promise<readonly RowOf<'proof'>[]> {
  await run.next(`Making keys for 2^${logn} constraints`);
  const prover = await openProver(curve, logn, () => run.tick());
  const rows: RowOf<'proof'>[] = [];
  const prove = async (when: RowOf<'proof'>['when'], side: Side, repetition: number): Promise<void> => {
    await run.next(
      `2^${logn}, ${side === 'plain' ? 'snarkjs alone' : 'with the library'}: proof ${repetition} (${when})`,
    );
    const { result, peak } = await watchPeak(host, () => prover.prove(side));
    const { constraints } = prover;
    const row = { event: 'proof', logn, constraints, side, when, repetition, ...result, peakBytes: peak } as const;
    rows.push(row);
    run.tell(row, 'progress', 'results');
    run.advance(weightOf(2 ** logn));
  };
  try {
    // what memory snarkjs takes is seen before there is anything of the library
    await prove('first', 'plain', 1);
    for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', 'plain', repetition);
    const [setting] = settings;
    const { backend = null, workers = null } = setting ?? {};
    await prover.accelerate({
      ...(device && { device }),
      ...(backend && { backend }),
      ...(workers !== null && { maxWorkers: workers }),
    });
    await prove('first', 'ours', 1);
    for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', 'ours', repetition);
    await inTurns(sides, reps, { take: (side, repetition) => prove('in turns', side, repetition) });
    return rows;
  } finally {
    await prover.close();
  }
}
