/**
 * The registry of the curves that the library knows by name, one entry each; look-ups in it; and the
 * types of names. To add a curve, write its constants and an entry here. index.js loads this module when
 * a curve other than BN254's G1 is asked for; an import of types loads nothing.
 */
import type { Fp2 } from '../api/values.js';
import type { AnyCurve, Curve, EdwardsCurve } from './curve.js';
import { babyJubjub, bandersnatch, ed25519, jubjub } from './edwards-curves.js';
import { bls12377, bls12377G2, bls12381, bls12381G2, bn254G2 } from './pairing-friendly.js';
import { grumpkin, p256, pallas, secp256k1, vesta } from './prime-order-curves.js';

/** Software with files or points that src/formats/ or src/provers/ reads. */
type Software = 'snarkjs' | 'gnark';

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

/** An entry as look-ups see it. */
type Entry = { readonly aliases: readonly string[] } & { readonly [Name in Group]?: AnyCurve | EdwardsCurve | null };

const entries: readonly (readonly [name: string, entry: Entry])[] = /* @__PURE__ */ Object.entries(registry);

/**
 * Returns the constants of a group of a curve; null if there is no such name, or the curve lacks
 * the group.
 */
export const curveNamed = (name: string, group: Group): AnyCurve | EdwardsCurve | null =>
  entries.find(([own, { aliases }]) => own === name || aliases.includes(name))?.[1][group] ?? null;

/**
 * Returns the name of the curve whose group satisfies a condition; null if there is none besides
 * BN254's G1.
 */
export const nameOfCurve = (group: Group, isIt: (curve: AnyCurve | EdwardsCurve) => boolean): string | null => {
  const found = entries.find(([, entry]) => {
    const curve = entry[group] ?? null;
    return curve !== null && isIt(curve);
  });
  return found?.[0] ?? null;
};

/**
 * Lists the curves that have a group, with their aliases: `bn254 (also BN254, bn128, alt_bn128),
 * …`.
 */
export const listNames = (group: Group): string =>
  entries
    .filter(([, entry]) => entry[group] !== undefined)
    .map(([name, { aliases }]) => (aliases.length === 0 ? name : `${name} (also ${aliases.join(', ')})`))
    .join(', ');

type Registry = typeof registry;

/** The name that a curve's constants carry. */
export type CurveName = keyof Registry;

/** Names of the curves whose registry entry has a property. */
type NamesWith<Property> = { [Name in CurveName]: Registry[Name] extends Property ? Name : never }[CurveName];

/** Curves of twisted Edwards form. */
export type EdwardsName = NamesWith<{ readonly g1: EdwardsCurve }>;

/** Curves of short Weierstrass form. */
export type WeierstrassName = Exclude<CurveName, EdwardsName>;

/** Pairing-friendly curves, which have a second group. */
export type PairingName = NamesWith<{ readonly g2: unknown }>;

/** Curves that a software uses, by name. */
export type CurvesOf<Name extends Software> = {
  readonly [Own in CurveName as Registry[Own] extends { readonly software: readonly (infer Known)[] }
    ? Name extends Known
      ? Own
      : never
    : never]: Own;
};

/** Every name of a curve: its own and its aliases. */
export type NameOf<Own extends CurveName> = Own | Registry[Own]['aliases'][number];

/** The curves by all of their names. */
type CurvesByName = { readonly [Own in CurveName as Own | Registry[Own]['aliases'][number]]: Own };

/**
 * Curves that `createMsmEngine` knows by name. Some have several names.
 *
 * @useDeclaredType
 */
export type NamedCurve = keyof CurvesByName;

/**
 * Group of a pairing-friendly curve: `g1` over F_p, `g2` over a field of p² elements. Other curves
 * have `g1` alone.
 */
export type Group = 'g1' | 'g2';
