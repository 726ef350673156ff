/**
 * npm run stress -- soak --minutes 10 --seed 1
 *
 * Puts random load of engines of both groups on one device. Compares every result with the known
 * one, and the bytes of all buffers with the budget. Stops at the first violation.
 */
import { type SoakTold, soak } from '../dev/soak/soak.js';
import { adapterOption, command, integer, valued } from './command-line.js';
import { onDevice } from './device.js';

export const soakCommand = command({
  about: 'random load of many callers, with the bytes of all buffers counted',
  usage: 'usage: npm run stress -- soak [options]',
  options: {
    minutes: valued('10', 'duration', integer(1, 10_000), 10),
    seed: valued(
      '1',
      'seed of the calls; their timing depends on the machine, so the same seed does not repeat the load',
      integer(0, 2 ** 31),
      1,
    ),
    concurrency: valued('20', 'number of callers', integer(1, 1000), 20),
    logn: valued('12', 'points of G1, as a power of two; G2 has a quarter of them', integer(4, 20), 12),
    megabytes: valued(
      '3',
      'device memory in MiB for both engines together; with more than about 5 it never runs short',
      integer(1, 2 ** 20),
      3,
    ),
    adapter: adapterOption,
  },
  notes: 'Exit code: 0 all right · 1 a wrong result, or more memory than the budget · 2 bad usage',
  async run({ minutes, seed, concurrency, logn, megabytes, adapter }) {
    await onDevice(adapter, `seed ${seed}`, async (device) => {
      const deviceBudget = megabytes * 2 ** 20;
      console.log(`${minutes} minutes of ${concurrency} callers, ${deviceBudget} bytes; a line every half minute`);
      const tell = ({ seconds, calls, rejected, peakBytes, frees, stats }: SoakTold) => {
        const merged = stats.reduce((sum, each) => sum + each.merged, 0);
        const others = Object.entries(rejected).map(([code, count]) => `${count} ${code}`);
        console.log(
          `${Math.round(seconds)} s: ${calls} calls, ${merged} merged, ${others.join(', ') || 'none rejected'}; peak ${peakBytes} bytes, ${(frees / seconds).toFixed(1)} buffers freed a second`,
        );
      };
      const told = await soak(device, {
        seed,
        seconds: 60 * minutes,
        concurrency,
        points: 2 ** logn,
        deviceBudget,
        onTell: tell,
      });
      tell(told);
      for (const violation of told.violations) console.log(`WRONG: ${violation}`);
      console.log(`${told.violations.length} violations`);
      if (told.violations.length > 0) process.exitCode = 1;
    });
  },
});
