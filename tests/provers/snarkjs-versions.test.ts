/**
 * Versions of snarkjs that do not export their curves, as npm installs them: the oldest and the
 * newest of them that the page on snarkjs names.
 *
 * @module-tag long
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Accelerated, accelerate, type Snarkjs } from '../../src/snarkjs.js';
import { ffCurveOf, makeStatement, memoryFile, type snarkjs } from '../support/proving.js';
import { publishedPackage } from '../support/published-packages.js';

let restore: Accelerated | undefined;
afterEach(() => restore?.());
afterAll(async () => (await ffCurveOf('bn254')).terminate());

describe.each(['0.4.22', '0.7.4'])('snarkjs %s', (version) => {
  test('proves whole Groth16 proofs and has its MSMs computed, and verifies both', async () => {
    const folder = await publishedPackage(`snarkjs@${version}`);
    const old = createRequire(join(folder, 'at.js'))('snarkjs') as typeof snarkjs;
    expect('curves' in old).toBe(false);
    const { zkey, circuit } = await makeStatement('groth16', 'bn254', 7, 'dense');
    const key = await old.zKey.exportVerificationKey(zkey);
    const { prove, verify } = old.groth16;
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    restore = await accelerate({ ...old } as unknown as Snarkjs, {
      backend: 'cpu',
      measure: false,
      leastPoints: 8,
      onWarning,
    });
    const whole = await restore.groth16.prove(zkey.data, circuit.witness);
    expect(await verify(key, whole.publicSignals, whole.proof)).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0, calls: 0 });
    expect(warnings).toEqual([]);
    const sums = await prove(zkey, memoryFile(circuit.witness));
    expect(await verify(key, sums.publicSignals, sums.proof)).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, calls: 5, fallbacks: 0 });
    expect(warnings).toEqual([expect.stringContaining('only the MSMs')]);
  });
});
