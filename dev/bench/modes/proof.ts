/**
 * `proof`: times Groth16 proofs by the library alone, which noble verifies. Keys are made here, so that a
 * page needs no snarkjs.
 */

import { median } from '../../../src/calibrate/statistics.js';
import { openCurve } from '../../../src/curves/open-curve.js';
import { scalarFieldOf } from '../../../src/curves/scalar-field.js';
import { power } from '../../../src/field/powers.js';
import { openProvingKey } from '../../../src/groth16.js';
import { verificationKeyIn, verifiesByNoble } from '../../oracle/groth16-verifier.js';
import { bn254G1, groupOrder, Random } from '../../oracle/known-bases.js';
import { makeCircuit } from '../../trial-keys/circuit.js';
import { type KeyArithmetic, makeKeysBy } from '../../trial-keys/keys.js';
import type { Bench } from '../bench-setup.js';
import { formatMs } from '../format.js';
import type { Knobs, Values } from '../knob.js';
import { multiples } from '../known-powers.js';
import { engineOptions, weightOf } from '../measure.js';
import { headline, type Parts, tableOf } from '../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../rows.js';
import type { Setting } from '../settings.js';
import { grouped } from '../summary.js';
import { benchMode } from './mode.js';
import { witnessKnob } from './proofs/prover.js';

/** Returns the arithmetic of keys on BN254. @param seed secrets of the key, which proves nothing to anybody */
export const libraryKeys = async (seed: number): Promise<KeyArithmetic> => {
  const groups = { g1: await openCurve('bn254', 'g1'), g2: await openCurve('bn254', 'g2') };
  const { order: r, p: q } = groups.g1;
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order: r });
  const random = new Random(seed);
  return {
    ...{ q, r, fieldBytes: 32 },
    rootOf: (log) => power(rootOfUnity as bigint, 2n ** BigInt(twoAdicity - log), r),
    random: () => random.belowBig(r),
    multiples: (group, scalars, onMultiples) => multiples(groups[group], scalars, onMultiples),
  };
};

declare module '../rows.js' {
  interface Rows {
    /** A proof by the library alone, which noble verified. */
    readonly 'own-proof': {
      /** Logarithm of the size of the domain. */
      readonly logn: number;
      readonly constraints: number;
      readonly keyBytes: number;
      /** 0 for the first proof, which compiles and starts workers. */
      readonly repetition: number;
      /** Milliseconds that the opening of the key took, before the first proof. */
      readonly openMs: number;
      readonly ms: number;
    };
  }
}

const own = { witness: witnessKnob };

type ProofKnobs = Knobs & Values<typeof own>;

export const proof = benchMode({
  title: 'Proof',
  about:
    'times Groth16 proofs on BN254 by the library alone, the first one with the opening of its key: how fast is a proof?',
  takes: '5 to 15 s',
  example: 'proof --logn 12,14 --backend cpu',
  limits: 'The making of the key is not timed. The witness is part of the input.',
  runsOn: 'either',
  uses: ['logn', 'reps', 'seed'],
  engine: ['backend', 'workers'],
  defaults: { logn: [12] },
  knobs: own,
  problemOf: (query) => {
    const least = Math.min(...(query.get('logn') ?? '12').split(',').map((text) => Number.parseInt(text, 10)));
    return least < LEAST_LOGN ? `logn: "${least}" leaves no room for a circuit; use ${LEAST_LOGN} or more` : null;
  },
  run: runProof,
  show,
});

/** The domain also has rows for the 1 and the public signal. */
const LEAST_LOGN = 3;

async function runProof(bench: Bench, knobs: ProofKnobs): Promise<null> {
  const { run } = bench;
  const { cases, reps, witness, seed, settings } = knobs;
  const sizes = cases.map(({ address }) => Math.round(Math.log2(address.n)));
  run.plan(sizes.flatMap((logn) => Array(reps + 1).fill(weightOf(2 ** logn))));
  for (const logn of sizes) {
    const circuit = makeCircuit(groupOrder(bn254G1), 2 ** logn - 2, witness, seed);
    await run.next(`Making a key for a domain of 2^${logn}`);
    const zkey = await makeKeysBy(await libraryKeys(seed), circuit, async (share) => {
      await run.next(`Making a key for a domain of 2^${logn}, ${Math.floor(100 * share)} %`);
    });
    const expected = verificationKeyIn(zkey);
    const options = engineOptions(bench, { ...(settings[0] as Setting), memoryBudget: null });
    await run.next(`2^${logn}: opening the key`);
    const begun = performance.now();
    const key = await openProvingKey(zkey, options);
    const openMs = performance.now() - begun;
    try {
      for (let repetition = 0; repetition <= reps; repetition++) {
        await run.next(`2^${logn}: proof ${repetition + 1} of ${reps + 1}`);
        const from = performance.now();
        const { proof: made, publicSignals } = await key.prove(circuit.witness, { signal: run.signal });
        const ms = performance.now() - from;
        const isRight =
          publicSignals.join() === circuit.publicSignals.join() && verifiesByNoble(expected, publicSignals, made);
        if (!isRight) throw new Error(`the proof of 2^${logn} does not verify by noble`);
        const told = { logn, constraints: circuit.constraints.length, keyBytes: zkey.length, repetition };
        run.emit({ event: 'own-proof', ...told, openMs, ms });
        run.advance(weightOf(2 ** logn), repetition === 0 ? 'warm-up' : 'timed');
      }
    } finally {
      key.destroy();
    }
  }
  return null;
}

/** Times of one size; null until a later proof is made. */
function timesOf(rows: readonly RowOf<'own-proof'>[]) {
  const [first] = rows;
  const later = rows.filter(({ repetition }) => repetition > 0).map(({ ms }) => ms);
  const laterMs = median(later);
  return first === undefined || laterMs === null
    ? null
    : { ...first, firstMs: first.openMs + first.ms, laterMs, low: Math.min(...later), high: Math.max(...later) };
}

function show(rows: readonly StampedRow[]): Parts {
  const sizes = grouped(rowsOf(rows, 'own-proof'), ({ logn }) => String(logn))
    .map(timesOf)
    .filter((times) => times !== null);
  const largest = sizes.at(-1);
  if (largest === undefined) return [];
  const { constraints, laterMs, firstMs } = largest;
  return [
    headline(
      `A Groth16 proof of ${constraints.toLocaleString('en')} constraints takes ${formatMs(laterMs)} ms; the first one, with the opening of its key, ${formatMs(firstMs)} ms.`,
    ),
    tableOf('Groth16 proofs on BN254 by the library alone; noble verified each', sizes, [
      ['Constraints', (times) => times.constraints.toLocaleString('en')],
      ['Key, MB', ({ keyBytes }) => (keyBytes / 1e6).toFixed(1)],
      ['Opening the key, ms', ({ openMs }) => formatMs(openMs)],
      ['First proof, ms', ({ ms }) => formatMs(ms)],
      ['Later proofs, ms', (times) => ({ text: formatMs(times.laterMs), as: 'strong' })],
      ['Range, ms', ({ low, high }) => `${formatMs(low)} – ${formatMs(high)}`],
    ]),
  ];
}
