/** Default product of each class of adapters. */
import { expect, test } from 'vitest';
import { createCheckedEngine } from '../../dev/checks/engine.js';
import type { MsmEngineOptions } from '../../src/index.js';
import { productFor } from '../../src/msm/plan/device-profiles.js';
import { chips } from '../../tools/isa/chips.js';

const on = (vendor: string, architecture: string, { description = '', hasDot4 = true } = {}) =>
  productFor({ vendor, architecture, description }, hasDot4);

test('chips that are fast at byte products use them if WGSL has dot4U8Packed', () => {
  for (const name of ['navi31', 'navi21', 'vangogh', 'gfx1150', 'adreno730', 'adreno750'] as const) {
    const { maker, architecture } = chips[name];
    expect(on(maker, architecture), name).toBe('dot4');
    expect(on(maker, architecture, { hasDot4: false }), name).toBe('unsigned');
  }
});

test('other chips use unsigned products', () => {
  for (const name of ['navi10', 'vega10', 'polaris10', 'dg2', 'tgl', 'mtl', 'malig610', 'malig52'] as const) {
    const { maker, architecture } = chips[name];
    expect(on(maker, architecture), name).toBe('unsigned');
  }
  const others = [
    // Firefox names no adapter, and some browsers name only the vendor
    ['', ''],
  ] as const;
  for (const [vendor, architecture] of others) expect(on(vendor, architecture)).toBe('unsigned');
});

test('chips that are faster at floats use them, with dot4U8Packed or without', () => {
  for (const name of ['m1', 'adreno630', 'adreno660', 'ampere', 'turing', 'sm_90'] as const) {
    const { maker, architecture } = chips[name];
    for (const hasDot4 of [true, false]) expect(on(maker, architecture, { hasDot4 }), name).toBe('fma');
  }
  // an H200 under Dawn
  expect(on('nvidia', '')).toBe('fma');
});

test('software adapters use products of plain integers', () => {
  expect(on('google', 'swiftshader')).toBe('unsigned');
  // the name in Deno
  expect(on('', '', { description: 'SwiftShader Device (Subzero)' })).toBe('unsigned');
  expect(on('mesa', '', { description: 'llvmpipe (LLVM 19.1.7, 256 bits)' })).toBe('unsigned');
  expect(on('microsoft', 'warp', { description: 'Microsoft Basic Render Driver' })).toBe('unsigned');
});

test.each<[string, Partial<MsmEngineOptions> & { checks?: boolean }, boolean]>([
  ['381 bits', { curve: 'bls12-381' }, true],
  ['377 bits', { curve: 'bls12-377' }, true],
  ['pairs', { group: 'g2' } as never, true],
  ['254 bits', {}, false],
  ['256 bits, a = -3', { curve: 'p256' }, false],
  ['256 bits, a = -3, with checks', { curve: 'p256', checks: true }, true],
  ['the image of an Edwards curve, with checks', { curve: 'ed25519', checks: true }, true],
  ['254 bits, with checks', { checks: true }, false],
])('software adapters accept products of bytes only where these were tried: %s', async (_, options, isRefused) => {
  const on = (description: string, fieldProduct: 'dot4' | 'unsigned') => {
    // the fields of a device that an engine reads when it is made
    const device = { createBuffer: () => null, adapterInfo: { description }, limits: {}, features: new Set() };
    const lost = new Promise<never>(() => undefined);
    const given = { device: { ...device, lost, addEventListener: () => undefined } };
    const tuning = { ...options.tuning, fieldProduct };
    const all = { curve: 'bn254', backend: 'gpu', checks: false, ...options, ...given, tuning };
    return createCheckedEngine(all as unknown as MsmEngineOptions);
  };
  const refused = { code: 'bad-argument', message: expect.stringMatching(/^tuning\.fieldProduct: 'dot4' is for GPUs/) };
  if (isRefused) await expect(on('SwiftShader driver 5.0.0', 'dot4')).rejects.toMatchObject(refused);
  else expect((await on('SwiftShader driver 5.0.0', 'dot4')).adapter.software).toBe(true);
  expect((await on('SwiftShader driver 5.0.0', 'unsigned')).adapter.software).toBe(true);
  expect((await on('NVIDIA H100', 'dot4')).adapter.software).toBe(false);
});
