/** Carries out trials for scripts/stress.ts in a process that can be killed: a trial may hang. */
import { RecordingDevice } from '../../dev/faults/recording-device.js';
import { type Report, runTrial, type Trial } from '../../dev/faults/trial.js';
import { requestDevice } from '../device.js';

export type Message = { where: string; healthyMs: number } | { report: Report } | { error: string };

const tell = (message: Message) => process.send?.(message);

const real = await requestDevice();
real.addEventListener('uncapturederror', ({ error }) => tell({ error: `uncaptured: ${error.message}` }));
const device = new RecordingDevice(real);

process.on('message', async (trial: Trial) => {
  try {
    const report = await runTrial(device, trial, (where, healthyMs) => tell({ where, healthyMs }));
    tell({ report });
  } catch (error) {
    tell({ error: String((error as Error).stack) });
  }
});
// the parent is gone, so nothing more can be reported
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
