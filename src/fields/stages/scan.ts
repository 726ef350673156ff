/** Scan: products of the elements before each, and Horner's rule, in parts of a vector. */
import template from '../../../wgsl/fields/scan.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Kernel } from '../../shaders/kernel.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';

const documented = {
  length: 'elements of the vector',
  part: 'elements of a part',
  carries: 'elements of `carries`; 0: every part begins afresh',
  horner: "1: Horner's rule downwards; 0: products upwards",
  reduces: '1: only the last value of each part is written',
};

const ScanConfig = /* @__PURE__ */ factorConfig('ScanConfig', documented);

/** Elements of a part: a thread has little to do, and few levels are left. */
export const SCAN_PART = 16;

/** @param x the point of Horner's rule; null: products */
export const packScanConfig = (
  field: Modulus,
  values: { readonly length: number; readonly part: number; readonly carries: number; readonly reduces: boolean },
  x: bigint | null,
): Uint32Array<ArrayBuffer> =>
  ScanConfig.pack(
    { ...values, reduces: Number(values.reduces), horner: Number(x !== null) },
    montgomeryWords(field, x ?? 0n),
  );

export const scanKernel = (field: Modulus): Kernel =>
  stageKernel(
    'scan',
    template,
    ScanConfig.structOf(field),
    [vectorBinding('a', 'read'), vectorBinding('carries', 'read'), vectorBinding('out', 'write')],
    elementView(field, THREADS),
    elementPartials,
  );
