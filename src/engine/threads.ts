/** Number of threads of an engine, for provers that plan their memory. */
export { mostWorkers } from '../threads/platform.js';
