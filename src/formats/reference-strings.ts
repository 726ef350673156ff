/**
 * Reference strings: the powers of τ in files of snarkjs (`.ptau`), gnark, halo2 and Aztec. Each format
 * has its interface, its constants, and the function that opens it.
 */
import { badArgument } from '../errors.js';
import { type OptionTable, readOptions } from '../option-table.js';
import {
  Fields,
  openSnarkjsFile,
  pointsIn,
  readCurve,
  readSections,
  type SnarkjsCurve,
  type SnarkjsFileOptions,
  sectionOf,
} from './binfile.js';
import {
  type FileCurve,
  type FileSource,
  numbersOf,
  type OpenFile,
  openFile,
  type PointSection,
  pointSection,
  whyShort,
} from './source.js';

/** The points of a `.ptau`, with n = 2^power. */
export interface PtauSections {
  /** τ^i·G1, 2n − 1 of them. */
  readonly tauG1: PointSection<'le-montgomery'>;
  /** τ^i·G2, n of them. */
  readonly tauG2: PointSection<'le-montgomery'>;
  /** α·τ^i·G1, n of them. */
  readonly alphaTauG1: PointSection<'le-montgomery'>;
  /** β·τ^i·G1, n of them. */
  readonly betaTauG1: PointSection<'le-montgomery'>;
  /** β·G2, one. */
  readonly betaG2: PointSection<'le-montgomery'>;
}

/** A `.ptau`: powers of tau. */
export interface Ptau {
  /** The curve, by the prime in the header. */
  readonly curve: SnarkjsCurve['name'];
  /** Circuits may have up to 2^power constraints. */
  readonly power: number;
  /** The power of the ceremony from which the file was cut. */
  readonly ceremonyPower: number;
  /** Its points. */
  readonly sections: PtauSections;
}

/** The newest version of the format. */
const NEWEST_PTAU = 1;
/**
 * The largest two-adicity of the scalar fields of snarkjs's curves. No ceremony had that many
 * points.
 */
const MOST_POWER = 32;

/**
 * Opens a `.ptau` of snarkjs on BN254 or BLS12-381, prepared for the second phase or not. Reads its
 * headers, and no points. Ignores the Lagrange basis of a prepared file.
 *
 * @throws MsmError `bad-argument` naming the section, if the file is no `.ptau`, is cut off, or
 * contradicts its header
 * @example
 * ```ts
 * import { openPtau } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { sections } = await openPtau(await openFile('powers.ptau'));
 * const { curve, group, encoding } = sections.tauG1;
 * console.log(curve, group, encoding); // bn254 g1 le-montgomery
 * ```
 */
