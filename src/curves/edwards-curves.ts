/** Curves of twisted Edwards form, which provers use for commitments and hashes. */
import type { EdwardsCurve } from './curve.js';

/**
 * Baby Jubjub over BN254's scalar field, in the form of circomlib with a = 168700; arkworks and
 * gnark use other forms. The cofactor is 8. The generator has order r; EIP-2494 calls it the base
 * point.
 *
 * Source: EIP-2494, https://eips.ethereum.org/EIPS/eip-2494
 */
export const babyJubjub: EdwardsCurve = {
  name: 'baby-jubjub',
  p: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
  order: 0x060c89ce5c263405370a08b6d0302b0bab3eedb83920ee0a677297dc392126f1n,
  // arkworks; the least one is 19
  scalarGenerator: 31n,
  edwards: {
    a: 168700n,
    d: 168696n,
    generator: {
      x: 5299619240641551281634865583518297030282874472190772894086521144482721001553n,
      y: 16950150798460657717958625567821834550301663161624707787222815936182638968203n,
    },
  },
};

const p = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/**
 * Jubjub over BLS12-381's scalar field. The cofactor is 8.
 *
 * Source: Zcash protocol specification, section 5.4.9.3, "Jubjub"; the generator is that of
 * arkworks, gnark and the crate `jubjub`.
 */
export const jubjub: EdwardsCurve = {
  name: 'jubjub',
  p,
  order: 0x0e7db4ea6533afa906673b0101343b00a6682093ccc81082d0970e5ed6f72cb7n,
  edwards: {
    a: p - 1n,
    d: 0x2a9318e74bfa2b48f5fd9207e6bd7fd4292d7f6d37579d2601065fd6d6343eb1n,
    generator: {
      x: 0x11dafe5d23e1218086a365b99fbf3d3be72f6afd7d1f72623e6b071492d1122bn,
      y: 0x1d523cf1ddab1a1793132e78c866c0c33e26ba5cc220fed7cc3f870e59d292aan,
    },
  },
};

/**
 * Bandersnatch over BLS12-381's scalar field. The cofactor is 4. a = −5 is not a square, so sums of
 * points outside of the group may lack affine coordinates.
 *
 * Source: Masson, Sanso, Zhang, "Bandersnatch", https://eprint.iacr.org/2021/1152, section 3
 */
export const bandersnatch: EdwardsCurve = {
  name: 'bandersnatch',
  p,
  order: 0x1cfb69d4ca675f520cce760202687600ff8f87007419047174fd06b52876e7e1n,
  edwards: {
    a: p - 5n,
    d: 0x6389c12633c267cbc66e3bf86be3b6d8cb66677177e54f92b369f2f5188d58e7n,
    generator: {
      x: 0x29c132cc2c0b34c5743711777bbe42f32b79c022ad998465e1e71866a252ae18n,
      y: 0x2a6c669eda123e0f157d8b50badcd586358cad81eee464605e3167b6cc974166n,
    },
  },
};

/**
 * edwards25519. The cofactor is 8.
 *
 * Source: RFC 8032, section 5.1
 */
export const ed25519: EdwardsCurve = {
  name: 'ed25519',
  p: 2n ** 255n - 19n,
  order: 2n ** 252n + 27742317777372353535851937790883648493n,
  edwards: {
    a: 2n ** 255n - 20n,
    d: 37095705934669439343138083508754565189542113879843219016388785533085940283555n,
    generator: {
      x: 15112221349535400772501151409588531511454012693041857206046113283949847762202n,
      y: 46316835694926478169428394003475163141307993866256225615783033603165251855960n,
    },
  },
};
