/** The version of the package, as in package.json. Part of the keys of stored calibrations. */
export const version = '0.1.0';
