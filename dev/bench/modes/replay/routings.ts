/** The ways in which a trace is replayed: the words of the knob `backend`. */
export const routings = ['gpu', 'cpu', 'both', 'auto'] as const;
export type Routing = (typeof routings)[number];
