/**
 * ffjavascript, the arithmetic of snarkjs: WebAssembly on the CPU, on one thread here like this
 * library's CPU. It runs in Node alone, because it is under the GPL and must not be part of a built
 * page.
 */
import type { CurveGroup } from '../oracle/curves.js';
import { type Fp2, numbersOf } from '../oracle/known-bases.js';
import type { Peer, PeerProblem } from './peer.js';

/** The used part of a group of ffjavascript. */
interface TheirGroup {
  readonly zeroAffine: Uint8Array;
  fromObject(point: readonly (bigint | readonly bigint[])[]): Uint8Array;
  toObject(point: Uint8Array): readonly (bigint | readonly bigint[])[];
  toAffine(point: Uint8Array): Uint8Array;
  multiExpAffine(bases: Uint8Array, scalars: Uint8Array): Promise<Uint8Array>;
}
interface TheirCurve {
  readonly G1: TheirGroup;
  readonly G2: TheirGroup;
}

/** Functions of ffjavascript that make curves. */
export const builders = { bn254: 'buildBn128', 'bls12-381': 'buildBls12381' } as const;
export const isTheirs = (curve: string): curve is keyof typeof builders => Object.hasOwn(builders, curve);

export const inNode = typeof process === 'object' && process.versions?.node !== undefined;

export function makeFfjavascript({ curve, group }: CurveGroup): Peer<Uint8Array> | null {
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
      const name = 'ffjavascript';
      const module = (await import(/* @vite-ignore */ name)) as Record<
        string,
        (single: boolean) => Promise<TheirCurve>
      >;
      const built = await module[builders[curve]]?.(true);
      theirs = (built as TheirCurve)[group === 'g1' ? 'G1' : 'G2'];
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
