/** What is known of ffjavascript, with which snarkjs computes: its curves, where they are, and what is replaced in them. */
import type { PagedBytes } from '../api.js';
import type { Group } from '../curves/names.js';
import { badArgument, kindOf } from '../errors.js';

/** snarkjs as it is imported: `import * as snarkjs from 'snarkjs'`. */
export interface Snarkjs {
  /** That it is snarkjs is told by these. */
  readonly curves: { getCurveFromName(name: string, options?: object): Promise<unknown> };
}

/** Bytes as ffjavascript has them: large ones are in pages. */
export type FfBytes = Uint8Array | PagedBytes;

/** Σ of affine points, which are in Montgomery form, and scalars, which are not; a Jacobian point comes. */
export type MultiExpAffine = (bases: FfBytes, scalars: FfBytes, ...told: unknown[]) => Promise<Uint8Array>;

/** A group of a curve of ffjavascript's. */
export interface FfGroup {
  /** Bytes of a coordinate. */
  readonly F: { readonly n8: number };
  multiExpAffine: MultiExpAffine;
  toJacobian(affine: Uint8Array): Uint8Array;
}

/** Where ffjavascript keeps a curve once it is made, so that all who ask for it get the same one; and what the curve is called here. */
export const ffCurves = [
  { name: 'curve_bn128', curve: 'bn254' },
  { name: 'curve_bls12381', curve: 'bls12-381' },
] as const;

export type FfCurveName = (typeof ffCurves)[number]['curve'];

type FfGroups = Readonly<Record<Group, FfGroup>>;

/** The groups of what ffjavascript keeps; null where there is no curve. */
const groupsOf = (kept: unknown): FfGroups | null => {
  const { G1: g1, G2: g2 } = (kept ?? {}) as { readonly G1?: FfGroup; readonly G2?: FfGroup };
  return typeof g1?.multiExpAffine === 'function' && typeof g2?.multiExpAffine === 'function' ? { g1, g2 } : null;
};

/** @throws MsmError `bad-argument` */
export const assertSnarkjs = (given: unknown): void => {
  if (typeof (given as Partial<Snarkjs> | null)?.curves?.getCurveFromName !== 'function')
    throw badArgument(`snarkjs must be the module snarkjs (import * as snarkjs from 'snarkjs'), got ${kindOf(given)}`);
};

/**
 * Has `change` called for the groups of the curve that is kept under a name, now and whenever another one is.
 *
 * @returns what ends that, and leaves what is kept where it is
 */
const watch = (name: string, change: (groups: FfGroups) => void): (() => void) => {
  const globals = globalThis as Record<string, unknown>;
  const isThere = name in globals;
  let kept = globals[name];
  const changed = (): void => {
    const groups = groupsOf(kept);
    if (groups !== null) change(groups);
  };
  Object.defineProperty(globals, name, {
    configurable: true,
    enumerable: true,
    get: () => kept,
    set(value: unknown) {
      kept = value;
      changed();
    },
  });
  changed();
  return () => {
    if (isThere || kept !== undefined)
      Object.defineProperty(globals, name, { configurable: true, enumerable: true, writable: true, value: kept });
    else delete globals[name];
  };
};

/** What computes instead, for a group; it may have the original do it. */
export type Replacement = (curve: FfCurveName, name: Group, group: FfGroup, original: MultiExpAffine) => MultiExpAffine;

/**
 * Replaces `multiExpAffine` in both groups of both curves, also of those that are made later.
 *
 * @returns what takes everything back
 */
export const replaceMultiExp = (replacement: Replacement): (() => void) => {
  const takeBack: (() => void)[] = [];
  for (const { name, curve } of ffCurves) {
    const known = new WeakSet<FfGroup>();
    const end = watch(name, (groups) => {
      for (const [of, group] of Object.entries(groups) as [Group, FfGroup][]) {
        if (known.has(group)) continue;
        known.add(group);
        const original = group.multiExpAffine;
        const ours = replacement(curve, of, group, original.bind(group));
        group.multiExpAffine = ours;
        takeBack.push(() => {
          // whoever replaced it after us keeps it
          if (group.multiExpAffine === ours) group.multiExpAffine = original;
        });
      }
    });
    takeBack.push(end);
  }
  return () => {
    for (const undo of takeBack) undo();
  };
};
