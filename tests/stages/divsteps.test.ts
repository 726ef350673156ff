/**
 * The number of division steps: elements that need the last batch of them, found by a search, are
 * inverted right.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { BATCH, divstepConstants } from '../../src/field/divsteps.js';
import {
  fromMontgomery,
  invert,
  type Modulus,
  mod,
  modulus,
  readWords,
  toMontgomery,
  writeWords,
} from '../../src/field/modulus.js';
import { fieldView } from '../../src/field/wgsl.js';
import { renderShader } from '../../src/shaders/template.js';
import { fieldInverse } from '../reference/field.js';
import checkTemplate from '../support/field-check.wgsl?template';
import { getDevice } from '../support/gpu.js';
import { isProbablyPrime } from '../support/primes.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

/**
 * Elements in Montgomery form, as the shader inverts them, each modulo a prime: those that took the
 * most divsteps of some 10^7 at random. Of these lengths a batch fewer is too few. Of others no
 * such element was found: there the last batch is because nothing smaller is proved.
 */
const hard: readonly [p: bigint, g: bigint][] = [
  [1113469390933793n, 1033332189738167n],
  [2245730139376519n, 2061534877671622n],
  [252491291556656771n, 249451483301122430n],
];

/**
 * Divsteps until f is 1 or −1, and so d or −d the inverse, as the paper has them; with delta from
 * 1/2 on, here doubled (Bernstein and Yang, TCHES 2019/3, and the variant of libsecp256k1).
 */
const divstepsOf = (p: bigint, a: bigint): number => {
  let [delta, f, g] = [1, p, a];
  let steps = 0;
  for (; f !== 1n && f !== -1n; steps++) {
    if (delta > 0 && g % 2n !== 0n) [delta, f, g] = [2 - delta, g, (g - f) / 2n];
    else [delta, g] = [2 + delta, (g + (g % 2n === 0n ? 0n : f)) / 2n];
  }
  return steps;
};

/** The inverse in Montgomery form. */
const inverseOf = (m: Modulus, g: bigint): bigint => toMontgomery(m, invert(fromMontgomery(m, g), m.p));

describe.each(hard)('inversion modulo %i', (p, g) => {
  const { batches } = divstepConstants(modulus(p));

  test('needs the last batch of division steps', () => {
    expect(isProbablyPrime(p)).toBe(true);
    expect(divstepsOf(p, g)).toBeGreaterThan((batches - 1) * BATCH);
    expect(divstepsOf(p, g)).toBeLessThanOrEqual(batches * BATCH);
  });

  test('the CPU reference', () => {
    const m = modulus(p);
    expect(mod(fieldInverse(m, g), p)).toBe(inverseOf(m, g));
  });
});

describe('inversion on the GPU', () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await getDevice();
  });

  test.each(hard)('modulo %i', async (p, g) => {
    const m = modulus(p);
    const expression = 'field_canonical(field_inverse(tight))';
    const code = renderShader(checkTemplate, { ...fieldView(m), operation: 'inverse', expression });
    const words = new Uint32Array(m.words);
    writeWords(words, 0, m.words, g);
    const [, , result] = await runKernel(
      device,
      await compileKernel(device, code, 'inverse'),
      [{ data: new Uint32Array(m.words) }, { data: words }, { data: new Uint32Array(m.words) }],
      [1],
    );
    expect(readWords(result as Uint32Array, 0, m.words)).toBe(inverseOf(m, g));
  });
});
