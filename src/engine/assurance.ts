/** What a result is believed for beyond custody: loaded when it is due, as one module (vite.lib.config.ts), apart from what every call needs. */
export { selfTest } from './self-test.js';
export { drawCheck, otherwise } from './verify.js';
