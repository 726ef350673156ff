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

/** A copy: `slice` of Node's `Buffer` is none. */
export const copyOf = (bytes: FfBytes): FfBytes =>
  bytes instanceof Uint8Array ? new Uint8Array(bytes) : (bytes.slice(0, bytes.byteLength) as unknown as FfBytes);

/** Σ of affine points, which are in Montgomery form, and scalars, which are not; a Jacobian point comes. */
export type MultiExpAffine = (bases: FfBytes, scalars: FfBytes, ...told: unknown[]) => Promise<Uint8Array>;

/** A group of a curve of ffjavascript's. */
export interface FfGroup {
  /** Bytes of a coordinate. */
  readonly F: { readonly n8: number };
  multiExpAffine: MultiExpAffine;
  toJacobian(affine: Uint8Array): Uint8Array;
}

/** Where ffjavascript keeps a curve that has threads once it is made, so that all who ask for it get the same one. */
const registers = ['curve_bn128', 'curve_bls12381'] as const;

export type FfCurveName = 'bn254' | 'bls12-381';

/** What a group is called here, by the bytes of its coordinates. */
const names: Readonly<Record<number, readonly [FfCurveName, Group]>> = {
  32: ['bn254', 'g1'],
  64: ['bn254', 'g2'],
  48: ['bls12-381', 'g1'],
  96: ['bls12-381', 'g2'],
};

/** The groups of a curve; none where there is no curve. */
const groupsOf = (curve: unknown): readonly FfGroup[] => {
  const { G1, G2 } = (curve ?? {}) as { readonly G1?: FfGroup; readonly G2?: FfGroup };
  return [G1, G2].filter((group) => typeof group?.multiExpAffine === 'function') as FfGroup[];
};

/** @throws MsmError `bad-argument` */
export const assertSnarkjs = (given: unknown): void => {
  if (typeof (given as Partial<Snarkjs> | null)?.curves?.getCurveFromName !== 'function')
    throw badArgument(`snarkjs must be the module snarkjs (import * as snarkjs from 'snarkjs'), got ${kindOf(given)}`);
};

/** Whether somebody watches registers already: this copy of the library, or another one, which cannot know of this. */
export const isReplaced = (): boolean =>
  registers.some((name) => Object.getOwnPropertyDescriptor(globalThis, name)?.get !== undefined);

/** What groups inherit from. */
export type FfGroupClass = object;

/**
 * The class of the groups that a snarkjs makes. Curves without threads are in no register, and every proof makes its own: what they have in common is this.
 *
 * @throws what snarkjs throws that cannot make a curve
 */
export const groupClassOf = async (snarkjs: Snarkjs): Promise<FfGroupClass> => {
  const [group] = groupsOf(await snarkjs.curves.getCurveFromName('bn128', { singleThread: true }));
  if (group === undefined) throw badArgument('snarkjs must make a curve bn128 with the groups G1 and G2');
  return Object.getPrototypeOf(group);
};

/**
 * Has `change` called for each group of a class that is made from now on, as soon as it gets its `multiExpAffine`.
 *
 * @returns what ends that
 */
const watchClass = (type: FfGroupClass, change: (group: FfGroup) => void): (() => void) => {
  Object.defineProperty(type, 'multiExpAffine', {
    configurable: true,
    set(this: FfGroup, value: unknown) {
      Object.defineProperty(this, 'multiExpAffine', { configurable: true, enumerable: true, writable: true, value });
      change(this);
    },
  });
  return () => void Reflect.deleteProperty(type, 'multiExpAffine');
};

/**
 * Has `change` called for the groups of the curve that is kept under a name, now and whenever another one is.
 *
 * @returns what ends that, and leaves what is kept where it is
 */
const watchRegister = (name: string, change: (group: FfGroup) => void): (() => void) => {
  const globals = globalThis as Record<string, unknown>;
  const isThere = name in globals;
  let kept = globals[name];
  const changed = (): void => groupsOf(kept).forEach(change);
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
 * @param type of groups that are replaced in curves without threads, too; null: in none of these
 * @returns what takes everything back
 */
export const replaceMultiExp = (replacement: Replacement, type: FfGroupClass | null): (() => void) => {
  const undo = new WeakMap<FfGroup, () => void>();
  // a proof without threads makes a curve, and leaves it
  let replaced: WeakRef<FfGroup>[] = [];
  const change = (group: FfGroup): void => {
    const name = names[group.F.n8];
    if (name === undefined || undo.has(group)) return;
    const original = group.multiExpAffine;
    const ours = replacement(...name, group, original.bind(group));
    group.multiExpAffine = ours;
    undo.set(group, () => {
      // whoever replaced it after us keeps it
      if (group.multiExpAffine === ours) group.multiExpAffine = original;
    });
    replaced = [...replaced.filter((each) => each.deref() !== undefined), new WeakRef(group)];
  };
  const ends = registers.map((name) => watchRegister(name, change));
  if (type !== null) ends.push(watchClass(type, change));
  return () => {
    for (const end of ends) end();
    for (const each of replaced) {
      const group = each.deref();
      if (group !== undefined) undo.get(group)?.();
    }
  };
};
