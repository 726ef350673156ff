/**
 * What looks after the stages while they compute, for `tuning.checks`.
 *
 * @module
 */
import type { StageChecks } from './api/tuning.js';
import { checks } from './checks/module.js';

/** To hand over: `createMsmEngine({ tuning: { checks: true }, checks: stageChecks })`. */
export const stageChecks: StageChecks = checks;
export type { StageChecks };
