/**
 * The part of snarkjs that examples, bench and tests use. Sources:
 * https://github.com/iden3/snarkjs/tree/v0.7.6/src
 */
declare module 'snarkjs' {
  /** A file in memory, for the package fastfile. */
  interface MemoryFile {
    type: 'mem';
    data?: Uint8Array;
  }
  /** A file to read. */
  type Input = MemoryFile | Uint8Array;
  /** Coordinates from `toObject` of ffjavascript: affine, or infinity if z is 0. */
  type Coordinates = bigint | [bigint, bigint];
  type PointObject = [x: Coordinates, y: Coordinates, z: Coordinates];
  interface Curve {
    name: string;
    q: bigint;
    r: bigint;
    G1: { toObject(point: Uint8Array): PointObject };
    G2: { toObject(point: Uint8Array): PointObject };
    terminate(): Promise<void>;
  }
  type Setup = (r1cs: Input, ptau: Input, zkey: MemoryFile) => Promise<unknown>;
  type Contribute = (from: Input, to: MemoryFile, name: string, entropy: string) => Promise<unknown>;
  type Beacon = (
    from: MemoryFile,
    to: MemoryFile,
    name: string,
    hash: string,
    iterationsExponent: number,
  ) => Promise<unknown>;

  export const curves: { getCurveFromName(name: string, options?: { singleThread?: boolean }): Promise<Curve> };
  export const r1cs: { info(file: Input): Promise<{ nConstraints: number; nOutputs: number }> };
  export const wtns: { calculate(input: object, program: Input, witness: MemoryFile): Promise<unknown> };
  export const powersOfTau: {
    newAccumulator(curve: Curve, power: number, file: MemoryFile): Promise<unknown>;
    contribute: Contribute;
    beacon: Beacon;
    preparePhase2(from: Input, to: MemoryFile): Promise<unknown>;
    verify(ptau: Input): Promise<boolean>;
  };
  export const zKey: {
    newZKey: Setup;
    contribute: Contribute;
    beacon: Beacon;
    exportJson(file: MemoryFile): Promise<Record<string, PointObject[] & PointObject>>;
    exportVerificationKey(file: Input): Promise<object>;
    verifyFromInit(initial: Input, ptau: Input, zkey: Input): Promise<boolean>;
    verifyFromR1cs(r1cs: Input, ptau: Input, zkey: Input): Promise<boolean>;
  };
  interface Logger {
    debug(text: string): void;
    info(text: string): void;
    warn(text: string): void;
    error(text: string): void;
  }
  interface Made {
    proof: object;
    publicSignals: string[];
  }
  interface System {
    prove(zkey: MemoryFile, witness: MemoryFile, logger?: Logger): Promise<Made>;
    fullProve(input: object, program: Input, zkey: Input): Promise<Made>;
    verify(key: object, publicSignals: readonly string[], proof: object): Promise<boolean>;
  }
  export const groth16: System;
  interface UniversalSystem extends System {
    setup: Setup;
  }
  export const plonk: UniversalSystem;
  export const fflonk: UniversalSystem;
}
