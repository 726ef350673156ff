/**
 * Checks between the stages of an MSM, for `tuning.checks`.
 *
 * @module
 */
import type { StageChecks } from './api/tuning.js';
import { checks } from './checks/module.js';

/** Pass it to the engine: `createMsmEngine({ tuning: { checks: true }, checks: stageChecks })`. */
export const stageChecks: StageChecks = checks;
export type { StageChecks };
