import { badArgument } from '../errors.js';
import {
  Fields,
  ORDER_BYTES,
  openSnarkjsFile,
  pointInHeader,
  pointsIn,
  readCurve,
  readSections,
  type Sections,
  type SnarkjsCurve,
  type SnarkjsFileOptions,
  sectionOf,
} from './binfile.js';
import { type ZkeyFile, zkeyOf } from './compact-source.js';
import type { FileSource, OpenFile, PointSection } from './source.js';

/**
 * The points of a Groth16 `.zkey`. Sections of count 1 are part of the verifying key; a prover adds
 * them to its sums.
 */
export interface Groth16Sections {
  /** A_i(τ)·G1 for each variable. */
  readonly a: PointSection<'le-montgomery'>;
  /** B_i(τ)·G1 for each variable. */
  readonly b1: PointSection<'le-montgomery'>;
  /** B_i(τ)·G2 for each variable. */
  readonly b2: PointSection<'le-montgomery'>;
  /**
   * (β·A_i + α·B_i + C_i)(τ)/δ·G1 for each private variable, from variable `publicSignals + 1` on;
   * also called L.
   */
  readonly c: PointSection<'le-montgomery'>;
  /**
   * Points for each element of the domain. Their scalars are the values of A·B − C on its odd
   * coset, as snarkjs computes them.
   */
  readonly h: PointSection<'le-montgomery'>;
  /** Points of the verifier, for the constant 1 and each public signal. */
  readonly ic: PointSection<'le-montgomery'>;
  /** α·G1. */
  readonly alpha1: PointSection<'le-montgomery'>;
  /** β·G1. */
  readonly beta1: PointSection<'le-montgomery'>;
  /** β·G2. */
  readonly beta2: PointSection<'le-montgomery'>;
  /** γ·G2. */
  readonly gamma2: PointSection<'le-montgomery'>;
  /** δ·G1. */
  readonly delta1: PointSection<'le-montgomery'>;
  /** δ·G2. */
  readonly delta2: PointSection<'le-montgomery'>;
}

/** Properties of the circuit, in all zkeys. */
interface Circuit {
  /** The curve, by the prime in the header. */
  readonly curve: SnarkjsCurve['name'];
  /** Number of variables, including the constant 1 and the public ones. */
  readonly variables: number;
  /** Number of public variables, without the constant 1. */
  readonly publicSignals: number;
  /** Size of the evaluation domain, a power of two. */
  readonly domainSize: number;
}

/** A `.zkey` of Groth16. */
export interface Groth16Zkey extends Circuit {
  /** The proof system. */
  readonly protocol: 'groth16';
  /** Its points. */
  readonly sections: Groth16Sections;
}

/** A `.zkey` of PLONK or FFLONK. */
export interface PlonkZkey extends Circuit {
  /** The proof system. */
  readonly protocol: 'plonk' | 'fflonk';
  /** Its points. */
  readonly sections: {
    /** τ^i·G1 for i up to `domainSize + 5`, or `9 · domainSize + 17` for FFLONK. */
    readonly ptau: PointSection<'le-montgomery'>;
  };
}

/** A `.zkey` of any proof system; `protocol` tells which. */
export type Zkey = Groth16Zkey | PlonkZkey;

/** The newest version of the container that snarkjs reads. It writes version 1. */
export const NEWEST = 2;

/** Proof systems by the number in section 1. */
const protocols = new Map<number, Zkey['protocol']>([
  [1, 'groth16'],
  [2, 'plonk'],
  [10, 'fflonk'],
]);

/**
 * Reads the beginning of a header, which all proof systems share.
 *
 * @throws MsmError `bad-argument` naming the field
 */
const readCircuit = (file: OpenFile, header: Fields): { curve: SnarkjsCurve; circuit: Circuit } => {
  const { what } = file;
  const curve = readCurve(file, header);
  const orderBytes = header.u32();
  if (orderBytes !== ORDER_BYTES || header.number(ORDER_BYTES) !== curve.order) {
    throw badArgument(`${what}: the header has an order of ${orderBytes} bytes that is not that of ${curve.name}`);
  }
  const variables = header.u32();
  const publicSignals = header.u32();
  const domainSize = header.u32();
  if (publicSignals >= variables) {
    throw badArgument(
      `${what}: the header says ${publicSignals} public signals of ${variables} variables, which include the constant 1`,
    );
  }
  if (domainSize === 0 || !Number.isInteger(Math.log2(domainSize))) {
    throw badArgument(`${what}: the header says a domain of ${domainSize}; it must be a power of two`);
  }
  return { curve, circuit: { curve: curve.name, variables, publicSignals, domainSize } };
};

