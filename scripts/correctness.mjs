/** Runs correctness.ts, which dist-bench has with the bench. */
import { openCommands } from './builds.mjs';

const { correctness } = await openCommands();
await correctness();
