import { badArgument } from '../errors.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { type FileCurve, type PointSection, pointSection } from './section.js';
import { type FileSource, numbersOf, type OpenFile, openFile } from './source.js';

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
