/** The text of the package's worker, which scripts/package/worker-file.ts puts here when the package is built. */
export const workerText = '';
