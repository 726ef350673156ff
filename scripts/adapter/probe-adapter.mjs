/**
 * Prints the adapter that Dawn finds in this environment as one line of JSON, or null. This is a
 * process of its own for two reasons: a broken driver may crash it, and LD_LIBRARY_PATH cannot be
 * changed in a running process.
 */
import { closeGpu, describeAdapter, openGpu } from './open-gpu.mjs';

const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
console.log(JSON.stringify(adapter && describeAdapter(adapter.info)));
closeGpu();
