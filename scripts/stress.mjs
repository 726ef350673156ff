/** Runs stress.ts, which dist-bench has with the bench. */
import { openCommands } from './builds.mjs';

const { stress } = await openCommands();
await stress();
