/** Peers: other implementations of MSMs and transforms, timed in the same run on the same inputs. */
import { type CurvePoint, type CurvePointCons, pippenger } from '@noble/curves/abstract/curve.js';
import { FFT, rootsOfUnity } from '@noble/curves/abstract/fft.js';
import { type CurveGroup, type CurveName, oracleOf, oracles } from '../oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  type Fp2,
  numbersOf,
  samePoint,
  toAffinePoint,
} from '../oracle/known-bases.js';

/** The problem to compute, in the formats that libraries take. */
interface PeerProblem {
  readonly points: readonly AffinePoint<Coordinate>[];
  readonly scalars: readonly bigint[];
  /** 32 little-endian bytes each. */
  readonly scalarBytes: Uint8Array<ArrayBuffer>;
  /** The sum by the oracle. */
  readonly expected: AffinePoint<Coordinate>;
}

/** An implementation that is timed beside the library. Peers stay in the bench: none is a dependency of the package. */
export interface Peer<Result = unknown> {
  readonly name: string;
  /**
   * Largest number of points that takes about a second; larger sizes run only if the peer is asked
   * for. 0: only if asked for.
   */
  readonly quickUpTo: number;
  /** Converts the problem, and does what is possible before scalars are known. Not timed. */
  prepare(problem: PeerProblem): Promise<void>;
  /** Computes one MSM of the prepared problem. Timed. */
  run(): Promise<Result>;
  /** Returns whether the result is correct. Not timed; a time counts only if it is. */
  check(result: Result): boolean;
}

interface NoblePoint extends CurvePoint<Coordinate, NoblePoint> {
  readonly Z: Coordinate;
}

/** noble-curves on the CPU: the arithmetic of a prover without GPU and WebAssembly. */
function makeNoble(of: CurveGroup): Peer<NoblePoint> | null {
  // noble does not have this curve; its oracle is ours
  if (of.curve === 'bandersnatch') return null;
  const Point = oracleOf(of).Point as CurvePointCons<NoblePoint>;
  let points: NoblePoint[] = [];
  let scalars: bigint[] = [];
  let expected: PeerProblem['expected'] | null = null;
  return {
    name: 'noble',
    // an addition over p² elements takes noble three times as long
    quickUpTo: of.group === 'g1' ? 2 ** 12 : 2 ** 10,
    async prepare(problem) {
      points = problem.points.map(({ x, y, infinity }) => (infinity ? Point.ZERO : Point.fromAffine({ x, y })));
      scalars = problem.scalars.map((scalar) => Point.Fn.create(scalar));
      expected = problem.expected;
    },
    run: async () => pippenger(Point, points, scalars),
    check: (result) => expected !== null && samePoint(toAffinePoint(result), expected),
  };
}

/** The used part of a group of ffjavascript. */
interface TheirGroup {
  readonly zeroAffine: Uint8Array;
  fromObject(point: readonly (bigint | readonly bigint[])[]): Uint8Array;
  toObject(point: Uint8Array): readonly (bigint | readonly bigint[])[];
  toAffine(point: Uint8Array): Uint8Array;
  multiExpAffine(bases: Uint8Array, scalars: Uint8Array): Promise<Uint8Array>;
}

/** The used part of a scalar field of ffjavascript. */
interface TheirField {
  fft(buffer: Uint8Array): Promise<Uint8Array>;
  ifft(buffer: Uint8Array): Promise<Uint8Array>;
  batchToMontgomery(buffer: Uint8Array): Promise<Uint8Array>;
}

interface TheirCurve {
  readonly G1: TheirGroup;
  readonly G2: TheirGroup;
  readonly Fr: TheirField;
}

/** Functions of ffjavascript that make curves. */
const builders = { bn254: 'buildBn128', 'bls12-381': 'buildBls12381' } as const;
const isTheirs = (curve: string): curve is keyof typeof builders => Object.hasOwn(builders, curve);

const inNode = typeof process === 'object' && process.versions?.node !== undefined;

const openTheirs = async (curve: keyof typeof builders): Promise<TheirCurve> => {
  const name = 'ffjavascript';
  const module = (await import(/* @vite-ignore */ name)) as Record<
    (typeof builders)[keyof typeof builders],
    (single: boolean) => Promise<TheirCurve>
  >;
  return module[builders[curve]](true);
};

