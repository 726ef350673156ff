/**
 * `proofs`: times proofs of snarkjs without and with the library, and those of the library alone,
 * and measures the memory of the former.
 */
import type { Bench } from '../../bench-setup.js';
import { engineOptions } from '../../engine-under-test.js';
import type { Host } from '../../environment.js';
import { interleave } from '../../interleave.js';
import type { Knobs } from '../../knob.js';
import { knob, parseIntegers, type Values, wordKnob, wordsKnob } from '../../knob.js';
import { weightOf } from '../../measure.js';
import type { RowOf } from '../../rows.js';
import type { Setting } from '../../settings.js';
import { benchMode } from '../mode.js';
import { openProver, provers, type Side, sideNames, systems, witnessKnob } from './prover.js';
import { proofsResult } from './result.js';

const own = {
  system: wordKnob(['Proof system', 'Proof system of snarkjs.'], systems, 'groth16'),
  witness: witnessKnob,
  provers: wordsKnob(
    [
      'Compare with',
      'Provers that snarkjs alone is compared with: snarkjs with the library’s MSMs (accelerated), and the library alone. The first proof of the first one finds nothing compiled.',
    ],
    provers,
    'accelerated,library',
  ),
  concurrency: knob(
    ['Callers', 'Also makes so many proofs at once, by each prover in turns: 1,5,10,20.'],
    '1 to 1000, or a list',
    'no such proofs',
    (text, name) => parseIntegers(name, text, 1, 1000),
    (): readonly number[] => [],
  ),
};

type ProofKnobs = Knobs & Values<typeof own>;

export const proofs = benchMode({
  title: 'Proofs',
  about: 'times proofs by snarkjs, with and without the library, and by the library alone, in turns',
  takes: '1 to 2 min',
  example: 'proofs --logn 14 --system plonk --concurrency 1,5,10,20',
  limits: 'The witness is part of the input: it is not timed.',
  nodeOnly: 'it needs snarkjs and reads the memory of the process; examples/prover/ is a page that proves',
  runsOn: 'either',
  uses: ['curve', 'logn', 'reps'],
  engine: ['backend', 'workers'],
  defaults: { logn: [14] },
  knobs: own,
  run: runProofs,
  show: proofsResult,
});

/** Milliseconds between two samples of memory. */
const LOOK_MS = 5;

/**
 * Runs `work` and returns the peak memory of the process meanwhile; null where memory is unknown.
 */
async function watchPeak<Result>({ usedBytes }: Host, work: () => Promise<Result>) {
  let peak = usedBytes?.() ?? null;
  const sample = (): void => {
    if (usedBytes && peak !== null) peak = Math.max(peak, usedBytes());
  };
  const timer = setInterval(sample, LOOK_MS);
  try {
    const result = await work();
    sample();
    return { result, peak };
  } finally {
    clearInterval(timer);
  }
}

const sidesOf = ({ provers: asked }: Pick<ProofKnobs, 'provers'>): readonly Side[] => [
  'plain',
  ...(asked ?? provers).map((prover): Side => (prover === 'accelerated' ? 'ours' : 'whole')),
];

async function runProofs(bench: Bench, knobs: ProofKnobs): Promise<null> {
  const { run } = bench;
  const sizes = knobs.cases.map(({ address }) => Math.round(Math.log2(address.n)));
  const { concurrency, reps } = knobs;
  const { length } = sidesOf(knobs);
  run.plan(
    sizes.flatMap((logn) => [
      ...Array(length * (2 * reps + 1)).fill(weightOf(2 ** logn)),
      ...concurrency.flatMap((callers) => Array(length * reps).fill(callers * weightOf(2 ** logn))),
    ]),
  );
  for (const logn of sizes) await measure(bench, knobs, logn);
  return null;
}

async function measure(bench: Bench, knobs: ProofKnobs, logn: number): Promise<void> {
  const { run, host } = bench;
  const { concurrency, curve, reps, settings, system, witness } = knobs;
  await run.next(`Making keys for a domain of 2^${logn}`);
  const sides = sidesOf(knobs);
  const prover = await openProver(curve, logn, () => run.tick(), system, witness);
  const prove = async (when: RowOf<'proof'>['when'], side: Side, repetition: number, openMs = 0): Promise<void> => {
    await run.next(`2^${logn}, ${sideNames[side]}: proof ${repetition} (${when})`);
    const { result, peak } = await watchPeak(host, () => prover.prove(side));
    const { constraints } = prover;
    const told = { system, witness, logn, constraints, side, when, repetition };
    const row = {
      event: 'proof',
      ...told,
      ...result,
      peakBytes: peak,
      ...(when === 'first' && { sinceOpeningMs: openMs + result.ms }),
    } as const;
    run.emit(row);
    run.advance(weightOf(2 ** logn));
  };
  try {
    // memory of snarkjs alone is measured before the library is loaded
    await prove('first', 'plain', 1);
    for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', 'plain', repetition);
    const options = engineOptions(bench, { ...(settings[0] as Setting), memoryBudget: null });
    for (const side of sides.slice(1)) {
      // proofs by snarkjs alone would warn that they bypass the library
      const quiet = { ...options, onWarning: () => {} };
      const begun = performance.now();
      await (side === 'ours' ? prover.accelerate(quiet) : prover.open(options));
      await prove('first', side, 1, performance.now() - begun);
      for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', side, repetition);
    }
    await interleave(sides, reps, { take: (side, repetition) => prove('in turns', side, repetition) });
    for (const callers of concurrency) {
      await interleave(sides, reps, {
        async take(side, repetition) {
          await run.next(
            `2^${logn}, ${callers} proofs at once, ${sideNames[side]}: repetition ${repetition} of ${reps}`,
          );
          const { ms } = await prover.prove(side, callers);
          const told = { system, witness, logn, side, concurrency: callers, repetition, ms };
          run.emit({ event: 'proving', ...told, secondsPerProof: ms / 1000 / callers });
          run.advance(callers * weightOf(2 ** logn));
        },
      });
    }
  } finally {
    await prover.close();
  }
}
