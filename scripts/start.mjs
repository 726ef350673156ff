/** Runs start.ts, which dist-bench has with the bench. */
import { openCommands } from './builds.mjs';

const { start } = await openCommands();
await start();
