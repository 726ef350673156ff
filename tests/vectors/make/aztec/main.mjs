// @ts-nocheck: @aztec/bb.js is not the project's, and weighs 150 MB.
/**
 * Points as barretenberg writes and reads them. `npm ci && node main.mjs FILE` writes aztec.json
 * there.
 */
import { deepStrictEqual } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { BackendType, BarretenbergSync } from '@aztec/bb.js';

const bb = await BarretenbergSync.new({ backend: BackendType.Wasm, threads: 1 });

const bytes = (number) => Uint8Array.from(Buffer.from(number.toString(16).padStart(64, '0'), 'hex'));
const hex = (...parts) => parts.flat(2).map((part) => Buffer.from(part).toString('hex'));
const point = (x, y) => ({ x: bytes(x), y: bytes(y) });

const p = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** 0, 1, 2, 3, r − 1, r − 2, 5, 1234567890123456789, and those of scalars.txt. */
const scalars = (order) => [
  ...[0n, 1n, 2n, 3n, order - 1n, order - 2n, 5n, 1234567890123456789n],
  ...readFileSync(new URL('../scalars.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map(BigInt),
];

/**
 * x and y as the answer has them, one behind the other: so the files of the trusted set-up have
 * them too.
 */
const set = (curve, group, order, multiply, generator, more = () => ({})) => {
  const k = scalars(order);
  const points = k.map((scalar) => multiply({ point: generator, scalar: bytes(scalar) }).point);
  return {
    ...{ curve, group, order: order.toString(), k: k.map(String) },
    encodings: { aztec: points.map(({ x, y }) => hex(x, y).join('')), ...more(points) },
  };
};

/**
 * It writes none: those of the two with this x that it reads as the point. Infinity is read from
 * none.
 */
const compressed = (points) => {
  const reads = (text, { x, y }) => {
    try {
      const { point: got } = bb.bn254G1FromCompressed({ compressed: Buffer.from(text, 'hex') });
      return hex(got.x, got.y).join() === hex(x, y).join();
    } catch {
      return false;
    }
  };
  return {
    'aztec-compressed': points.map((wanted) => {
      const [x] = hex(wanted.x);
      const flagged = (BigInt(`0x${x}`) | (1n << 255n)).toString(16).padStart(64, '0');
      const read = [x, flagged].filter((text) => reads(text, wanted));
      deepStrictEqual(read.length, /^f+$/.test(x) ? 0 : 1);
      return read[0] ?? null;
    }),
  };
};

const g2 = {
  x: [
    10857046999023057135944570762232829481370756359578518086990519993285655852781n,
    11559732032986387107991004021392285783925812861821192530917403151452391805634n,
  ].map(bytes),
  y: [
    8495653923123431417604973247489272438418190587263600148770280649306958101930n,
    4082367875863433681332203403145435568316851327593401208105741076214120093531n,
  ].map(bytes),
};
const grumpkin = point(1n, 17631683881184975370165255887551781615748388533673675138860n);
const secp256k1 = point(
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
);

const curves = [
  set('bn254', 'g1', r, (of) => bb.bn254G1Mul(of), point(1n, 2n), compressed),
  set('bn254', 'g2', r, (of) => bb.bn254G2Mul(of), g2),
  set('grumpkin', 'g1', p, (of) => bb.grumpkinMul(of), grumpkin),
  set('secp256k1', 'g1', n, (of) => bb.secp256k1Mul(of), secp256k1),
];

// Encodings that it reads as a set-up: points of the curve, or infinity.
const setUp = curves.find(({ curve }) => curve === 'grumpkin').encodings.aztec;
bb.srsInitGrumpkinSrs({ pointsBuf: Buffer.from(setUp.join(''), 'hex'), numPoints: setUp.length });

writeFileSync(process.argv[2], `${JSON.stringify({ software: '@aztec/bb.js 5.0.0', curves }, null, 2)}\n`);
