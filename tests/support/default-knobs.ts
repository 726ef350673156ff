/** Knobs of a device of the tests, from which calibrations start. */
export const defaultKnobs = {
  fieldProduct: 'unsigned',
  walkerCoordinates: 'affine',
  walkerPrefixMemory: 'private',
  walkerSlots: 8,
  walkerThreadsPerWorkgroup: 64,
} as const;
