/** Advice to use a newer Node: who gets it, and that it comes once. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

const advice = expect.stringContaining('Use Node 24, or 22.');
const large = { domainSize: 2 ** 12 };
const onCpu = { backends: ['cpu'] } as const;

let warnOfOldNode: typeof import('../../src/proofs/circuit-prover.js').warnOfOldNode;
const warnings: string[] = [];
const onWarning = (message: string) => void warnings.push(message);
/** Bytes that were validated, in any engine of JavaScript. */
let asked: BufferSource | null = null;

beforeEach(async () => {
  warnings.length = 0;
  vi.resetModules();
  ({ warnOfOldNode } = await import('../../src/proofs/circuit-prover.js'));
  vi.spyOn(WebAssembly, 'validate').mockImplementation((bytes) => {
    asked = bytes;
    return false;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const inRuntime = (versions: object): void => void vi.stubGlobal('process', { versions });

test('comes once, in a Node whose WebAssembly has no relaxed SIMD', () => {
  inRuntime({ node: '20.20.2' });
  for (let i = 0; i < 2; i++) warnOfOldNode(large, onCpu, { onWarning });
  expect(warnings).toEqual([advice]);
  expect(warnings[0]).toContain('Node 20 ');
});

test('comes to the console without `onWarning`, and may fail without an effect', () => {
  inRuntime({ node: '20.20.2' });
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {
    throw new Error('no console');
  });
  warnOfOldNode(large, onCpu, {});
  expect(warn.mock.calls).toEqual([[advice]]);
});

test('asks for the instruction that newer versions have', () => {
  inRuntime({ node: '20.20.2' });
  warnOfOldNode(large, onCpu, { onWarning });
  vi.restoreAllMocks();
  // v8: relaxed SIMD is on from version 11.4, which Node has from 21 on
  const has = Number.parseInt(process.versions.node ?? '24', 10) >= 21;
  expect(WebAssembly.validate(asked as BufferSource)).toBe(has);
});

describe('does not come', () => {
  test.each([
    ['for a small circuit', { domainSize: 2 ** 11 }, onCpu, { node: '20.20.2' }],
    ['where a GPU proves', large, { backends: ['gpu', 'cpu'] }, { node: '20.20.2' }],
    ['in Bun', large, onCpu, { node: '24.3.0', bun: '1.4.5' }],
    ['in Deno', large, onCpu, { node: '24.3.0', deno: '2.9.5' }],
  ] as const)('%s', (_, circuit, engine, versions) => {
    inRuntime(versions);
    warnOfOldNode(circuit, engine, { onWarning });
    expect(warnings).toEqual([]);
  });

  test('without WebAssembly', () => {
    inRuntime({ node: '20.20.2' });
    vi.stubGlobal('WebAssembly', undefined);
    warnOfOldNode(large, onCpu, { onWarning });
    expect(warnings).toEqual([]);
  });

  test('in a page', () => {
    vi.stubGlobal('process', undefined);
    warnOfOldNode(large, onCpu, { onWarning });
    expect(warnings).toEqual([]);
  });

  test('where WebAssembly has the instruction', () => {
    inRuntime({ node: '24.21.0' });
    vi.mocked(WebAssembly.validate).mockReturnValue(true);
    warnOfOldNode(large, onCpu, { onWarning });
    expect(warnings).toEqual([]);
  });
});
