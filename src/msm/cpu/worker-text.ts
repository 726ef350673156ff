/** Text of the worker; scripts/package/worker-file.ts fills it in when the package is built. */
export const workerText = '';
