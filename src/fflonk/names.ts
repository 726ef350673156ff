/** Names in a proof, in the order of its transcript and of the calldata of verifier contracts. */

export const polynomialNames = ['C1', 'C2', 'W1', 'W2'] as const;

/** Values of polynomials: those before `zw` at ξ, the others at ξ·ω. */
export const evaluationNames = [
  ...(['ql', 'qr', 'qm', 'qo', 'qc', 's1', 's2', 's3'] as const),
  ...(['a', 'b', 'c', 'z', 'zw', 't1w', 't2w'] as const),
] as const;
