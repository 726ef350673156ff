/** Routings of a replay, which are values of the knob `backend`. */
export const routings = ['gpu', 'cpu', 'both', 'auto'] as const;
export type Routing = (typeof routings)[number];
