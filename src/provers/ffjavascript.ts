/**
 * Access to ffjavascript, the library with which snarkjs computes: its curves, and the methods that
 * are replaced in them.
 */
import type { PagedBytes } from '../api/values.js';
import type { CurvesOf, Group } from '../curves/more-curves.js';
import { badArgument, kindOf } from '../errors.js';

/** The member `curves` of snarkjs. */
interface Curves {
  getCurveFromName(name: string, options?: object): Promise<unknown>;
}

/** snarkjs as it is imported: `import * as snarkjs from 'snarkjs'`. */
export interface Snarkjs {
  /**
   * The curves, by which the library recognises snarkjs 0.7.5 and later; the types `@types/snarkjs`
   * omit them. Earlier versions are recognised by their provers.
   */
  readonly curves?: Curves;
  /** A member that `@types/snarkjs` declares. */
  readonly groth16?: object;
}

/** Bytes as ffjavascript holds them: paged if large. */
export type FfBytes = Uint8Array | PagedBytes;

/** Returns a copy. (`slice` of Node's `Buffer` would return a view.) */
export const copyOf = (bytes: FfBytes): FfBytes =>
  bytes instanceof Uint8Array ? new Uint8Array(bytes) : (bytes.slice(0, bytes.byteLength) as unknown as FfBytes);

/**
 * An MSM of affine points in Montgomery form and scalars in plain form. Returns a Jacobian point.
 */
export type MultiExpAffine = (bases: FfBytes, scalars: FfBytes, ...more: unknown[]) => Promise<Uint8Array>;

/**
 * Reads the bytes [offset, offset + length) of points. The caller owns the array that it returns.
 */
export type PointReader = (offset: number, length: number) => Promise<Uint8Array>;

/** The same MSM over points that are read in chunks, as in snarkjs's pull request 628. */
export type MultiExpAffineChunked = (
  reader: PointReader,
  byteLength: number,
  scalars: FfBytes,
  ...more: unknown[]
) => Promise<Uint8Array>;

/** A group of a curve of ffjavascript. */
export interface FfGroup {
  /** Bytes of a coordinate. */
  readonly F: { readonly n8: number };
  /** The generator, a Jacobian point. */
  readonly g: Uint8Array;
  multiExpAffine: MultiExpAffine;
  multiExpAffineChunked?: MultiExpAffineChunked;
  toJacobian(affine: Uint8Array): Uint8Array;
  /** Adds Jacobian points. */
  add(left: Uint8Array, right: Uint8Array): Uint8Array;
  /** Converts Jacobian points. */
  batchToAffine(points: Uint8Array): Promise<Uint8Array> | Uint8Array;
}

/** The methods of a group that compute MSMs. */
const methods = ['multiExpAffine', 'multiExpAffineChunked'] as const;
type Method = (typeof methods)[number];

/** The MSM methods of a group: the originals, or their replacements. */
export type GroupMethods = Pick<FfGroup, Method>;

/** Curves that ffjavascript has, by the library's names. */
export type FfCurveName = keyof CurvesOf<'snarkjs'>;

/** Global variables in which ffjavascript caches the curves with threads that it has made. */
export const globalOf = { bn254: 'curve_bn128', 'bls12-381': 'curve_bls12381' } as const satisfies Record<
  FfCurveName,
  string
>;
const globalNames = Object.values(globalOf);

/** Curve and group by the bytes of a coordinate. */
const names: Readonly<Record<number, readonly [FfCurveName, Group]>> = {
  32: ['bn254', 'g1'],
  64: ['bn254', 'g2'],
  48: ['bls12-381', 'g1'],
  96: ['bls12-381', 'g2'],
};

/** Returns the groups of a curve; none if the value is not a curve. */
const groupsOf = (curve: unknown): readonly FfGroup[] => {
  const { G1, G2 } = (curve ?? {}) as { readonly G1?: FfGroup; readonly G2?: FfGroup };
  return [G1, G2].filter((group) => typeof group?.multiExpAffine === 'function') as FfGroup[];
};

/** Returns G1 of a curve with threads that snarkjs has made; null without one. */
export const threadedGroup = (curve: FfCurveName): FfGroup | null =>
  groupsOf((globalThis as Record<string, unknown>)[globalOf[curve]])[0] ?? null;

/** Returns the curves of snarkjs; null of versions before 0.7.5, which do not export them. */
export const curvesOf = (given: Snarkjs): Curves | null => {
  const { curves } = (given ?? {}) as { readonly curves?: Curves };
  return typeof curves?.getCurveFromName === 'function' ? curves : null;
};

/** Returns the error of an argument that is not snarkjs. */
export const notSnarkjs = (given: unknown): Error =>
  badArgument(
    `snarkjs must be the module snarkjs (import * as snarkjs from 'snarkjs'), of version 0.7.5 or later or with a prover, got ${kindOf(given)}`,
  );

/**
 * Returns whether the globals are watched already, by this copy of the library or by another one.
 */
export const isReplaced = (): boolean =>
  globalNames.some((name) => Object.getOwnPropertyDescriptor(globalThis, name)?.get !== undefined);

/** The prototype of groups. */
export type FfGroupClass = object;

