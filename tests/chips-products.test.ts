/** Which product a chip gets where nobody said. */
import { expect, test } from 'vitest';
import { chips } from '../dev/isa/chips.js';
import { productFor } from '../src/plan/chips.js';

const on = (vendor: string, architecture: string, { description = '', hasDot4 = true } = {}) =>
  productFor({ vendor, architecture, description }, hasDot4);

test('dot products where the chip is fast at them, and shaders may say them', () => {
  for (const name of [
    'navi31',
    'navi21',
    'vangogh',
    'gfx1150',
    'ampere',
    'turing',
    'adreno730',
    'adreno750',
  ] as const) {
    const { maker, architecture } = chips[name];
    expect(on(maker, architecture), name).toBe('dot4');
    expect(on(maker, architecture, { hasDot4: false }), name).toBe('unsigned');
  }
});

test('unsigned ones elsewhere', () => {
  for (const name of [
    'navi10',
    'vega10',
    'polaris10',
    'dg2',
    'tgl',
    'mtl',
    'adreno630',
    'malig610',
    'malig52',
  ] as const) {
    const { maker, architecture } = chips[name];
    expect(on(maker, architecture), name).toBe('unsigned');
  }
  const others = [
    ['nvidia', 'maxwell'],
    ['apple', 'metal-3'],
    // Firefox tells nothing, and some say no more than the maker
    ['', ''],
    ['nvidia', ''],
  ] as const;
  for (const [vendor, architecture] of others) expect(on(vendor, architecture)).toBe('unsigned');
});

test('in software signed ones where shifts are slow, else unsigned ones', () => {
  expect(on('google', 'swiftshader')).toBe('signed');
  // as Deno has it
  expect(on('', '', { description: 'SwiftShader Device (Subzero)' })).toBe('signed');
  expect(on('mesa', '', { description: 'llvmpipe (LLVM 19.1.7, 256 bits)' })).toBe('unsigned');
  expect(on('microsoft', 'warp', { description: 'Microsoft Basic Render Driver' })).toBe('unsigned');
});
