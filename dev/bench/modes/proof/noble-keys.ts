/** The arithmetic of Groth16 keys by noble, which a page may load; snarkjs's is under the GPL. */
import type { KeyArithmetic } from '../../../../examples/prover/keys.js';
import { oraclesOfG2 } from '../../../oracle/curves.js';
import { pointsIn } from '../../../oracle/encodings.js';
import { bn254G1, type Coordinate, knownBases, type OracleCurve, Random } from '../../../oracle/known-bases.js';

/** A generator of the multiplicative group of F_r, from which snarkjs has its roots of unity. */
const GENERATOR = 5n;

async function multiplesOf<Of extends Coordinate>(
  curve: OracleCurve<Of>,
  scalars: readonly bigint[],
  onMultiple: () => void | Promise<void>,
): Promise<Uint8Array> {
  const { BASE, ZERO } = curve.Point;
  const multiples = [];
  for (const scalar of scalars) {
    multiples.push(scalar === 0n ? ZERO : BASE.multiply(scalar));
    await onMultiple();
  }
  return pointsIn(curve, knownBases(curve, scalars, multiples).points, 'le-montgomery');
}

/** Makes keys on BN254. @param seed secrets of the key, which proves nothing to anybody */
export function nobleKeys(seed: number): KeyArithmetic {
  const { Fp, Fn } = bn254G1.Point;
  const random = new Random(seed);
  return {
    q: Fp.ORDER,
    r: Fn.ORDER,
    fieldBytes: 32,
    rootOf: (log) => Fn.pow(GENERATOR, (Fn.ORDER - 1n) >> BigInt(log)),
    random: () => random.belowBig(Fn.ORDER),
    multiples: (group, scalars, onMultiple) =>
      group === 'g1' ? multiplesOf(bn254G1, scalars, onMultiple) : multiplesOf(oraclesOfG2.bn254, scalars, onMultiple),
  };
}
