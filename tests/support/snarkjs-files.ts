/**
 * Files of snarkjs's, made by snarkjs itself in memory, on this thread: a small ceremony, and keys
 * for a circuit that is written down here.
 */
import { concatBytes, numberToBytesLE } from '@noble/curves/utils.js';
import { type Curve, curves, fflonk, type MemoryFile, plonk, powersOfTau, zKey } from 'snarkjs';

const u32 = (value: number): Uint8Array => numberToBytesLE(value, 4);
const u64 = (value: number): Uint8Array => numberToBytesLE(value, 8);

/** The container of iden3's files. */
export const binfile = (
  magic: string,
  sections: readonly (readonly [id: number, bytes: Uint8Array])[],
  version = 1,
): Uint8Array<ArrayBuffer> =>
  concatBytes(
    new TextEncoder().encode(magic),
    u32(version),
    u32(sections.length),
    ...sections.flatMap(([id, bytes]) => [u32(id), u64(bytes.length), bytes]),
  );

/** Returns the sections of a file of snarkjs by their ids, in the order of the file, as views of it. */
export const sectionsOf = (file: Uint8Array): Map<number, Uint8Array> => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const sections = new Map<number, Uint8Array>();
  for (let at = 12; at < file.length; ) {
    const length = Number(view.getBigUint64(at + 4, true));
    sections.set(view.getUint32(at, true), file.subarray(at + 12, at + 12 + length));
    at += 12 + length;
  }
  return sections;
};

/** Wire 1 = x^2^depth for the x of wire 2: constraint i says w_{i+2}² = w_{i+3}, the last one has wire 1. https://github.com/iden3/r1csfile/blob/master/doc/r1cs_bin_format.md */
const squarings = (prime: bigint, depth: number): Uint8Array<ArrayBuffer> => {
  const wires = depth + 2;
  const wire = (index: number): Uint8Array => concatBytes(u32(1), u32(index), numberToBytesLE(1, 32));
  const constraints = Array.from({ length: depth }, (_, i) =>
    concatBytes(wire(i + 2), wire(i + 2), wire(i === depth - 1 ? 1 : i + 3)),
  );
  const header = [u32(32), numberToBytesLE(prime, 32), u32(wires), u32(1), u32(0), u32(1), u64(wires), u32(depth)];
  return binfile('r1cs', [
    [1, concatBytes(...header)],
    [2, concatBytes(...constraints)],
    [3, concatBytes(...Array.from({ length: wires }, (_, i) => u64(i)))],
  ]);
};

/** Depth of the circuit. */
const DEPTH = 4;
export const VARIABLES = DEPTH + 2;

/** Power of the ceremonies. FFLONK needs 9 · 8 + 18 powers here, which 2^6 provides. */
export const POWER = 6;

const BEACON = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';

const memory = (data?: Uint8Array): MemoryFile => ({ type: 'mem', ...(data === undefined ? {} : { data }) });
const bytesOf = ({ data }: MemoryFile): Uint8Array => data as Uint8Array;

/**
 * Opens a curve, and stores it where snarkjs looks for one. Otherwise snarkjs would start workers,
 * which the test would have to end.
 */
const openCurve = async (name: 'bn128' | 'bls12381'): Promise<Curve> => {
  const curve = await curves.getCurveFromName(name, { singleThread: true });
  Object.assign(globalThis, { [`curve_${name}`]: curve });
  return curve;
};

/** snarkjs over a curve, and what it makes. */
export interface SnarkjsFiles {
  readonly curve: Curve;
  /** As the ceremony leaves it, and prepared for the second phase. */
  readonly ptau: Uint8Array;
  readonly prepared: Uint8Array;
  readonly groth16: Uint8Array;
  readonly plonk: Uint8Array;
  readonly fflonk: Uint8Array;
}

export const snarkjsFiles = async (name: 'bn128' | 'bls12381', power = POWER): Promise<SnarkjsFiles> => {
  const curve = await openCurve(name);
  const [fresh, ptau, prepared] = [memory(), memory(), memory()];
  await powersOfTau.newAccumulator(curve, power, fresh);
  await powersOfTau.beacon(fresh, ptau, 'the only one', BEACON, 10);
  await powersOfTau.preparePhase2(ptau, prepared);
  const r1cs = squarings(curve.r, DEPTH);
  const made = async (setup: typeof plonk.setup): Promise<Uint8Array> => {
    const zkey = memory();
    await setup(memory(r1cs), memory(bytesOf(prepared)), zkey);
    return bytesOf(zkey);
  };
  const first = await made(zKey.newZKey);
  const groth16 = memory();
  await zKey.beacon(memory(first), groth16, 'the only one', BEACON, 10);
  return {
    curve,
    ptau: bytesOf(ptau),
    prepared: bytesOf(prepared),
    groth16: bytesOf(groth16),
    plonk: await made(plonk.setup),
    fflonk: await made(fflonk.setup),
  };
};

/** Reads a `.zkey` with snarkjs. */
export const readZkey = (file: Uint8Array) => zKey.exportJson(memory(file));
