/**
 * The part of snarkjs that examples, bench and tests use; snarkjs has no types. Sources:
 * https://github.com/iden3/snarkjs/tree/v0.7.6/src
 */
declare module 'snarkjs' {
  /** A file in memory, for the package fastfile. */
  interface MemoryFile {
    type: 'mem';
    data?: Uint8Array;
  }
  /** Coordinates from `toObject` of ffjavascript: affine, or infinity if z is 0. */
  type Coordinates = bigint | [bigint, bigint];
  type PointObject = [x: Coordinates, y: Coordinates, z: Coordinates];
  interface Curve {
    name: string;
    q: bigint;
    r: bigint;
    G1: { toObject(point: Uint8Array): PointObject };
    G2: { toObject(point: Uint8Array): PointObject };
  }

  export const curves: { getCurveFromName(name: string, options?: { singleThread?: boolean }): Promise<Curve> };
  export const wtns: { calculate(input: object, program: MemoryFile, witness: MemoryFile): Promise<unknown> };
  export const powersOfTau: {
    newAccumulator(curve: Curve, power: number, file: MemoryFile): Promise<unknown>;
    beacon(from: MemoryFile, to: MemoryFile, name: string, hash: string, iterationsExponent: number): Promise<unknown>;
    preparePhase2(from: MemoryFile, to: MemoryFile): Promise<unknown>;
  };
  export const zKey: {
    newZKey(r1cs: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<unknown>;
    beacon(from: MemoryFile, to: MemoryFile, name: string, hash: string, iterationsExponent: number): Promise<unknown>;
    exportJson(file: MemoryFile): Promise<Record<string, PointObject[] & PointObject>>;
    exportVerificationKey(file: MemoryFile): Promise<object>;
  };
  interface Logger {
    debug(text: string): void;
    info(text: string): void;
    warn(text: string): void;
    error(text: string): void;
  }
  interface System {
    prove(zkey: MemoryFile, witness: MemoryFile, logger?: Logger): Promise<{ proof: object; publicSignals: string[] }>;
    verify(key: object, publicSignals: readonly string[], proof: object): Promise<boolean>;
  }
  export const groth16: System;
  interface UniversalSystem extends System {
    setup(r1cs: MemoryFile, ptau: MemoryFile, zkey: MemoryFile): Promise<unknown>;
  }
  export const plonk: UniversalSystem;
  export const fflonk: UniversalSystem;
}
