/**
 * The names of curves and groups, derived from the registry. Types only: an import of them loads no
 * constants.
 */
import type { EdwardsCurve } from './curve.js';
import type { registry, Software } from './registry.js';

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
