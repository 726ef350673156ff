import { badArgument, show } from '../errors.js';
import { ownOptions } from '../own-options.js';
import { type FileCurve, type PointSection, pointSection } from './section.js';
import { type FileSource, numbersOf, type OpenFile, openFile } from './source.js';

/** A KZG SRS of gnark-crypto. */
export interface GnarkSrs {
  /** As it was given. */
  readonly curve: FileCurve;
  /** Which method wrote it: `WriteTo` (compressed), `WriteRawTo` or `WriteDump`. */
  readonly form: 'compressed' | 'raw' | 'dump';
  /** Its points. */
  readonly sections: {
    /** α^i·G1, or what the SRS has in Lagrange's base. */
    readonly g1: PointSection<'gnark' | 'gnark-compressed' | 'le-montgomery'>;
    /** G2 and α·G2; null where the file is of a proving key alone. */
    readonly g2: PointSection<'gnark' | 'gnark-compressed'> | null;
  };
}

/** Options of `openGnarkSrs`. */
export interface GnarkSrsOptions {
  /** Whose points they are, of which the file says nothing. Default `bn254`. */
  readonly curve?: FileCurve;
}

interface GnarkCurve {
  /** Of a coordinate in G1. */
  readonly bytes: number;
  /** Steps of the pairing's loop, for each of which a verifying key has lines; `nLines` in kzg/marshal.go. */
  readonly steps: number;
}

/** Source: gnark-crypto v0.22.0, ecc/…/kzg/marshal.go, https://pkg.go.dev/github.com/consensys/gnark-crypto/ecc/bn254/kzg, and files that it wrote. */
const curves: Readonly<Record<FileCurve, GnarkCurve>> = {
  bn254: { bytes: 32, steps: 66 },
  'bls12-381': { bytes: 48, steps: 63 },
  'bls12-377': { bytes: 48, steps: 63 },
};

const LENGTH_BYTES = 4;
/** In the first byte of a compressed point that is not infinity, on every curve; never in that of a raw one. */
const COMPRESSED = 0x80;
/** Stands between verifying key and points of a dump: 0xdeadbeef as 64 bits in memory. https://pkg.go.dev/github.com/consensys/gnark-crypto/utils/unsafe */
const MARKER = 0xdeadbeefn;

/** The lines of a verifying key: for G2 and α·G2, two a step, of two elements of the larger field each; never compressed. */
const linesBytes = ({ bytes, steps }: GnarkCurve): number => 2 * 2 * steps * 2 * (2 * bytes);

/** What `WriteDump` wrote; null if it did not. */
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
 * Opens a KZG SRS of gnark-crypto's (`kzg.SRS`), as `WriteTo`, `WriteRawTo` or `WriteDump` wrote it, or a `kzg.ProvingKey` alone. Reads its lengths, and
 * no points. A dump is what the machine that wrote it had in memory, little-endian with 64-bit words; gnark-crypto calls the format unstable, and
 * this is that of v0.13 to v0.22.
 *
 * @throws MsmError `bad-argument`, where the file has no length that an SRS of the curve could have
 */
export const openGnarkSrs = async (source: FileSource, options: GnarkSrsOptions = {}): Promise<GnarkSrs> => {
  const name = ownOptions(options).curve ?? 'bn254';
  if (!Object.hasOwn(curves, name)) {
    throw badArgument(`options.curve: ${show(name)} is unknown; there are ${Object.keys(curves).join(', ')}`);
  }
  const curve = curves[name];
  const file = openFile('gnark SRS', source);
  const { what, byteLength } = file;
  const dump = await openDump(file, name, curve);
  if (dump !== null) return dump;
  if (byteLength <= LENGTH_BYTES) {
    throw badArgument(`${what}: the file has ${byteLength} bytes, and its length alone takes ${LENGTH_BYTES}`);
  }
  const head = await file.read(0, LENGTH_BYTES + 1);
  const count = numbersOf(head).getUint32(0, false);
  const compressed = ((head[LENGTH_BYTES] as number) & COMPRESSED) !== 0;
  const pointBytes = compressed ? curve.bytes : 2 * curve.bytes;
  const end = LENGTH_BYTES + count * pointBytes;
  const key = 5 * pointBytes;
  // since v0.13 with lines
  if (count === 0 || ![0, key, key + linesBytes(curve)].includes(byteLength - end)) {
    throw badArgument(
      `${what}: ${byteLength} bytes are not what an SRS of ${name} with ${count} points of ${pointBytes} bytes takes: is it cut off, or another curve's?`,
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