const openGroth16 = (file: OpenFile, sections: Sections, header: Fields): Groth16Zkey => {
  const { curve, circuit } = readCircuit(file, header);
  const { variables, publicSignals, domainSize } = circuit;
  const single = (name: string, group: 'g1' | 'g2') => pointInHeader(file, curve, header, name, group);
  const inHeader = {
    alpha1: single('alpha1', 'g1'),
    beta1: single('beta1', 'g1'),
    beta2: single('beta2', 'g2'),
    gamma2: single('gamma2', 'g2'),
    delta1: single('delta1', 'g1'),
    delta2: single('delta2', 'g2'),
  };
  header.end();
  const points = (id: number, name: string, count: number, group: 'g1' | 'g2' = 'g1') =>
    pointsIn(file, curve, sections, id, { name, group, count });
  return {
    protocol: 'groth16',
    ...circuit,
    sections: {
      a: points(5, 'A', variables),
      b1: points(6, 'B1', variables),
      b2: points(7, 'B2', variables, 'g2'),
      c: points(8, 'C', variables - publicSignals - 1),
      h: points(9, 'H', domainSize),
      ic: points(3, 'IC', publicSignals + 1),
      ...inHeader,
    },
  };
};

/**
 * Differences of PLONK and FFLONK: scalars and points in the header, and the section and number of
 * the powers of τ.
 */
const plonks = {
  plonk: { scalars: 2, g1: 8, section: 14, powers: (domainSize: number) => domainSize + 6 },
  fflonk: { scalars: 6, g1: 1, section: 16, powers: (domainSize: number) => 9 * domainSize + 18 },
} as const;

const openPlonk = (file: OpenFile, sections: Sections, header: Fields, protocol: PlonkZkey['protocol']): PlonkZkey => {
  const { scalars, g1, section, powers } = plonks[protocol];
  const { curve, circuit } = readCircuit(file, header);
  // additions and constraints; k1, k2 and roots of unity; commitments; τ·G2
  header.skip(8 + scalars * ORDER_BYTES + (2 * g1 + 4) * curve.primeBytes);
  header.end();
  const count = powers(circuit.domainSize);
  return {
    protocol,
    ...circuit,
    sections: { ptau: pointsIn(file, curve, sections, section, { name: 'ptau', group: 'g1', count }) },
  };
};

/** The file of a key, for readers of further sections. */
export interface KeyFile {
  readonly file: OpenFile;
  readonly sections: Sections;
}

const files = /* @__PURE__ */ new WeakMap<Zkey, KeyFile>();

/** Returns the file of a key that `openZkey` returned. */
export const fileOf = (zkey: Zkey): KeyFile => files.get(zkey) as KeyFile;

/** Bytes of an entry of a matrix in the file, and in memory. */
const [ENTRY_BYTES_OF_FILE, ENTRY_BYTES] = [44, 12];

/**
 * Returns the bytes that a key takes when it is loaded, as its headers tell: of Groth16 the points of the
 * sums and the matrices. The vectors and the witness of a proof come to it.
 */
export const loadedBytes = (zkey: Zkey): number => {
  const { file, sections } = fileOf(zkey);
  if (zkey.protocol !== 'groth16') return file.byteLength;
  const { a, b1, b2, c, h } = zkey.sections;
  const points = [a, b1, b2, c, h].reduce((sum, section) => sum + section.byteLength, 0);
  const coefficients = sections.get(4)?.byteLength ?? 0;
  return points + Math.ceil((coefficients * ENTRY_BYTES) / ENTRY_BYTES_OF_FILE);
};

/**
 * Opens a `.zkey` of snarkjs: Groth16, PLONK or FFLONK, on BN254 or BLS12-381; or a compact key of
 * one. Reads its headers, and no points.
 *
 * @throws MsmError `bad-argument` naming the section, if the file is no `.zkey`, is cut off, or
 * contradicts its header
 * @example
 * ```ts
 * import { createMsmEngine } from 'webgpu-msm';
 * import { openZkey } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const zkey = await openZkey(await openFile('circuit.zkey')); // in a page: a File, or bytes
 * if (zkey.protocol !== 'groth16') throw new Error('not a key of Groth16');
 * const { a } = zkey.sections;
 * const engine = await createMsmEngine({ curve: a.curve, group: 'g1' });
 * const bases = await engine.loadBases(await a.points(), { encoding: a.encoding });
 * console.log(bases.length === zkey.variables); // true
 * engine.destroy();
 * ```
 */
export const openZkey = async (source: FileSource, options: SnarkjsFileOptions = {}): Promise<Zkey> => {
  const { file, warn } = openSnarkjsFile('zkey', source, options);
  return readZkey(await zkeyOf(file, {}, options.signal), warn);
};

/** Reads the headers of a `.zkey`. @throws MsmError as `openZkey` */
export const readZkey = async ({ file, head }: ZkeyFile, warn: (message: string) => void): Promise<Zkey> => {
  const sections = await readSections(file, 'zkey', NEWEST, warn, head);
  const kind = await Fields.read(file, sectionOf(file, sections, 1, 'protocol'), 'section 1 (protocol)');
  const id = kind.u32();
  kind.end();
  const protocol = protocols.get(id);
  if (protocol === undefined) {
    throw badArgument(`zkey: protocol ${id} is unknown; there are 1 (groth16), 2 (plonk), 10 (fflonk)`);
  }
  const header = await Fields.read(file, sectionOf(file, sections, 2, 'header'), 'section 2 (header)');
  const zkey =
    protocol === 'groth16' ? openGroth16(file, sections, header) : openPlonk(file, sections, header, protocol);
  files.set(zkey, { file, sections });
  return zkey;
};
