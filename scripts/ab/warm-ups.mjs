/** MSMs before the first that is timed: one compiles; after it an engine knows the device's speed, and may plan otherwise, which compiles again. */
export const WARM_UPS = 2;
