/** The version of the package, which calibrations are remembered by; the same as in package.json. */
export const version = '0.1.0';
