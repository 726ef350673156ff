/**
 * npm run soak -- --minutes 10 --seed 1
 *
 * Random load on one device, of engines of both groups: every result is compared with the known one, and what buffers take with what was given. Stops
 * where anything is wrong.
 */
import { openBench } from './builds.mjs';
import { adapterOption, integer, parseCommand, runCommand, valued } from './command-line.mjs';
import { onDevice } from './device.mjs';

const command = {
  usage: 'usage: npm run soak -- [options]',
  options: {
    minutes: valued('10', 'how long', integer(1, 10_000), 10),
    seed: valued(
      '1',
      'which calls; when they end depends on the machine, so the same seed is not the same load',
      integer(0, 2 ** 31),
      1,
    ),
    concurrency: valued('20', 'callers', integer(1, 1000), 20),
    logn: valued('12', 'points of G1, as a power of two; a quarter of that of G2', integer(4, 20), 12),
    megabytes: valued(
      '3',
      'of the device, for all of both engines; more than some 5 is never short',
      integer(1, 2 ** 20),
      3,
    ),
    adapter: adapterOption,
  },
  notes: 'Exit code: 0 all right · 1 a wrong result, or more memory than was given · 2 bad usage',
};

/** @param {import('./command-line.mjs').Values<typeof command.options>} options */
async function run({ minutes, seed, concurrency, logn, megabytes, adapter }) {
  const { soak } = await openBench();
  await onDevice(adapter, `seed ${seed}`, async (device) => {
    const deviceBudget = megabytes * 2 ** 20;
    console.log(`${minutes} minutes of ${concurrency} callers, ${deviceBudget} bytes; a line every half minute`);
    /** @param {import('../dev/soak/soak.js').SoakTold} told */
    const tell = ({ seconds, calls, rejected, peakBytes, frees, stats }) => {
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
}

await runCommand(command, () => run(parseCommand(command)));
