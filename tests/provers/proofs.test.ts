/** Bench of proofs: its verdicts and its table. */
import { describe, expect, it, test } from 'vitest';
import { parseKnobs } from '../../dev/bench/knobs.js';
import { libraryKeys } from '../../dev/bench/modes/proof.js';
import { openProver } from '../../dev/bench/modes/proofs/prover.js';
import { proofsResult } from '../../dev/bench/modes/proofs.js';
import type { RowOf, StampedRow } from '../../dev/bench/rows.js';
import { makeCircuit } from '../../dev/trial-keys/circuit.js';
import { makeKeys, makeKeysBy } from '../../dev/trial-keys/keys.js';
import { ffCurveOf } from '../support/proving.js';

type Proof = RowOf<'proof'>;

const proofOf = (side: Proof['side'], when: Proof['when'], ms: number, megabytes: number | null, logn = 14): Proof => ({
  ...{ event: 'proof', logn, constraints: 2 ** logn - 2, side, when, repetition: 1 },
  ...{ ms, msmMs: 0.9 * ms, peakBytes: megabytes === null ? null : 1e6 * megabytes },
});

/** Proofs of ours that take `ours` seconds where snarkjs alone takes one, the first `first`. */
const proofs = (ours: number, first: number, megabytes: number | null, logn = 14): Proof[] => [
  proofOf('plain', 'first', 1100, megabytes && 100, logn),
  proofOf('plain', 'by itself', 1000, megabytes && 200, logn),
  proofOf('ours', 'first', 1000 * first, megabytes, logn),
  proofOf('ours', 'by itself', 1000 * ours, megabytes, logn),
  ...Array.from({ length: 6 }, (_, i) => [
    proofOf('plain', 'in turns', 1000 + i, 5000, logn),
    proofOf('ours', 'in turns', 1000 * ours + i, 5000, logn),
  ]).flat(),
];

test('keys by the library are those by ffjavascript, byte for byte', async () => {
  const ff = await ffCurveOf('bn254');
  const circuit = makeCircuit(ff.r, 30, 'sparse');
  const secrets = [5n, 7n, 11n, 13n, 17n].map((prime) => ff.r / prime);
  const [byLibrary, byFf] = [
    await makeKeysBy(await libraryKeys(1), circuit, undefined, secrets),
    await makeKeys(ff, circuit, undefined, secrets),
  ];
  expect(Buffer.from(byLibrary).equals(byFf)).toBe(true);
});

describe('proofs of snarkjs with the library, and of the library alone', () => {
  it('are reported size by size', () => {
    const rows = [...proofs(0.5, 2, 300), ...proofs(0.6, 2, null, 12)] as unknown as StampedRow[];
    const text = JSON.stringify(proofsResult(rows));
    for (const told of ['16,382', '4,094', 'snarkjs alone', 'snarkjs with the library']) expect(text).toContain(told);
    expect(proofsResult([])).toEqual([]);
  });

  it('are compared with snarkjs in a sentence', () => {
    const rows = proofs(0.5, 2, 300) as unknown as StampedRow[];
    const text = JSON.stringify(proofsResult(rows));
    expect(text).toContain(
      'A Groth16 proof of 16,382 constraints takes snarkjs alone 1,003 ms; snarkjs with the library 503 ms, 2.00 × faster than snarkjs alone.',
    );
  });

  it('count the opening of a key to the first proof', () => {
    const rows = proofs(0.5, 2, 300).map((row) =>
      row.side === 'ours' && row.when === 'first' ? { ...row, sinceOpeningMs: 2345 } : row,
    );
    expect(JSON.stringify(proofsResult(rows as unknown as StampedRow[]))).toContain('"2,345"');
  });

  it('at once are reported in seconds a proof', () => {
    const proving = [1, 2, 3].flatMap((repetition) =>
      (['plain', 'ours'] as const).map((side) => ({
        ...{ event: 'proving', system: 'plonk', logn: 12, side, concurrency: 5, repetition },
        ...{ ms: 5000, secondsPerProof: side === 'plain' ? 1.25 : 0.5 },
      })),
    );
    const text = JSON.stringify(proofsResult([...proofs(0.5, 2, 300), ...proving] as unknown as StampedRow[]));
    for (const told of ['seconds a proof', '1.250', '0.500', '0.400']) expect(text).toContain(told);
  });

  it('are chosen in a terminal, with 2^14 constraints', () => {
    const parse = (query: string, place: 'page' | 'terminal') => parseKnobs(new URLSearchParams(query), place);
    const { cases, reps, settings } = parse('autorun=proofs&backend=cpu&workers=0', 'terminal');
    expect([cases.map(({ address }) => address.n), reps]).toEqual([[2 ** 14], 5]);
    expect(settings[0]).toMatchObject({ backend: 'cpu', workers: 0 });
    expect(() => parse('autorun=proofs', 'page')).toThrow('it needs snarkjs');
  });

  it('are verified, with and without the library', { tags: 'long' }, async () => {
    await expect(openProver('pallas', 5, () => undefined)).rejects.toThrow('snarkjs does not support pallas');
    const prover = await openProver('bn254', 7, () => undefined);
    await expect(prover.prove('ours')).rejects.toThrow('call accelerate() before proving with the library');
    await prover.prove('plain');
    await prover.accelerate({ backend: 'cpu', measure: false });
    await expect(prover.prove('whole')).rejects.toThrow('call open() before proving with the library alone');
    await prover.open({ backend: 'cpu' });
    expect(await prover.prove('whole', 2)).toMatchObject({ msmMs: null });
    for (const side of ['ours', 'plain', 'ours'] as const) {
      const { ms, msmMs } = await prover.prove(side);
      expect(msmMs).toBeGreaterThan(0);
      expect(ms).toBeGreaterThan(Number(msmMs));
    }
    const { ms, msmMs } = await prover.prove('ours', 3);
    expect([ms > 0, Number(msmMs) > 0]).toEqual([true, true]);
    await prover.close();
  });

  it.each(['plonk', 'fflonk'] as const)(
    'of %s are verified, by the library alone',
    { tags: 'long' },
    async (system) => {
      const prover = await openProver('bn254', 6, () => undefined, system);
      await prover.open({ backend: 'cpu' });
      expect(await prover.prove('whole', 2)).toMatchObject({ msmMs: null });
      await prover.close();
    },
  );
});
