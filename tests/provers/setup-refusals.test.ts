/** Keys that were changed, wrong input of setups, and places for their results. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { MsmError } from '../../src/index.js';
import { applyBeacon, contribute, newKey, type SetupOptions, verifyKey } from '../../src/setup.js';
import { endCurves, ffCurveOf, powersOf } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { binfile, sectionsOf } from '../support/snarkjs-files.js';

const quiet = { maxWorkers: 0 } as const;
const POINT = 64;

/** Returns a file with some sections changed in place. */
const changed = (file: Uint8Array, change: (sections: Map<number, Uint8Array>) => void): Uint8Array<ArrayBuffer> => {
  const sections = sectionsOf(file.slice());
  change(sections);
  return binfile('zkey', [...sections]);
};

/** Changes a bit of a byte. */
const flip = (bytes: Uint8Array, place: number, bit = 0): void => {
  bytes[place] = (bytes[place] as number) ^ (1 << bit);
};

const swap = (section: Uint8Array, i: number, j: number, bytes = POINT): void => {
  const first = section.slice(i * bytes, (i + 1) * bytes);
  section.copyWithin(i * bytes, j * bytes, (j + 1) * bytes);
  section.set(first, j * bytes);
};

interface Files {
  readonly r1cs: Uint8Array;
  readonly ptau: Uint8Array;
  readonly initial: Uint8Array;
  readonly zkey: Uint8Array;
  readonly other: Uint8Array;
}

let files: Files;

beforeAll(async () => {
  const { r } = await ffCurveOf('bn254');
  const shape = { publicInputs: 2, privateInputs: 3, constraints: 9 };
  const ptau = await powersOf('bn254', 4, 31, true);
  const make = async (seed: bigint) => {
    const { r1cs } = randomCircuit(BigInt(r), { ...shape, seed });
    const initial = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
    const { zkey } = await contribute((await contribute(initial, { name: 'Ada' }, quiet)).zkey, { name: 'Bob' }, quiet);
    return { r1cs, initial, zkey };
  };
  files = { ...(await make(11n)), ptau, other: (await make(12n)).zkey };
});

afterAll(endCurves);

const at = (sections: Map<number, Uint8Array>, id: number): Uint8Array => sections.get(id) as Uint8Array;

/** First byte of a field in section 2, which begins with both primes and three numbers. */
const HEADER = 4 + 32 + 4 + 32 + 12;

/** Bytes of a contribution: three points of G1, one of G2, a hash, two numbers, and a name of three letters. */
const CONTRIBUTION = 3 * POINT + 2 * POINT + 64 + 8 + 5;

const changes: readonly [what: string, change: (sections: Map<number, Uint8Array>) => void, why: RegExp][] = [
  ['swapped points of C', (s) => swap(at(s, 8), 0, 1), /section 8 .*divided by delta/],
  ['swapped points of H', (s) => swap(at(s, 9), 2, 5), /section 9 .*divided by delta/],
  ['swapped points of A', (s) => swap(at(s, 5), 0, 1), /section 5 \(a\) is not that of the circuit/],
  ['swapped points of IC', (s) => swap(at(s, 3), 0, 1), /section 3 \(ic\)/],
  ['another coefficient', (s) => flip(at(s, 4), 4 + 12), /section 4 \(coefficients\)/],
  ['alpha1 and beta1 swapped', (s) => swap(at(s, 2).subarray(HEADER), 0, 1), /alpha1 is another/],
  [
    'delta1 of before',
    (s) =>
      at(s, 2).set(
        at(sectionsOf(files.initial.slice()), 2).subarray(HEADER + 6 * POINT, HEADER + 7 * POINT),
        HEADER + 6 * POINT,
      ),
    /delta1 is not that of the last contribution/,
  ],
  [
    'delta2 of before',
    (s) => at(s, 2).set(at(sectionsOf(files.initial.slice()), 2).subarray(HEADER + 7 * POINT), HEADER + 7 * POINT),
    /delta2 is not the multiple/,
  ],
  ['another hash of the circuit', (s) => flip(at(s, 10), 3), /hash of the circuit is another/],
  ['another transcript', (s) => flip(at(s, 10), 68 + 5 * POINT), /contribution 0: its transcript is wrong/],
  [
    'contributions in another order',
    (s) => swap(at(s, 10).subarray(68), 0, 1, CONTRIBUTION),
    /contribution 0: its transcript is wrong/,
  ],
  [
    'a contribution left out',
    (s) => {
      const section = at(s, 10);
      section[64] = 1;
      s.set(10, section.slice(0, 68 + CONTRIBUTION));
    },
    /delta1 is not that of the last contribution/,
  ],
  [
    'the first contribution left out',
    (s) => {
      const section = at(s, 10);
      section[64] = 1;
      section.copyWithin(68, 68 + CONTRIBUTION);
      s.set(10, section.slice(0, 68 + CONTRIBUTION));
    },
    /contribution 0: its transcript is wrong/,
  ],
  [
    'the S of another contribution',
    (s) => at(s, 10).copyWithin(68 + POINT, 68 + CONTRIBUTION + POINT, 68 + CONTRIBUTION + 2 * POINT),
    /its transcript is wrong/,
  ],
  [
    'the delta of another contribution',
    (s) => at(s, 10).copyWithin(68, 68 + CONTRIBUTION, 68 + CONTRIBUTION + POINT),
    /delta is not multiplied by its secret/,
  ],
  [
    'the proof of knowledge of another contribution',
    (s) => at(s, 10).copyWithin(68 + 3 * POINT, 68 + CONTRIBUTION + 3 * POINT, 68 + CONTRIBUTION + 5 * POINT),
    /nobody has proved to know/,
  ],
  ['a point off the curve', (s) => flip(at(s, 8), 0), /section C: points\[0\] is not on bn254/],
  ['no section H', (s) => void s.delete(9), /section 9 \(H\) is missing/],
  ['a point too few', (s) => s.set(8, at(s, 8).slice(POINT)), /section 8 \(C\) has/],
];

