/** Sets up devices for multi-scalar multiplications: arithmetic, kernels and knobs. */
import type { AdapterDescription } from '../../api/device.js';
import { type CurveContext, withProduct } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import type { OpenDevice } from '../../gpu/device.js';
import { nextTurn } from '../../scheduling/time-slice.js';
import type { Configure } from '../../session/current-device.js';
import type { DeviceView } from '../../session/operation.js';
import { safeRate } from '../plan/cost.js';
import { deviceClassOf, dot4Refusal, productFor } from '../plan/device-profiles.js';
import type { PlanLimits, Room } from '../plan/planner.js';
import { type DeviceProfile, fieldProductOf, type Knobs } from '../plan/tuning.js';
import { agree, bigIntHorner, type Horner } from '../stages/horner.js';
import { createKernels, type Kernels } from '../stages/kernels.js';

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
const planLimits = (
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

/** Returns the limits and the free scratch of a session's device. */
export const roomOf = (device: DeviceView<MsmSetup>): Room => {
  const { bytes, name } = device.allowance;
  return { limits: limitsOf(device), budget: bytes, name };
};

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

/* Arithmetic that combines the windows of a device: WebAssembly, and BigInts until it is there. */

/** Chooses the arithmetic of a device. */
export class HornerSource {
  /** True after a failure: a policy that forbids WebAssembly reports every attempt. */
  static #isMissing = false;
  readonly #curve: CurveContext;
  #now: Horner;
  #loading: Promise<void> | null = null;

  /** @param curve has the field product of the device */
  constructor(curve: CurveContext) {
    this.#curve = curve;
    this.#now = bigIntHorner(curve);
  }

  /** The fastest arithmetic that is there now. */
  get now(): Horner {
    return this.#now;
  }

  /**
   * Loads the arithmetic in WebAssembly, once. BigInts stay where its known answer is wrong, the
   * file is not found, the platform has no WebAssembly, or a content security policy forbids it.
   * After the latter no other source of this thread tries again.
   */
  prepare(): Promise<void> {
    this.#loading ??= this.#load().catch(() => {
      HornerSource.#isMissing = true;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    if (HornerSource.#isMissing) return;
    // the file of the CPU backend: bundlers keep what two files like it share
    const { WasmHorner } = await import('../cpu/cpu-backend.js');
    // the caller hands its work to the GPU first
    await nextTurn();
    const horner = await WasmHorner.open(this.#curve);
    if (agree(this.#curve, horner, this.#now)) this.#now = horner;
  }
}
