/**
 * Compiled by `npm run typecheck`, and never run: each optional property of what callers pass takes
 * undefined under `exactOptionalPropertyTypes`, so that `{ signal }` needs no spread.
 */
import type { CalibrateOptions } from '../../src/calibrate.js';
import type * as circom from '../../src/circom.js';
import type * as fflonk from '../../src/fflonk.js';
import type {
  CustomField,
  FieldBytesOptions,
  FieldCallOptions,
  FieldEngineOptions,
  FieldRunOptions,
  ScalePowersOptions,
  TransformOptions,
} from '../../src/fields.js';
import type { ChunkOptions, GnarkSrsOptions, SnarkjsFileOptions } from '../../src/formats.js';
import type * as groth16 from '../../src/groth16.js';
import type {
  Calibration,
  CalibrationTrial,
  Curve,
  Fp2,
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmEngineOptions,
  MsmOptions,
  QueueLimits,
  Sharing,
  TuningOptions,
} from '../../src/index.js';
import type { NobleMsmOptions } from '../../src/noble.js';
import type * as plonk from '../../src/plonk.js';
import type { BeaconInput, ContributionInput, SetupOptions, VerifyKeyInput } from '../../src/setup.js';
import type { AccelerateOptions, SnarkjsProveOptions } from '../../src/snarkjs.js';

/** Names of the optional properties that refuse undefined. */
type Refusing<Options> = {
  [Name in keyof Options]-?: Record<never, never> extends Pick<Options, Name>
    ? Record<Name, undefined> extends Pick<Options, Name>
      ? never
      : Name
    : never;
}[keyof Options];

type All = [
  Refusing<MsmEngineOptions>,
  Refusing<MsmEngineOptions<Fp2>>,
  Refusing<Sharing>,
  Refusing<QueueLimits>,
  Refusing<TuningOptions>,
  Refusing<Calibration>,
  Refusing<CalibrationTrial>,
  Refusing<Curve>,
  Refusing<Curve<Fp2>>,
  Refusing<LoadBasesOptions>,
  Refusing<LoadScalarsOptions>,
  Refusing<MsmOptions>,
  Refusing<MsmBatchOptions>,
  Refusing<FieldEngineOptions>,
  Refusing<CustomField>,
  Refusing<FieldBytesOptions>,
  Refusing<FieldCallOptions>,
  Refusing<SnarkjsFileOptions>,
  Refusing<FieldRunOptions>,
  Refusing<TransformOptions>,
  Refusing<ScalePowersOptions>,
  Refusing<ChunkOptions>,
  Refusing<GnarkSrsOptions>,
  Refusing<CalibrateOptions>,
  Refusing<NobleMsmOptions>,
  Refusing<AccelerateOptions>,
  Refusing<SnarkjsProveOptions>,
  Refusing<circom.CheckOptions>,
  Refusing<circom.CircuitOptions>,
  Refusing<circom.CircuitProveOptions>,
  Refusing<circom.WitnessOptions>,
  Refusing<groth16.ProvingKeyOptions>,
  Refusing<groth16.ProveOptions>,
  Refusing<plonk.ProveOptions>,
  Refusing<fflonk.ProveOptions>,
  Refusing<groth16.VerifyOptions>,
  Refusing<plonk.ProvingKeyOptions>,
  Refusing<fflonk.ProvingKeyOptions>,
  Refusing<SetupOptions>,
  Refusing<ContributionInput>,
  Refusing<BeaconInput>,
  Refusing<VerifyKeyInput>,
];

declare const all: All[number];
export const none: never = all;

// the test itself: a property that refuses undefined is found
declare const found: Refusing<{ readonly signal?: AbortSignal }>;
export const signal: 'signal' = found;

/** Points of proofs are tuples, as verifiers with tuples in their types take them. */
declare const proof: groth16.Groth16Proof;
export const a: [string, string, string] = proof.pi_a;
export const b: [[string, string], [string, string], [string, string]] = proof.pi_b;
declare const point: plonk.ProofPoint & fflonk.ProofPoint;
export const xyz: [string, string, string] = point;