describe('a key', () => {
  it('is valid as it was made', async () => {
    const { zkey, r1cs, ptau } = files;
    expect(await verifyKey({ zkey, r1cs, ptau }, quiet)).toMatchObject({ isValid: true, why: null });
  });

  it.each(changes)('with %s is refused', async (_, change, why) => {
    const { initial, ptau } = files;
    const verdict = await verifyKey({ zkey: changed(files.zkey, change), initial, ptau }, quiet);
    expect(verdict.isValid).toBe(false);
    expect(verdict.why).toMatch(why);
  });

  it('of another circuit is refused', async () => {
    const { other: zkey, r1cs, ptau } = files;
    expect(await verifyKey({ zkey, r1cs, ptau }, quiet)).toMatchObject({ isValid: false });
  });

  it('with any byte changed is refused', { tags: 'long' }, async () => {
    const { initial, ptau, zkey } = files;
    let state = 1;
    const draw = (below: number): number => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    const names = /Ada|Bob/;
    for (let i = 0; i < 120; i++) {
      const wrong = zkey.slice();
      const place = draw(wrong.length);
      flip(wrong, place, draw(8));
      // names are not hashed, as in snarkjs, and the version of the container may be 2
      const isName = names.test(String.fromCharCode(...zkey.subarray(place - 2, place + 3)));
      if (isName || place < 12) continue;
      const { isValid, why } = await verifyKey(
        { zkey: wrong, initial, ptau },
        { ...quiet, onWarning: () => undefined },
      );
      expect({ place, isValid, hasReason: why !== null }).toEqual({ place, isValid: false, hasReason: true });
    }
  });
});

describe('wrong input', () => {
  const refused = async (call: () => Promise<unknown>, message: RegExp): Promise<void> => {
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(MsmError);
    expect((error as MsmError).code).toBe('bad-argument');
    expect((error as MsmError).message).toMatch(message);
  };

  test.each<[what: string, call: () => Promise<unknown>, message: RegExp]>([
    ['entropy', () => contribute(files.zkey, { entropy: 5 as never }, quiet), /contribution\.entropy must be/],
    ['an unknown option', () => contribute(files.zkey, {}, { sinks: 1 } as SetupOptions), /sinks/],
    ['a sink', () => contribute(files.zkey, {}, { sink: 7 as never }), /options\.sink must be a WritableStream/],
    ['a beacon', () => applyBeacon(files.zkey, { beacon: '0xy', iterations: 10 }, quiet), /hexadecimal/],
    [
      'too few iterations',
      () => applyBeacon(files.zkey, { beacon: '00', iterations: 9 }, quiet),
      /iterations must be an integer from 10 to 63/,
    ],
    [
      'a proof system',
      () => newKey({ system: 'stark' as never, r1cs: files.r1cs, ptau: files.ptau }),
      /system must be 'groth16'/,
    ],
    [
      'a circuit',
      () => newKey({ system: 'groth16', r1cs: files.zkey, ptau: files.ptau }),
      /r1cs: the file must begin with the letters r1cs/,
    ],
    [
      'neither circuit nor first key',
      () => verifyKey({ zkey: files.zkey, ptau: files.ptau }),
      /either r1cs or initial/,
    ],
    [
      'a first key with contributions',
      () => verifyKey({ zkey: files.zkey, initial: files.zkey, ptau: files.ptau }, quiet),
      /has contributions already/,
    ],
  ])('for %s is refused by name', async (_, call, message) => {
    await refused(call, message);
  });

  it('of powers that are too few, or not prepared', async () => {
    const { r1cs, ptau } = files;
    const small = await powersOf('bn254', 3, 15, true);
    await refused(() => newKey({ system: 'groth16', r1cs, ptau: small }), /ptau: the circuit needs a domain of 2\^4/);
    const sections = [...sectionsOf(ptau.slice())].filter(([id]) => id < 12);
    await refused(
      () => newKey({ system: 'groth16', r1cs, ptau: binfile('ptau', sections) }),
      /section 12 .* is missing: prepare the file/,
    );
  });

  it('never shows entropy', async () => {
    const entropy = 'a secret that nobody may see';
    const error = await contribute(files.r1cs, { entropy }, quiet).catch((thrown: Error) => thrown);
    expect(String((error as Error).stack)).not.toContain(entropy);
    const { zkey } = await contribute(files.zkey, { entropy }, quiet);
    expect(Buffer.from(zkey).includes(entropy)).toBe(false);
  });
});