/**
 * Returns the class of the groups that a snarkjs makes. Every proof without threads makes a curve
 * that no global holds; the class is the only way to reach its groups.
 *
 * @throws errors of snarkjs if it cannot make a curve
 */
export const groupClassOf = async (curves: Curves): Promise<FfGroupClass> => {
  const [group] = groupsOf(await curves.getCurveFromName('bn128', { singleThread: true }));
  if (group === undefined) throw badArgument('snarkjs must make the curve bn128 with the groups G1 and G2');
  return Object.getPrototypeOf(group);
};

/**
 * Calls `change` for each later group of a class, as soon as the group gets an MSM method.
 *
 * @returns a function that ends the watch
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
 * Wraps a method of an object so that `before` is called before it.
 *
 * @returns a function that restores the method, unless other code has replaced it since
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

/**
 * Callbacks for steps of a proof besides its MSMs: it draws numbers that hide the witness, which
 * setups do not, transforms scalars, and writes its points at the end.
 */
export interface ProofWatch {
  draws(): void;
  transforms(): void;
  writes(): void;
}

/** Calls `watch` for the proofs on a curve. @returns a function that ends the watch */
const watchProofs = (curve: unknown, watch: ProofWatch): (() => void) => {
  const { Fr, G1 } = (curve ?? {}) as {
    readonly Fr?: Record<'ifft' | 'random', () => unknown>;
    readonly G1?: Record<'toObject', () => unknown>;
  };
  const ends = [
    callBefore(Fr, 'random', () => watch.draws()),
    callBefore(Fr, 'ifft', () => watch.transforms()),
    callBefore(G1, 'toObject', () => watch.writes()),
  ];
  return () => {
    for (const end of ends) end();
  };
};

/**
 * Calls `change` with the value of a global variable, now and whenever it is set.
 *
 * @returns a function that ends the watch and leaves the value in place
 */
const watchGlobal = (name: string, change: (curve: unknown) => void): (() => void) => {
  const globals = globalThis as Record<string, unknown>;
  const isThere = name in globals;
  let value = globals[name];
  Object.defineProperty(globals, name, {
    configurable: true,
    enumerable: true,
    get: () => value,
    set(next: unknown) {
      value = next;
      change(value);
    },
  });
  change(value);
  return () => {
    if (isThere || value !== undefined)
      Object.defineProperty(globals, name, { configurable: true, enumerable: true, writable: true, value });
    else delete globals[name];
  };
};

/** Makes the replacements of the MSM methods of a group. They may call the originals. */
export type Replacement = (curve: FfCurveName, name: Group, group: FfGroup, original: GroupMethods) => GroupMethods;

/** The replaced methods of groups, and how to restore them. */
class ReplacedMethods {
  readonly #replacement: Replacement;
  readonly #restore = new WeakMap<FfGroup, Map<Method, () => void>>();
  /** Weak, because a proof without threads makes a curve and drops it. */
  #groups: WeakRef<FfGroup>[] = [];

  constructor(replacement: Replacement) {
    this.#replacement = replacement;
  }

  /** Replaces the MSM methods that a group has and that are not replaced yet. */
  replace(group: FfGroup): void {
    const name = names[group.F.n8];
    if (name === undefined) return;
    const done = this.#restore.get(group) ?? new Map<Method, () => void>();
    if (done.size === 0) {
      this.#groups = [...this.#groups.filter((each) => each.deref() !== undefined), new WeakRef(group)];
    }
    this.#restore.set(group, done);
    const fresh = methods.filter((method) => typeof group[method] === 'function' && !done.has(method));
    const original = Object.fromEntries(fresh.map((method) => [method, group[method]?.bind(group)]));
    const ours = this.#replacement(...name, group, original as unknown as GroupMethods);
    for (const method of fresh) {
      const [before, after] = [group[method], ours[method]];
      // recorded before the assignment, which calls this function again through a watched class
      done.set(method, () => {
        // a later replacement by other code stays
        if (group[method] === after) Object.assign(group, { [method]: before });
      });
      Object.assign(group, { [method]: after });
    }
  }

  restoreAll(): void {
    for (const each of this.#groups) {
      const group = each.deref();
      if (group === undefined) continue;
      for (const restore of this.#restore.get(group)?.values() ?? []) restore();
    }
  }
}

/**
 * Replaces the MSM methods in both groups of both curves, including curves that are made later.
 *
 * @param type the class of groups, to include curves without threads; null: leaves these out
 * @param watch is called for proofs, except those on curves without threads
 * @returns a function that restores everything
 */
export const replaceMultiExp = (
  replacement: Replacement,
  type: FfGroupClass | null,
  watch: ProofWatch,
): (() => void) => {
  const replaced = new ReplacedMethods(replacement);
  const replace = (group: FfGroup): void => replaced.replace(group);
  const ends: (() => void)[] = [];
  const watched = new WeakSet<object>();
  const replaceAll = (curve: unknown): void => {
    groupsOf(curve).forEach(replace);
    if (typeof curve !== 'object' || curve === null || watched.has(curve)) return;
    watched.add(curve);
    ends.push(watchProofs(curve, watch));
  };
  ends.push(...globalNames.map((name) => watchGlobal(name, replaceAll)));
  if (type !== null) ends.push(watchClass(type, replace));
  return () => {
    for (const end of ends) end();
    replaced.restoreAll();
  };
};