export const openPtau = async (source: FileSource, options: SnarkjsFileOptions = {}): Promise<Ptau> => {
  const { file, warn } = openSnarkjsFile('ptau', source, options);
  const sections = await readSections(file, 'ptau', NEWEST_PTAU, warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const curve = readCurve(file, header);
  const power = header.u32();
  const ceremonyPower = header.u32();
  header.end();
  if (power > ceremonyPower || ceremonyPower > MOST_POWER) {
    throw badArgument(
      `ptau: the header says power ${power} of ${ceremonyPower}: the first must be at most the second, and the second at most ${MOST_POWER}`,
    );
  }
  const n = 2 ** power;
  const points = (id: number, name: string, count: number, group: 'g1' | 'g2') =>
    pointsIn(file, curve, sections, id, { name, group, count });
  return {
    curve: curve.name,
    power,
    ceremonyPower,
    sections: {
      tauG1: points(2, 'tauG1', 2 * n - 1, 'g1'),
      tauG2: points(3, 'tauG2', n, 'g2'),
      alphaTauG1: points(4, 'alphaTauG1', n, 'g1'),
      betaTauG1: points(5, 'betaTauG1', n, 'g1'),
      betaG2: points(6, 'betaG2', 1, 'g2'),
    },
  };
};

/** A KZG structured reference string (SRS) of gnark-crypto. */
export interface GnarkSrs {
  /** The curve, from the options. */
  readonly curve: FileCurve;
  /**
   * The method that wrote the file: `WriteTo` (compressed), `WriteRawTo` (raw) or `WriteDump`
   * (dump).
   */
  readonly form: 'compressed' | 'raw' | 'dump';
  /** Its points. */
  readonly sections: {
    /** α^i·G1, or the same in the Lagrange basis if the SRS is one. */
    readonly g1: PointSection<'gnark' | 'gnark-compressed' | 'le-montgomery'>;
    /** G2 and α·G2; null if the file is a proving key alone. */
    readonly g2: PointSection<'gnark' | 'gnark-compressed'> | null;
  };
}

/** Options of `openGnarkSrs`. */
export interface GnarkSrsOptions {
  /** The curve of the points, which the file does not name. Default `bn254`. */
  readonly curve?: FileCurve | undefined;
}

interface GnarkCurve {
  /** Bytes of a coordinate in G1. */
  readonly bytes: number;
  /** Steps of the Miller loop. A verifying key has lines for each; `nLines` in kzg/marshal.go. */
  readonly steps: number;
}

/**
 * Constants of the format. Source: gnark-crypto v0.22.0, ecc/…/kzg/marshal.go,
 * https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bn254/kzg, and files that it wrote; up to
 * v0.12 the package is ecc/…/fr/kzg.
 */
const curves: Readonly<Record<FileCurve, GnarkCurve>> = {
  bn254: { bytes: 32, steps: 66 },
  'bls12-381': { bytes: 48, steps: 63 },
  'bls12-377': { bytes: 48, steps: 63 },
};

/** `openGnarkSrs`. */
const gnarkOptions = {
  of: 'openGnarkSrs',
  rows: { curve: { kind: 'choice', range: ['bn254', 'bls12-381', 'bls12-377'], default: 'bn254' } },
} as const satisfies OptionTable<GnarkSrsOptions>;

const LENGTH_BYTES = 4;
/**
 * A bit of the first byte of a finite point, set on every curve if the point is compressed, and
 * clear if it is raw.
 */
const COMPRESSED = 0x80;
/**
 * The 64-bit word between the verifying key and the points of a dump. Source:
 * https://pkg.go.dev/github.com/consensys/gnark-crypto/utils/unsafe
 */
const MARKER = 0xdeadbeefn;

/**
 * Returns the bytes of the lines of a verifying key: two per step for each of G2 and α·G2. A line
 * is two elements of F_p², never compressed.
 */
const linesBytes = ({ bytes, steps }: GnarkCurve): number => 2 * 2 * steps * 2 * (2 * bytes);

/** Opens a file of `WriteDump`; returns null if the file is none. */
const openDump = async (file: OpenFile, name: FileCurve, curve: GnarkCurve): Promise<GnarkSrs | null> => {
  const { what, byteLength } = file;
  const g2Bytes = 4 * curve.bytes;
  const pointBytes = 2 * curve.bytes;
  const key = 2 * g2Bytes + pointBytes + linesBytes(curve);
  const at = key + 16;
  if (byteLength < at) return null;
  const head = numbersOf(await file.read(key, at));
  if (head.getBigUint64(0, true) !== MARKER) return null;
  const count = head.getBigUint64(8, true);
  if (count * BigInt(pointBytes) !== BigInt(byteLength - at)) {
    throw badArgument(`${what}: the dump says ${count} points of ${pointBytes} bytes, and ${byteLength - at} are left`);
  }
  const common = { curve: name } as const;
  return {
    curve: name,
    form: 'dump',
    sections: {
      g1: pointSection(file, {
        ...common,
        name: 'Pk.G1',
        group: 'g1',
        encoding: 'le-montgomery',
        count: Number(count),
        pointBytes,
        at,
      }),
      g2: pointSection(file, {
        ...common,
        name: 'Vk.G2',
        group: 'g2',
        encoding: 'gnark',
        count: 2,
        pointBytes: g2Bytes,
        at: 0,
      }),
    },
  };
};

/**
 * Opens a file of v0.10 and earlier: G2 and α·G2, then the number of points and the points, all of
 * them compressed.
 */
const openWithoutKeys = async (file: OpenFile, name: FileCurve, { bytes }: GnarkCurve): Promise<GnarkSrs> => {
  const { what, byteLength } = file;
  const g2Bytes = 2 * bytes;
  const at = 2 * g2Bytes + LENGTH_BYTES;
  const count = byteLength <= at ? 0 : numbersOf(await file.read(at - LENGTH_BYTES, at)).getUint32(0, false);
  if (count === 0 || byteLength !== at + count * bytes) {
    throw badArgument(
      `${what}: the file begins with a compressed point, as gnark-crypto up to v0.10 wrote it, but ${byteLength} bytes do not fit an SRS of ${name} with ${count} points: is the file cut off, or of another curve?`,
    );
  }
  const common = { curve: name, encoding: 'gnark-compressed' } as const;
  return {
    curve: name,
    form: 'compressed',
    sections: {
      g1: pointSection(file, { ...common, name: 'G1', group: 'g1', count, pointBytes: bytes, at }),
      g2: pointSection(file, { ...common, name: 'G2', group: 'g2', count: 2, pointBytes: g2Bytes, at: 0 }),
    },
  };
};

/**
 * Opens a KZG SRS of gnark-crypto (`kzg.SRS`), as written by `WriteTo`, `WriteRawTo` or
 * `WriteDump`, or a `kzg.ProvingKey` alone. Reads its lengths, and no points. There are three
 * layouts: up to v0.10 the points of G2 come first; v0.11 and v0.12 have a proving key and then a
 * verifying key; v0.13 to v0.22 append lines to the latter. A dump is a copy of memory, little-endian
 * with 64-bit words. gnark-crypto calls that format unstable; this function reads dumps of v0.13 to
 * v0.22.
 *
 * @throws MsmError `bad-argument` if no SRS of the curve has the length of the file
 * @example
 * ```ts
 * import { openGnarkSrs } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { form, sections } = await openGnarkSrs(await openFile('kzg.srs'));
 * console.log(form, sections.g1.encoding); // compressed gnark-compressed
 * ```
 */
export const openGnarkSrs = async (source: FileSource, options: GnarkSrsOptions = {}): Promise<GnarkSrs> => {
  const { curve: name } = readOptions(gnarkOptions, options);
  const curve = curves[name];
  const file = openFile('gnark SRS', source);
  const { what, byteLength } = file;
  const dump = await openDump(file, name, curve);
  if (dump !== null) return dump;
  if (byteLength <= LENGTH_BYTES) {
    throw badArgument(
      `${what}: the file must have more than ${LENGTH_BYTES} bytes, which is its header; it has ${byteLength}`,
    );
  }
  const head = await file.read(0, LENGTH_BYTES + 1);
  // no proving key has 2^31 points
  if (((head[0] as number) & COMPRESSED) !== 0) return openWithoutKeys(file, name, curve);
  const count = numbersOf(head).getUint32(0, false);
  const compressed = ((head[LENGTH_BYTES] as number) & COMPRESSED) !== 0;
  const pointBytes = compressed ? curve.bytes : 2 * curve.bytes;
  const end = LENGTH_BYTES + count * pointBytes;
  const key = 5 * pointBytes;
  // v0.11 and v0.12 have keys without lines
  if (count === 0 || ![0, key, key + linesBytes(curve)].includes(byteLength - end)) {
    throw badArgument(
      `${what}: ${byteLength} bytes do not fit an SRS of ${name} with ${count} points of ${pointBytes} bytes, as gnark-crypto v0.11 to v0.22 writes it: is the file cut off, or of another curve?`,
    );
  }
  const common = { curve: name, encoding: compressed ? 'gnark-compressed' : 'gnark' } as const;
  return {
    curve: name,
    form: compressed ? 'compressed' : 'raw',
    sections: {
      g1: pointSection(file, { ...common, name: 'Pk.G1', group: 'g1', count, pointBytes, at: LENGTH_BYTES }),
      g2:
        byteLength === end
          ? null
          : pointSection(file, {
              ...common,
              name: 'Vk.G2',
              group: 'g2',
              count: 2,
              pointBytes: 2 * pointBytes,
              at: end,
            }),
    },
  };
};

/** KZG parameters of halo2 over BN254, for n = 2^k. */
export interface Halo2Params {
  /** The curve; this format is read for no other one. */
  readonly curve: 'bn254';
  /** Logarithm of the number of rows of a circuit. */
  readonly k: number;
  /** Its points. */
  readonly sections: {
    /** s^i·G1, n of them. */
    readonly g: PointSection<'le-montgomery'>;
    /** The same in the Lagrange basis of the domain of n elements, n of them. */
    readonly gLagrange: PointSection<'le-montgomery'>;
    /** G2, one. */
    readonly g2: PointSection<'le-montgomery'>;
    /** s·G2, one. */
    readonly sG2: PointSection<'le-montgomery'>;
  };
}

/** The two-adicity of BN254's scalar field, which bounds the domain. */
const MOST_K = 28;
const K_BYTES = 4;
const HALO2_G1_BYTES = 64;
const HALO2_G2_BYTES = 128;

/**
 * Opens parameters over BN254 that `ParamsKZG::write` of PSE's halo2 or a fork of it wrote in
 * `SerdeFormat::RawBytes` (or `RawBytesUnchecked`): k in four little-endian bytes, then g,
 * g_lagrange, g2 and s_g2 in Montgomery form. Reads k, and no points.
 *
 * Rejects `SerdeFormat::Processed`, which has compressed points: the bit with the sign of y depends
 * on the version of halo2curves that wrote them.
 *
 * @throws MsmError `bad-argument` if k is out of range, or the length of the file does not fit k
 * @example
 * ```ts
 * import { openHalo2Params } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { k, sections } = await openHalo2Params(await openFile('kzg.params'));
 * console.log(sections.g.count === 2 ** k); // true
 * ```
 */
export const openHalo2Params = async (source: FileSource): Promise<Halo2Params> => {
  const file = openFile('halo2 params', source);
  const { what, byteLength } = file;
  if (byteLength < K_BYTES)
    throw badArgument(`${what}: the file must have ${K_BYTES} bytes of k; it has ${byteLength}`);
  const k = numbersOf(await file.read(0, K_BYTES)).getUint32(0, true);
  if (k > MOST_K) throw badArgument(`${what}: k must be at most ${MOST_K}, and the file begins with ${k}`);
  const n = 2 ** k;
  const points = 2 * n * HALO2_G1_BYTES + 2 * HALO2_G2_BYTES;
  if (byteLength === K_BYTES + points / 2) {
    throw badArgument(
      `${what}: the points are compressed (SerdeFormat::Processed); write them in SerdeFormat::RawBytes`,
    );
  }
  const expected = K_BYTES + points;
  if (byteLength !== expected) {
    const why = byteLength < expected ? `: ${whyShort(file, BigInt(expected), true)}` : '';
    throw badArgument(`${what}: with k = ${k} the file must have ${expected} bytes; it has ${byteLength}${why}`);
  }
  const section = (name: string, group: 'g1' | 'g2', count: number, at: number) =>
    pointSection(file, {
      name,
      curve: 'bn254',
      group,
      encoding: 'le-montgomery',
      count,
      pointBytes: group === 'g1' ? HALO2_G1_BYTES : HALO2_G2_BYTES,
      at,
    });
  return {
    curve: 'bn254',
    k,
    sections: {
      g: section('g', 'g1', n, K_BYTES),
      gLagrange: section('g_lagrange', 'g1', n, K_BYTES + n * HALO2_G1_BYTES),
      g2: section('g2', 'g2', 1, byteLength - 2 * HALO2_G2_BYTES),
      sG2: section('s_g2', 'g2', 1, byteLength - HALO2_G2_BYTES),
    },
  };
};

/** The common reference string of barretenberg, Aztec's prover: points of BN254. */
export interface AztecCrs<G2 extends PointSection<'be'> | null = PointSection<'be'> | null> {
  /** The curve; barretenberg uses no other one here. */
  readonly curve: 'bn254';
  /** Its points. */
  readonly sections: {
    /** τ^i·G1, in 64 bytes each, or 32 if compressed. */
    readonly g1: PointSection<'be' | 'aztec-compressed'>;
    /** τ·G2; null without a file of it. */
    readonly g2: G2;
  };
}

const COORDINATE_BYTES = 32;
const AZTEC_G2_BYTES = 128;

/** Returns whether big-endian bytes are a number. */
const isNumber = (bytes: Uint8Array, value: number): boolean =>
  bytes.every((byte, i) => byte === (i === bytes.length - 1 ? value : 0));

/**
 * Opens the points of G1. The file has no header: its first point is the generator (1, 2). The file
 * is compressed unless the number after the 1 is 2, which is not the x of the second point.
 */
const openG1 = async (file: OpenFile): Promise<AztecCrs['sections']['g1']> => {
  const { what, byteLength } = file;
  const head = await file.read(0, Math.min(byteLength, 2 * COORDINATE_BYTES));
  const x = head.subarray(0, COORDINATE_BYTES);
  // the generator's y is even, so the flag of its compressed form is 0
  if (x.length < COORDINATE_BYTES || !isNumber(x, 1)) {
    throw badArgument(`${what}: the file must begin with the generator, whose x is 1 in 32 big-endian bytes`);
  }
  const y = head.subarray(COORDINATE_BYTES);
  const compressed = y.length < COORDINATE_BYTES || !isNumber(y, 2);
  const pointBytes = compressed ? COORDINATE_BYTES : 2 * COORDINATE_BYTES;
  if (byteLength % pointBytes !== 0) {
    throw badArgument(`${what}: ${byteLength} bytes are not a whole number of points of ${pointBytes}: is it cut off?`);
  }
  return pointSection(file, {
    name: 'g1',
    curve: 'bn254',
    group: 'g1',
    encoding: compressed ? 'aztec-compressed' : 'be',
    count: byteLength / pointBytes,
    pointBytes,
    at: 0,
  });
};

/** Opens the one point of G2: big-endian, c0 before c1. */
const openG2 = (file: OpenFile): PointSection<'be'> => {
  if (file.byteLength !== AZTEC_G2_BYTES) {
    throw badArgument(
      `${file.what}: the file must have ${AZTEC_G2_BYTES} bytes, which is one point; it has ${file.byteLength}`,
    );
  }
  return pointSection(file, {
    name: 'g2',
    curve: 'bn254',
    group: 'g2',
    encoding: 'be',
    count: 1,
    pointBytes: AZTEC_G2_BYTES,
    at: 0,
  });
};

/**
 * Opens the common reference string of Aztec's barretenberg. Reads its first two numbers, and no
 * points.
 *
 * @param g1 `bn254_g1.dat` or `g1.dat`, or `bn254_g1_compressed.dat` or `g1_compressed.dat`: the
 * whole file, or its beginning up to the end of a point
 * @param g2 `bn254_g2.dat` or `g2.dat`
 * @throws MsmError `bad-argument` if a file does not begin with the generator, or is not a whole
 * number of points
 * @example
 * ```ts
 * import { openAztecCrs } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const g1 = await openFile('bn254_g1.dat');
 * const { sections } = await openAztecCrs(g1, await openFile('bn254_g2.dat'));
 * console.log(sections.g1.encoding, sections.g2.count); // be 1
 * ```
 */
export async function openAztecCrs(g1: FileSource, g2: FileSource): Promise<AztecCrs<PointSection<'be'>>>;
/**
 * Opens the same without τ·G2.
 *
 * @example
 * ```ts
 * import { openAztecCrs } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const { sections } = await openAztecCrs(await openFile('bn254_g1.dat'));
 * console.log(sections.g2); // null
 * ```
 */
export async function openAztecCrs(g1: FileSource, g2?: undefined): Promise<AztecCrs<null>>;
export async function openAztecCrs(g1: FileSource, g2?: FileSource): Promise<AztecCrs> {
  return {
    curve: 'bn254',
    sections: {
      g1: await openG1(openFile('g1.dat', g1)),
      g2: g2 === undefined ? null : openG2(openFile('g2.dat', g2)),
    },
  };
}
