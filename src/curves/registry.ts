/**
 * The registry of the curves that the library knows by name, one entry each. To add a curve, write
 * a file of constants and an entry here: src/curves/names.ts derives the types from it, and
 * src/curves/more-curves.ts the look-ups.
 */
import type { Fp2 } from '../api/values.js';
import { bls12377 } from './bls12-377.js';
import { bls12377G2 } from './bls12-377-g2.js';
import { bls12381 } from './bls12-381.js';
import { bls12381G2 } from './bls12-381-g2.js';
import { bn254G2 } from './bn254-g2.js';
import type { Curve, EdwardsCurve } from './curve.js';
import { babyJubjub, bandersnatch, ed25519, jubjub } from './edwards-curves.js';
import { grumpkin } from './grumpkin.js';
import { p256 } from './p256.js';
import { pallas, vesta } from './pasta.js';
import { secp256k1 } from './secp256k1.js';

/** Software with files or points that src/formats/ or src/provers/ reads. */
export type Software = 'snarkjs' | 'gnark';

/** A curve, by the name that its constants carry. */
interface CurveEntry {
  /** Further names for the curve. */
  readonly aliases: readonly string[];
  /**
   * The group over F_p; null where index.js has the constants, because most programs need that
   * curve alone.
   */
  readonly g1: Curve | EdwardsCurve | null;
  /** The group over F_p², on pairing-friendly curves. */
  readonly g2?: Curve<Fp2>;
  /** Software that uses the curve. */
  readonly software?: readonly Software[];
}

/** Curves by name. The comment of an entry says who uses the curve; the docs show it. */
export const registry = {
  /** Ethereum's precompiles, circom, snarkjs, Noir, halo2. */
  bn254: { aliases: ['BN254', 'bn128', 'alt_bn128'], g1: null, g2: bn254G2, software: ['snarkjs', 'gnark'] },
  /** Ethereum's consensus, Zcash. */
  'bls12-381': { aliases: ['bls12381'], g1: bls12381, g2: bls12381G2, software: ['snarkjs', 'gnark'] },
  /** Aleo, Zexe. */
  'bls12-377': { aliases: ['bls12377'], g1: bls12377, g2: bls12377G2, software: ['gnark'] },
  /** Noir, Aztec. */
  grumpkin: { aliases: [], g1: grumpkin },
  /** halo2, Mina. */
  pallas: { aliases: [], g1: pallas },
  /** halo2, Mina. */
  vesta: { aliases: [], g1: vesta },
  /** Bitcoin, Ethereum's accounts. */
  secp256k1: { aliases: [], g1: secp256k1 },
  /** NIST P-256: TLS, passkeys. */
  p256: { aliases: ['secp256r1'], g1: p256 },
  /** circom, in the form with a = 168700. */
  'baby-jubjub': { aliases: ['babyjubjub'], g1: babyJubjub },
  /** Zcash. */
  jubjub: { aliases: [], g1: jubjub },
  /** Verkle trees. */
  bandersnatch: { aliases: [], g1: bandersnatch },
  /** signatures of RFC 8032. */
  ed25519: { aliases: [], g1: ed25519 },
} as const satisfies Readonly<Record<string, CurveEntry>>;
