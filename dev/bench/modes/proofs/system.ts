/** Proof systems of snarkjs. */
export const systems = ['groth16', 'plonk', 'fflonk'] as const;
export type System = (typeof systems)[number];
