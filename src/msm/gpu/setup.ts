/** Sets up devices for multi-scalar multiplications: arithmetic, kernels and knobs. */
import type { AdapterDescription } from '../../api/device.js';
import { type CurveContext, withProduct } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import type { OpenDevice } from '../../gpu/device.js';
import type { Configure } from '../../session/current-device.js';
import type { DeviceView } from '../../session/operation.js';
import { safeRate } from '../plan/cost.js';
import { deviceClassOf, dot4Refusal, productFor } from '../plan/device-profiles.js';
import type { PlanLimits } from '../plan/planner.js';
import { type DeviceProfile, fieldProductOf, type Knobs } from '../plan/tuning.js';
import { createKernels, type Kernels } from '../stages/kernels.js';
import { HornerSource } from './horner-source.js';

/** Arithmetic, kernels and knobs of a device. */
export interface MsmSetup {
  /** The curve with the field product that the device computes with. */
  readonly curve: CurveContext;
  readonly kernels: Kernels;
  readonly tuning: Knobs;
  /** Arithmetic that combines windows. */
  readonly horner: HornerSource;
  /** The field product for the chip, unless a knob names another. */
  readonly chipProduct: DeviceProfile['product'];
}

/** Unit of cost of multiplications and loads: point additions of the walk. */
export const ADDITIONS = 'additions';

/** Returns the limits that plans depend on. */
export const planLimits = (
  adapter: AdapterDescription,
  limits: GPUSupportedLimits,
  product: DeviceProfile['product'],
  additionsPerMs: number | null,
): PlanLimits => ({
  knobs: deviceClassOf(adapter).knobs,
  isWide: deviceClassOf(adapter).isWide,
  product,
  additionsPerMs,
  maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
  maxBufferSize: limits.maxBufferSize,
  maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
  maxComputeWorkgroupSizeX: limits.maxComputeWorkgroupSizeX,
  maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
});

/** Returns the limits of a session's device. */
export const limitsOf = (device: DeviceView<MsmSetup>): PlanLimits =>
  planLimits(device.adapter, device.limits, device.setup.chipProduct, device.rateOf(ADDITIONS));

/** Returns the additions a millisecond that plans may rely on. */
export const rateOf = (device: DeviceView<MsmSetup>): number =>
  safeRate(device.setup.curve, device.adapter, device.rateOf(ADDITIONS));

/** Knobs for a device that failed its self-test: products of plain integers, and private memory. */
const simplest = { fieldProduct: 'unsigned', walkerPrefixMemory: 'private' } as const;

/**
 * Returns how a session sets up devices for a curve.
 *
 * @throws MsmError `bad-argument`, from `make`, where the adapter lacks the product of a knob
 */
export const msmConfigure = (curve: CurveContext, wanted: Knobs): Configure<MsmSetup> => {
  const make = (open: OpenDevice, tuning: Knobs): MsmSetup => {
    const { adapter, hasDot4, device } = open;
    const chipProduct = productFor(adapter, hasDot4);
    const limits = planLimits(adapter, device.limits, chipProduct, null);
    const product = fieldProductOf(limits, tuning);
    const { instrument } = tuning;
    const refusal = product === 'dot4' ? dot4Refusal(curve, adapter.software, instrument !== undefined) : null;
    if (refusal !== null) throw badArgument(refusal);
    const own = withProduct(curve, product);
    const kernels = createKernels(own, instrument?.walk, deviceClassOf(adapter).padded);
    return { curve: own, kernels, tuning, horner: new HornerSource(own), chipProduct };
  };
  return {
    make: (open) => make(open, wanted),
    simpler: ({ curve: { field }, tuning }, open) => {
      const isSimplest = field.product === simplest.fieldProduct && tuning.walkerPrefixMemory !== 'workgroup';
      return isSimplest ? null : make(open, { ...tuning, ...simplest });
    },
    nameOf: (setup) => setup.curve.field.product,
  };
};
