/** Carries out trials for scripts/faults.mjs in a process that can be killed: a trial may hang. */
import { openBench } from '../builds.mjs';
import { requestDevice } from '../device.mjs';

/** @typedef {import('../../dev/faults/trial.js').Trial} Trial */
/** @typedef {import('../../dev/faults/trial.js').Report} Report */
/** @typedef {{ where: string, healthyMs: number } | { report: Report } | { error: string }} Message */

/** @param {Message} message */
const tell = (message) => process.send?.(message);

const { RecordingDevice, runTrial } = await openBench();
const real = await requestDevice();
real.addEventListener('uncapturederror', ({ error }) => tell({ error: `uncaptured: ${error.message}` }));
const device = new RecordingDevice(real);

process.on('message', async (/** @type {Trial} */ trial) => {
  try {
    const report = await runTrial(device, trial, (where, healthyMs) => tell({ where, healthyMs }));
    tell({ report });
  } catch (error) {
    tell({ error: String(/** @type {Error} */ (error).stack) });
  }
});
// the parent is gone, so nothing more can be reported
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