describe('results', () => {
  /** A stream, what was written to it, and how it ended. */
  const stream = () => {
    const chunks: Uint8Array[] = [];
    const seen = { end: 'open' };
    const sink = new WritableStream<Uint8Array>({
      write: (chunk) => void chunks.push(chunk),
      close: () => {
        seen.end = 'closed';
      },
      abort: () => {
        seen.end = 'aborted';
      },
    });
    return { chunks, seen, sink };
  };

  it('go to a stream', async () => {
    const { chunks, seen, sink } = stream();
    const { r1cs, ptau, initial } = files;
    expect(await newKey({ system: 'groth16', r1cs, ptau }, { ...quiet, sink })).toBeUndefined();
    expect(seen.end).toBe('closed');
    expect(Buffer.concat(chunks).equals(initial)).toBe(true);
  });

  it('go to the file of a handle, or leave it as it was', async () => {
    const { initial, zkey } = files;
    const file = { bytes: new Uint8Array(3) };
    const handle = {
      createWritable: async (): Promise<WritableStream<Uint8Array>> => {
        const chunks: Uint8Array[] = [];
        return new WritableStream({
          write: (chunk) => void chunks.push(chunk),
          close: () => {
            file.bytes = Uint8Array.from(Buffer.concat(chunks));
          },
        });
      },
    };
    const wrong = changed(zkey, (sections) => flip(at(sections, 8), 0));
    await expect(contribute(wrong, {}, { ...quiet, sink: handle })).rejects.toThrow('section 8');
    expect(file.bytes.length).toBe(3);
    const { r1cs, ptau } = files;
    expect(await newKey({ system: 'groth16', r1cs, ptau }, { ...quiet, sink: handle })).toBeUndefined();
    expect(Buffer.from(file.bytes).equals(initial)).toBe(true);
    const failing = { createWritable: () => Promise.reject(new Error('of the caller')) };
    await expect(contribute(zkey, {}, { ...quiet, sink: failing })).rejects.toThrow('of the caller');
  });

  it('go to a file, or leave none behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'setup-'));
    try {
      const { r1cs, ptau, initial } = files;
      const sink = join(folder, 'circuit.zkey');
      const abort = new AbortController();
      const options = { ...quiet, sink, signal: abort.signal, onProgress: () => abort.abort() };
      await expect(newKey({ system: 'groth16', r1cs, ptau }, options)).rejects.toMatchObject({ code: 'aborted' });
      expect(await readdir(folder)).toEqual([]);
      await newKey({ system: 'groth16', r1cs, ptau }, { ...quiet, sink });
      expect((await readFile(sink)).equals(initial)).toBe(true);
      expect(await readdir(folder)).toEqual(['circuit.zkey']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('abort a stream where the call fails', async () => {
    const { seen, sink } = stream();
    const wrong = changed(files.zkey, (sections) => flip(at(sections, 8), 0));
    await expect(contribute(wrong, {}, { ...quiet, sink })).rejects.toThrow(
      'section 8 (C) has a point that is not on the curve',
    );
    expect(seen.end).toBe('aborted');
  });

  it('differ for the same entropy, and report progress', async () => {
    const seen: number[] = [];
    const onProgress = ({ done, total }: { done: number; total: number }) => void seen.push(done / total);
    const keys = [
      await contribute(files.initial, { entropy: 'x' }, { ...quiet, onProgress }),
      await contribute(files.initial, { entropy: 'x' }, quiet),
    ];
    expect(Buffer.from((keys[0] as { zkey: Uint8Array }).zkey).equals((keys[1] as { zkey: Uint8Array }).zkey)).toBe(
      false,
    );
    expect(seen.at(-1)).toBe(1);
  });
});
