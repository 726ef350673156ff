/** Keys of PLONK and FFLONK under a limit of main memory: their proofs, what they hold, and damaged pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProvingKeyWith as openFflonk } from '../../src/fflonk/open-proving-key.js';
import { openProvingKeyWith as openPlonk } from '../../src/plonk/open-proving-key.js';
import type { ProvingKeyOptions } from '../../src/plonk.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { countedFile, expectAborts, type FileInParts, floorOf, placeOf } from '../support/limited-keys.js';
import { ffCurveOf, makeStatement, type Statement, sameDraws, withSameRandomness } from '../support/proving.js';

const onCpu = { backend: 'cpu', maxWorkers: 0 } as const;

/** Systems, the section of their powers, and their openers. */
const systems = {
  plonk: { section: 14, open: openPlonk },
  fflonk: { section: 16, open: openFflonk },
} as const;
type System = keyof typeof systems;

const statements = new Map<System, Statement>();
const statementOf = (system: System): Statement => statements.get(system) as Statement;

beforeAll(async () => {
  for (const system of ['plonk', 'fflonk'] as const) {
    statements.set(system, await makeStatement(system, 'bn254', 7, 'dense'));
  }
});
afterAll(async () => (await ffCurveOf('bn254')).terminate());

describe.each(['plonk', 'fflonk'] as const)('a key of %s', (system) => {
  const { section, open } = systems[system];
  const openLimited = (file: Uint8Array | FileInParts, memoryLimit?: number, options: ProvingKeyOptions = onCpu) =>
    open(file, { ...options, memoryLimit }, sameDraws());
  const least = (options: ProvingKeyOptions = onCpu): Promise<number> =>
    floorOf((memoryLimit) => open(statementOf(system).zkey.data, { ...options, memoryLimit }, sameDraws()));

  test('makes the proofs of snarkjs under any limit, and says what stays loaded', async () => {
    const { zkey, circuit, prove, verify } = statementOf(system);
    const expected = await withSameRandomness('bn254', () => prove());
    const floor = await least();
    using whole = await openLimited(zkey.data);
    const { points } = whole.memory;
    const seen = new Set<number>();
    for (const room of [0, 0.3, 0.7]) {
      using key = await openLimited(countedFile(zkey.data), floor + Math.ceil(room * points));
      const proof = await key.prove(circuit.witness, { verifyProof: true });
      expect(proof).toEqual(expected);
      expect(await verify(proof)).toBe(true);
      expect(key.memory.points + key.memory.pagedPoints).toBe(points);
      expect(key.memory.points).toBeLessThanOrEqual(room * points);
      seen.add(key.memory.points);
    }
    expect(seen.size).toBe(3);
    expect(seen).toContain(0);
    using roomy = await openLimited(zkey.data, 2 ** 40);
    expect(await roomy.prove(circuit.witness)).toEqual(expected);
    expect(roomy.memory).toMatchObject({ points, pagedPoints: 0 });
  });

  test('a limit below the floor is refused before a section is read, and the message says the floor', async () => {
    const { zkey } = statementOf(system);
    const file = countedFile(zkey.data);
    const floor = await least();
    await expect(openLimited(file, floor - 1)).rejects.toMatchObject({
      code: 'out-of-memory',
      message: expect.stringContaining(`takes ${floor} bytes`),
    });
    const { from, to } = placeOf(zkey.data, section);
    expect(file.reads.some(([first, end]) => first < to && end > from)).toBe(false);
  });

  test('a sum reads its points once, in pages', async () => {
    const { zkey, circuit } = statementOf(system);
    const file = countedFile(zkey.data);
    using key = await openLimited(file, await least());
    file.reads.length = 0;
    await key.prove(circuit.witness);
    const { from, to } = placeOf(zkey.data, section);
    const pages = file.reads
      .filter(([first]) => first >= from && first < to)
      .map(([first, end]) => [first - from, end - first]);
    const firstPages = pages.filter(([first]) => first === 0);
    // each batch of commitments walks the powers
    expect(firstPages.length).toBe(4);
    expect(Math.max(...pages.map(([, bytes]) => bytes as number))).toBe((64 * key.domainSize) / 16);
  });

  test('a damaged page is refused by name, and the key stays usable', async () => {
    const { zkey, circuit, verify } = statementOf(system);
    const bytes = zkey.data.slice();
    using key = await openLimited(countedFile(bytes), await least());
    const at = placeOf(bytes, section).from + 64 * 10 + 3;
    bytes[at] = (bytes[at] as number) ^ 1;
    await expect(key.prove(circuit.witness)).rejects.toMatchObject({
      code: expect.stringMatching(/not-on-curve|bad-argument/),
      message: expect.stringContaining(`zkey: section ${section} (ptau) from point 8 on: points[2]`),
    });
    bytes[at] = (bytes[at] as number) ^ 1;
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });

  test('proofs end by an abort in any round and by destroy, and others wait', async () => {
    const { zkey, circuit, verify } = statementOf(system);
    const key = await openLimited(countedFile(zkey.data), await least());
    await expectAborts(key, circuit.witness, 5);
    for (const proof of await Promise.all([key.prove(circuit.witness), key.prove(circuit.witness)])) {
      expect(await verify(proof)).toBe(true);
    }
    const onProgress = ({ done }: { readonly done: number }) => void (done === 2 && key.destroy());
    await expect(key.prove(circuit.witness, { onProgress })).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('an unsatisfied witness is refused with its constraint', async () => {
    const { zkey, circuit } = statementOf(system);
    using key = await openLimited(zkey.data, await least());
    using whole = await openLimited(zkey.data);
    const wrong = circuit.witness.slice();
    wrong[wrong.length - 32] = (wrong[wrong.length - 32] as number) ^ 1;
    const expected = await whole.prove(wrong).catch((error: Error) => error);
    expect((expected as Error).message).toMatch(/does not satisfy constraint \d+/);
    await expect(key.prove(wrong)).rejects.toThrow((expected as Error).message);
  });

  test('a GPU adds up pages', { tags: 'long' }, async () => {
    const { zkey, circuit } = statementOf(system);
    const { gpu } = await leaseGpu();
    const tuning = { cpuBelow: 0, walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
    const options = { backend: 'gpu', gpu, tuning, maxWorkers: 0 } as const;
    using key = await openLimited(countedFile(zkey.data), await least(options), options);
    using whole = await openLimited(zkey.data);
    expect(await key.prove(circuit.witness)).toEqual(await whole.prove(circuit.witness));
    expect(key.memory.points).toBe(0);
  });

  test('workers compute vectors and add up pages', { tags: 'long' }, async () => {
    const { zkey, circuit, verify } = statementOf(system);
    const options = { backend: 'cpu', maxWorkers: 1 } as const;
    using key = await openLimited(countedFile(zkey.data), await least(options), options);
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });
});
