import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, test } from 'vitest';
import { keccak256 } from '../../src/proofs/plonkish/transcript.js';

test.each([0, 1, 32, 135, 136, 137, 271, 272, 600])('the hash of %i bytes is noble’s', (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (7 * i + length) % 256);
  expect(keccak256(bytes)).toBe(BigInt(`0x${Buffer.from(keccak_256(bytes)).toString('hex')}`));
});