/**
 * ffjavascript, the arithmetic of snarkjs: WebAssembly on the CPU, on one thread here like this
 * library's CPU. It runs in Node alone, because it is under the GPL and must not be part of a built
 * page.
 */
function makeFfjavascript({ curve, group }: CurveGroup): Peer<Uint8Array> | null {
  if (!isTheirs(curve)) return null;
  let theirs: TheirGroup;
  let bases: Uint8Array;
  let scalars: Uint8Array;
  let expected: PeerProblem['expected'];
  const told = (coordinate: bigint | Fp2): bigint | readonly bigint[] =>
    typeof coordinate === 'bigint' ? coordinate : numbersOf(coordinate);
  return {
    name: 'ffjavascript',
    // never runs unless asked for, because a host that got the bench alone does not have it
    quickUpTo: 0,
    async prepare(problem) {
      theirs = (await openTheirs(curve))[group === 'g1' ? 'G1' : 'G2'];
      const points = problem.points.map(({ x, y, infinity }) =>
        infinity ? theirs.zeroAffine : theirs.toAffine(theirs.fromObject([told(x), told(y)])),
      );
      const each = points[0]?.length ?? 0;
      bases = new Uint8Array(each * points.length);
      for (const [i, point] of points.entries()) bases.set(point, each * i);
      scalars = problem.scalarBytes.slice();
      expected = problem.expected;
    },
    run: () => theirs.multiExpAffine(bases, scalars),
    check(result) {
      const [x, y] = theirs.toObject(theirs.toAffine(result)) as [
        bigint | readonly bigint[],
        bigint | readonly bigint[],
      ];
      return expected.infinity || String([x, y].flat()) === String([expected.x, expected.y].flatMap(numbersOf));
    },
  };
}

/** Peers by name, each null for groups it does not support. */
export const peers = { noble: makeNoble, ffjavascript: makeFfjavascript } as const satisfies Readonly<
  Record<string, (of: CurveGroup) => Peer | null>
>;

export type PeerName = keyof typeof peers;

const existsHere = (name: string): boolean => name !== 'ffjavascript' || inNode;

/** Names of the peers available here; ffjavascript exists in Node alone. */
export const peerNames = (Object.keys(peers) as PeerName[]).filter(existsHere);

/** Transforms of one scalar field, in the arithmetic of another library. */
export interface TheirTransforms<Values = unknown> {
  readonly names: { readonly ntt: string; readonly intt: string };
  /** Converts numbers. @param bytes the same numbers, little-endian */
  enter(bytes: Uint8Array, values: readonly bigint[]): Promise<Values>;
  ntt(values: Values): Promise<unknown>;
  intt(values: Values): Promise<unknown>;
}

/** Opens the transforms of a curve's scalar field; null for curves that noble does not have. */
const makeNobleTransforms = async (curve: CurveName): Promise<TheirTransforms<bigint[]> | null> => {
  if (curve === 'bandersnatch') return null;
  const { Fn } = oracles[curve].Point;
  const fft = FFT(rootsOfUnity(Fn), Fn);
  return {
    names: { ntt: 'direct', intt: 'inverse' },
    enter: async (_, values) => [...values],
    ntt: async (values) => fft.direct(values),
    intt: async (values) => fft.inverse(values),
  };
};

/** Opens the transforms of a curve's scalar field; null for curves that it does not have. */
const makeFfjavascriptTransforms = async (curve: string): Promise<TheirTransforms<Uint8Array> | null> => {
  if (!isTheirs(curve)) return null;
  const { Fr } = await openTheirs(curve);
  return {
    names: { ntt: 'fft', intt: 'ifft' },
    enter: (bytes) => Fr.batchToMontgomery(bytes),
    ntt: (buffer) => Fr.fft(buffer),
    intt: (buffer) => Fr.ifft(buffer),
  };
};

const makers = { ffjavascript: makeFfjavascriptTransforms, noble: makeNobleTransforms } as const;

type TransformPeer = keyof typeof makers;

export const transformPeers = (Object.keys(makers) as TransformPeer[]).filter(existsHere);

/** Opens the transforms of a peer; null for fields that it does not have. */
export const openTransformPeer = (name: TransformPeer, curve: CurveName): Promise<TheirTransforms | null> =>
  makers[name](curve) as Promise<TheirTransforms | null>;
