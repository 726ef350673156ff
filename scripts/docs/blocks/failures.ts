/** `failures`: the injected failures that tests/resilience proves. */
import { failureTables } from '../../../tests/support/failure-table.js';
import type { Blocks } from '../blocks.js';

export const blocks: Blocks = { failures: failureTables };
