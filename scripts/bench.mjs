/** Runs bench.ts, which dist-bench has with the bench. */
import { openCommands } from './builds.mjs';

const { bench } = await openCommands();
await bench();
