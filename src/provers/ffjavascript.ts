/** What is known of ffjavascript, with which snarkjs computes: its curves, where they are, and what is replaced in them. */
import type { PagedBytes } from '../api/values.js';
import type { CurvesOf, Group } from '../curves/names.js';
import { badArgument, kindOf } from '../errors.js';

/** Curves of snarkjs. */
interface Curves {
  getCurveFromName(name: string, options?: object): Promise<unknown>;
}

/** snarkjs as it is imported: `import * as snarkjs from 'snarkjs'`. */
export interface Snarkjs {
  /** That it is snarkjs is told by these. Every snarkjs has them, and its types on npm, `@types/snarkjs`, do not say so. */
  readonly curves?: Curves;
  /** The members that such types do have. */
  readonly groth16?: object;
}

/** Bytes as ffjavascript has them: large ones are in pages. */
export type FfBytes = Uint8Array | PagedBytes;

/** A copy: `slice` of Node's `Buffer` is none. */
export const copyOf = (bytes: FfBytes): FfBytes =>
  bytes instanceof Uint8Array ? new Uint8Array(bytes) : (bytes.slice(0, bytes.byteLength) as unknown as FfBytes);

/** Σ of affine points, which are in Montgomery form, and scalars, which are not; a Jacobian point comes. */
export type MultiExpAffine = (bases: FfBytes, scalars: FfBytes, ...told: unknown[]) => Promise<Uint8Array>;

/** Gives the bytes [offset, offset + length) of points; what it gives is not used again by whoever made it. */
export type PointReader = (offset: number, length: number) => Promise<Uint8Array>;

/** The same sum of points that are read in chunks, as snarkjs's open request 628 has it. */
export type MultiExpAffineChunked = (
  reader: PointReader,
  byteLength: number,
  scalars: FfBytes,
  ...told: unknown[]
) => Promise<Uint8Array>;

/** A group of a curve of ffjavascript's. */
export interface FfGroup {
  /** Bytes of a coordinate. */
  readonly F: { readonly n8: number };
  multiExpAffine: MultiExpAffine;
  multiExpAffineChunked?: MultiExpAffineChunked;
  toJacobian(affine: Uint8Array): Uint8Array;
}

/** The functions of a group that compute MSMs. */
const methods = ['multiExpAffine', 'multiExpAffineChunked'] as const;
type Method = (typeof methods)[number];

/** Methods that are replaced in a group, and their replacements. */
export type GroupMethods = Pick<FfGroup, Method>;

/** Where ffjavascript keeps a curve that has threads once it is made, so that all who ask for it get the same one. */
const registers = ['curve_bn128', 'curve_bls12381'] as const;

/** Curves that ffjavascript has, by the library's names. */
export type FfCurveName = keyof CurvesOf<'snarkjs'>;

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

