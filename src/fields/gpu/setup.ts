/** Sets up devices for vectors of a field: arithmetic and kernels. */
import { type FieldProduct, type Modulus, modulus } from '../../field/modulus.js';
import type { OpenDevice } from '../../gpu/device.js';
import { productFor } from '../../msm/plan/device-profiles.js';
import type { Configure } from '../../session/current-device.js';
import type { OpenField } from '../program/open-field.js';
import { type FieldKernels, fieldKernels } from '../stages/kernels.js';

/** Arithmetic and kernels of a device. */
export interface FieldSetup {
  readonly own: OpenField;
  /** The prime, with the products of the device. */
  readonly field: Modulus;
  readonly kernels: FieldKernels;
  /** Products that a submit may have, so that it takes some 50 ms. */
  readonly productsPerSubmit: number;
  /** Products a millisecond, as a guess from below. */
  readonly productsPerMs: number;
}

/** Threads of a workgroup of transforms on GPUs: WebGPU's default limit. */
const GPU_THREADS = 256;

/** Threads on software adapters, where each waits at barriers one after the other. */
const SOFTWARE_THREADS = 16;

/** Returns how a session sets up devices for a field. */
export const fieldConfigure = (own: OpenField): Configure<FieldSetup> => {
  const make = ({ adapter, device }: OpenDevice, product: FieldProduct): FieldSetup => {
    const field = modulus(own.p, product);
    const most = Math.min(device.limits.maxComputeInvocationsPerWorkgroup, device.limits.maxComputeWorkgroupSizeX);
    const threads = adapter.software ? SOFTWARE_THREADS : Math.min(GPU_THREADS, most);
    // a phone computes some 20 million products a second (docs/reference/chips.md)
    const productsPerMs = adapter.software ? 2_000 : 20_000;
    const kernels = fieldKernels(field, threads);
    return { own, field, kernels, productsPerMs, productsPerSubmit: 50 * productsPerMs };
  };
  return {
    make: (open) => make(open, productFor(open.adapter, open.hasDot4)),
    simpler: ({ field }, open) => (field.product === 'unsigned' ? null : make(open, 'unsigned')),
    nameOf: ({ field }) => field.product,
  };
};
