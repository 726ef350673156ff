/**
 * Prints the adapter that Dawn finds in this environment as one line of JSON, or null. A process of its own, because
 * a broken driver may take the process down with it, and because LD_LIBRARY_PATH cannot be changed later.
 */
import { closeGpu, describeAdapter, openGpu } from './open-gpu.mjs';

const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
console.log(JSON.stringify(adapter && describeAdapter(adapter.info)));
closeGpu();
