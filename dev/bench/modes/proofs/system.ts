/** Proof systems of snarkjs. */
export const systems = ['groth16', 'plonk', 'fflonk'] as const;
export type System = (typeof systems)[number];

/** Kinds of witnesses: large values, or bits of which one in eight is set. */
export const witnesses = ['dense', 'sparse'] as const;
export type Witness = (typeof witnesses)[number];