/** The curves of snarkjs. @throws MsmError `bad-argument` for what is not snarkjs */
export const curvesOf = (given: Snarkjs): Curves => {
  const { curves } = (given ?? {}) as { readonly curves?: Curves };
  if (typeof curves?.getCurveFromName === 'function') return curves;
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
export const groupClassOf = async (curves: Curves): Promise<FfGroupClass> => {
  const [group] = groupsOf(await curves.getCurveFromName('bn128', { singleThread: true }));
  if (group === undefined) throw badArgument('snarkjs must make a curve bn128 with the groups G1 and G2');
  return Object.getPrototypeOf(group);
};

/**
 * Has `change` called for each group of a class that is made from now on, as soon as it gets a function that computes MSMs.
 *
 * @returns what ends that
 */
const watchClass = (type: FfGroupClass, change: (group: FfGroup) => void): (() => void) => {
  for (const method of methods) {
    Object.defineProperty(type, method, {
      configurable: true,
      set(this: FfGroup, value: unknown) {
        Object.defineProperty(this, method, { configurable: true, enumerable: true, writable: true, value });
        change(this);
      },
    });
  }
  return () => {
    for (const method of methods) Reflect.deleteProperty(type, method);
  };
};

/**
 * Has a function called before a method of an object.
 *
 * @returns what ends that, unless somebody has replaced the method again
 */
const callBefore = <Name extends string>(
  object: Record<Name, (...given: never[]) => unknown> | undefined,
  name: Name,
  before: () => void,
): (() => void) => {
  const original = object?.[name];
  if (object === undefined || typeof original !== 'function') return () => undefined;
  const isOwn = Object.hasOwn(object, name);
  const ours = function (this: unknown, ...given: never[]): unknown {
    before();
    return original.apply(this, given);
  };
  object[name] = ours;
  return () => {
    if (object[name] !== ours) return;
    if (isOwn) object[name] = original;
    else delete object[name];
  };
};

/** Told what a proof does beside its MSMs: it transforms scalars, and in the end it writes its points down. */
export interface ProofWatch {
  transforms(): void;
  writes(): void;
}

/** @returns what ends that */
const watchProofs = (curve: unknown, watch: ProofWatch): (() => void) => {
  const { Fr, G1 } = (curve ?? {}) as {
    readonly Fr?: Record<'ifft', () => unknown>;
    readonly G1?: Record<'toObject', () => unknown>;
  };
  const ends = [callBefore(Fr, 'ifft', () => watch.transforms()), callBefore(G1, 'toObject', () => watch.writes())];
  return () => {
    for (const end of ends) end();
  };
};

/**
 * Has `change` called for the curve that is kept under a name, now and whenever another one is.
 *
 * @returns what ends that, and leaves what is kept where it is
 */
const watchRegister = (name: string, change: (curve: unknown) => void): (() => void) => {
  const globals = globalThis as Record<string, unknown>;
  const isThere = name in globals;
  let kept = globals[name];
  Object.defineProperty(globals, name, {
    configurable: true,
    enumerable: true,
    get: () => kept,
    set(value: unknown) {
      kept = value;
      change(kept);
    },
  });
  change(kept);
  return () => {
    if (isThere || kept !== undefined)
      Object.defineProperty(globals, name, { configurable: true, enumerable: true, writable: true, value: kept });
    else delete globals[name];
  };
};

/** What computes instead, for a group; it may have the original do it. */
export type Replacement = (curve: FfCurveName, name: Group, group: FfGroup, original: GroupMethods) => GroupMethods;

/**
 * Replaces what computes MSMs in both groups of both curves, also of those that are made later.
 *
 * @param type of groups that are replaced in curves without threads, too; null: in none of these
 * @param watch is told of proofs, but for those on curves without threads
 * @returns what takes everything back
 */
export const replaceMultiExp = (
  replacement: Replacement,
  type: FfGroupClass | null,
  watch: ProofWatch,
): (() => void) => {
  const undo = new WeakMap<FfGroup, Map<Method, () => void>>();
  // a proof without threads makes a curve, and leaves it
  let replaced: WeakRef<FfGroup>[] = [];
  const change = (group: FfGroup): void => {
    const name = names[group.F.n8];
    if (name === undefined) return;
    const done = undo.get(group) ?? new Map<Method, () => void>();
    if (done.size === 0) replaced = [...replaced.filter((each) => each.deref() !== undefined), new WeakRef(group)];
    undo.set(group, done);
    const fresh = methods.filter((method) => typeof group[method] === 'function' && !done.has(method));
    const original = Object.fromEntries(fresh.map((method) => [method, group[method]?.bind(group)]));
    const ours = replacement(...name, group, original as unknown as GroupMethods);
    for (const method of fresh) {
      const [before, after] = [group[method], ours[method]];
      // before it is put there: who watches the class is called again
      done.set(method, () => {
        // whoever replaced it after us keeps it
        if (group[method] === after) Object.assign(group, { [method]: before });
      });
      Object.assign(group, { [method]: after });
    }
  };
  const ends: (() => void)[] = [];
  const watched = new WeakSet<object>();
  const changeAll = (curve: unknown): void => {
    groupsOf(curve).forEach(change);
    if (typeof curve !== 'object' || curve === null || watched.has(curve)) return;
    watched.add(curve);
    ends.push(watchProofs(curve, watch));
  };
  ends.push(...registers.map((name) => watchRegister(name, changeAll)));
  if (type !== null) ends.push(watchClass(type, change));
  return () => {
    for (const end of ends) end();
    for (const each of replaced) {
      const group = each.deref();
      if (group === undefined) continue;
      for (const back of undo.get(group)?.values() ?? []) back();
    }
  };
};
