/**
 * Trusted setups of circuits, with the files of snarkjs: new keys, contributions, and their
 * verification.
 *
 * @module
 */

export type { Sink, WritableHandle } from './formats/sink.js';
export type { ByteStream, FileOrigin, FileSource, RandomAccess } from './formats/source.js';
export { MsmError } from './index.js';
export {
  type ChallengeInput,
  type ContributedChallenge,
  contributeToChallenge,
  exportChallenge,
  importResponse,
  type ResponseInput,
} from './setup/bellman.js';
export {
  applyBeacon,
  type BeaconInput,
  type ContributedKey,
  type ContributionInput,
  contribute,
} from './setup/contribute.js';
export type { SetupCurve } from './setup/groups.js';
export { type NewKeyInput, newKey } from './setup/new-key.js';
export {
  applyBeaconToPowers,
  type ContributedPowers,
  contributeToPowers,
  type NewPowersInput,
  newPowers,
  type TruncateInput,
  truncatePowers,
} from './setup/powers.js';
export { preparePhase2 } from './setup/prepare-powers.js';
export type { RunOptions, SetupOptions } from './setup/run.js';
export type { GpuOptions } from './setup/scaling.js';
export {
  contributeToPowersChallenge,
  exportPowersChallenge,
  type ImportedPowers,
  importPowersResponse,
  type PowersChallenge,
  type PowersResponseInput,
} from './setup/tau-exchange.js';
export { exportVerificationKey, type VerificationKey } from './setup/verification-key.js';
export {
  type KeyBeacon,
  type KeyContribution,
  type KeyVerdict,
  type VerifyKeyInput,
  verifyKey,
} from './setup/verify-key.js';
export { type PowersVerdict, verifyPowers } from './setup/verify-powers.js';
