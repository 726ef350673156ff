/**
 * The pairing-friendly curves of proofs: members of families, whose primes are polynomials of one
 * seed. Sources: Barreto and Naehrig 2005 (https://eprint.iacr.org/2005/133); Barreto, Lynn and
 * Scott 2002 (https://eprint.iacr.org/2002/088). The seeds are those of src/curves/.
 */
import type { Fp2 } from '../api/values.js';
import { Extension } from './extension.js';

export type PairingCurveName = 'bn254' | 'bls12-381';

export interface PairingCurve {
  readonly family: 'bn' | 'bls12';
  readonly seed: bigint;
  readonly field: Extension;
  /** Number that the Miller loop goes through: that of Vercauteren for the family. */
  readonly loop: bigint;
  /**
   * Exponents of w of the parts of a line: of y(P), of the slope times −x(P), and of the rest. They
   * follow from the twist: (x, y) on it is (x·w², y·w³) on the curve, or (x/w², y/w³).
   */
  readonly lineAt: readonly [number, number, number];
}

interface Constants {
  readonly family: PairingCurve['family'];
  readonly seed: bigint;
  readonly xi: Fp2;
}

const constants: Readonly<Record<PairingCurveName, Constants>> = {
  bn254: { family: 'bn', seed: 4965661367192848881n, xi: { c0: 9n, c1: 1n } },
  'bls12-381': { family: 'bls12', seed: -0xd201000000010000n, xi: { c0: 1n, c1: 1n } },
};

const made = /* @__PURE__ */ new Map<PairingCurveName, PairingCurve>();

const make = ({ family, seed: x, xi }: Constants): PairingCurve =>
  family === 'bn'
    ? {
        ...{ family, seed: x, loop: 6n * x + 2n, lineAt: [0, 1, 3] },
        field: new Extension(36n * x ** 4n + 36n * x ** 3n + 24n * x ** 2n + 6n * x + 1n, xi),
      }
    : {
        // times w³, which the final exponentiation takes to 1
        ...{ family, seed: x, loop: x < 0n ? -x : x, lineAt: [3, 2, 0] },
        field: new Extension(((x - 1n) ** 2n * (x ** 4n - x ** 2n + 1n)) / 3n + x, xi),
      };

export const pairingCurve = (name: PairingCurveName): PairingCurve => {
  const curve = made.get(name) ?? make(constants[name]);
  made.set(name, curve);
  return curve;
};
