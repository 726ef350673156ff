/**
 * The recipes of examples/, in a project that has the package installed: beside noble, and what
 * other software wrote.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/curves/utils.js';
import { SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { oracleOf } from '../../dev/oracle/curves.js';
import { type AffinePoint, type OracleCurve, Random, toAffinePoint } from '../../dev/oracle/known-bases.js';
import { type Groth16Zkey, openZkey } from '../../src/formats.js';
import type { EngineEvent } from '../../src/index.js';
import type { FfGroup } from '../../src/provers/ffjavascript.js';
import { buildLibrary } from '../support/build-library.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { programWith } from '../support/page-programs.js';
import { makePowersOfTau } from '../support/powers-of-tau.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-recipes-'));
const installed = join(folder, 'node_modules/webgpu-msm');

beforeAll(async () => {
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  for (const scope of ['@noble', '@opentelemetry'])
    symlinkSync(inProject(`node_modules/${scope}`), join(folder, 'node_modules', scope));
  mkdirSync(join(folder, 'recipes'));
  cpSync(inProject('examples/recipes'), join(folder, 'recipes'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Methods of an ffjavascript group that read its points. */
interface WrittenGroup {
  toAffine(point: Uint8Array): Uint8Array;
  toObject(point: Uint8Array): unknown[];
}

const recipe = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, 'recipes', `${name}.js`)).href);

const programOfDocs = (): string => programWith('docs/how-to/your-prover.md', 'export async function sumsOf');

describe('recipes', { tags: 'long' }, () => {
  test('commitments to polynomials over a .ptau are f(τ)·G', async () => {
    const { Point } = oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve;
    const r = Point.Fn.ORDER;
    const power = 4;
    // of order 2^5: 5 is no square modulo r
    const root = Point.Fn.pow(5n, (r - 1n) / 2n ** BigInt(power + 1));
    const file = makePowersOfTau({ curve: 'bn254', power, powers: 31, root, seed: 12 });
    // the first that is drawn of it
    const tau = new Random(12).belowBig(r - 2n) + 2n;
    const committer = await (await recipe('kzg-commit')).openCommitter(file, 20);
    const polynomials = [[7n], [1n, 2n, 3n], Array.from({ length: 20 }, (_, i) => r - BigInt(i) ** 5n), []];
    const at = (polynomial: readonly bigint[]) =>
      polynomial.reduceRight((sum, coefficient) => (sum * tau + coefficient) % r, 0n);
    const wanted = polynomials.map((polynomial) => toAffinePoint(Point.BASE.multiplyUnsafe(at(polynomial))));
    expect(await committer.commit(polynomials)).toEqual(wanted);
    committer.close();
  });

  test.each(['cpu', 'gpu'] as const)(
    'commitments and openings of vectors of the %s satisfy the pairing',
    async (on) => {
      const { Point } = oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve;
      const { G1, G2, fields, pairing } = bn254;
      const r = Point.Fn.ORDER;
      const root = Point.Fn.pow(5n, (r - 1n) / 32n);
      const file = makePowersOfTau({ curve: 'bn254', power: 4, powers: 31, root, seed: 12 });
      const tau = new Random(12).belowBig(r - 2n) + 2n;
      const gpu = on === 'gpu' ? { gpu: (await leaseGpu()).gpu } : {};
      const prover = await (await recipe('kzg-open')).openProver(file, 16, { backend: on, ...gpu });
      const values = Array.from({ length: 16 }, (_, i) => (i % 3 === 0 ? BigInt(i) : r - BigInt(i) ** 7n));
      const polynomial = await prover.interpolate(values);
      // the n-th root of unity of snarkjs
      const w = Point.Fn.pow(5n, (r - 1n) / 16n);
      const coefficients = values.map((_, k) => {
        const sum = values.reduce((all, value, i) => (all + value * Point.Fn.pow(w, BigInt((16 - i) * k))) % r, 0n);
        return (sum * Point.Fn.inv(16n)) % r;
      });
      const at = (x: bigint) => coefficients.reduceRight((sum, each) => (sum * x + each) % r, 0n);
      const [commitment] = await prover.commit([polynomial]);
      expect(commitment).toEqual(toAffinePoint(Point.BASE.multiplyUnsafe(at(tau))));
      expect(prover.engine.lastRun).toMatchObject({ on, ...(on === 'gpu' && { uploadedBytes: 12 }) });
      const tauG2 = G2.Point.BASE.multiply(tau);
      for (const [x, y] of [[w ** 3n % r, values[3]] as const, [12345n, at(12345n)] as const]) {
        const { value, proof } = await prover.open(polynomial, x);
        expect(value).toBe(y);
        expect(prover.engine.lastRun).toMatchObject({ on, ...(on === 'gpu' && { uploadedBytes: 12 }) });
        // e(C − y·G1, G2) = e(π, τ·G2 − x·G2)
        const opened = G1.Point.fromAffine(commitment).subtract(G1.Point.BASE.multiply(value));
        const left = pairing(opened, G2.Point.BASE);
        const right = pairing(G1.Point.fromAffine(proof), tauG2.subtract(G2.Point.BASE.multiply(x)));
        expect(fields.Fp12.eql(left, right)).toBe(true);
      }
      polynomial.destroy();
      prover.fr.trim();
      expect(prover.fr.memory.used).toBe(0);
      prover.close();
    },
  );

  test('bit-reversed points and scalars, of 2^3 elements, have the order of radix-2 FFTs', async () => {
    const { bitReversed } = await recipe('kzg-commit');
    const pairs = Uint8Array.from({ length: 16 }, (_, i) => i);
    const wanted = [0, 4, 2, 6, 1, 5, 3, 7].flatMap((i) => [2 * i, 2 * i + 1]);
    expect([...bitReversed(pairs, 2)]).toEqual(wanted);
    expect(bitReversed(bitReversed(pairs, 2), 2)).toEqual(pairs);
  });

  test('the sums of a Groth16 proof are those of snarkjs', async () => {
    const { circuit, zkey } = await makeStatement('groth16', 'bn254', 6, 'dense');
    const { openStatement } = await recipe('groth16-statement');
    const statement = await openStatement(zkey.data, { backend: 'cpu' });
    const { variables, sections } = (await openZkey(zkey.data)) as Groth16Zkey;
    // the last section of its file
    const values = circuit.witness.slice(-32 * variables);
    const curve = await ffCurveOf('bn254');
    const h = Uint8Array.from({ length: 32 * 64 }, (_, i) => (i % 32 === 31 ? 0 : (i * 7919) % 251));
    const sums = await statement.multiply(values, h);
    for (const name of ['a', 'b1', 'b2', 'c', 'h'] as const) {
      const group = (name === 'b2' ? curve.G2 : curve.G1) as unknown as FfGroup & WrittenGroup;
      const scalars = name === 'h' ? h : name === 'c' ? values.subarray(2 * 32) : values;
      const wanted = group.toObject(group.toAffine(await group.multiExpAffine(await sections[name].points(), scalars)));
      const { x, y } = sums[name];
      const numbers = [x, y].map((each) => (typeof each === 'bigint' ? each : [each.c0, each.c1]));
      expect(numbers, name).toEqual(wanted.slice(0, 2));
    }
    statement.close();
    await curve.terminate();
    await expect(openStatement(new Uint8Array(10))).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('a statement has both groups on one device, as in docs/how-to/your-prover.md', async () => {
    const { zkey } = await makeStatement('groth16', 'bn254', 6, 'dense');
    const leased = await leaseGpu(undefined, { vendor: 'a GPU', architecture: '', device: '', description: '' });
    const { openStatement } = await recipe('groth16-statement');
    const statement = await openStatement(zkey.data, { gpu: leased.gpu });
    expect(leased.devices).toHaveLength(1);
    statement.close();
    writeFileSync(join(folder, 'on-one-device.js'), programOfDocs());
    vi.stubGlobal('navigator', { gpu: leased.gpu });
    await import(/* @vite-ignore */ pathToFileURL(join(folder, 'on-one-device.js')).href);
    vi.unstubAllGlobals();
    expect(leased.devices).toHaveLength(2);
    await (await ffCurveOf('bn254')).terminate();
  });

  test('the program of docs/how-to/your-prover.md proves', async () => {
    writeFileSync(join(folder, 'statement.js'), programOfDocs());
    const { prepare, sumsOf } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'statement.js')).href);
    const { circuit, zkey } = await makeStatement('groth16', 'bn254', 6, 'dense');
    const { variables, sections } = (await openZkey(zkey.data)) as Groth16Zkey;
    const { a, b1, b2 } = sections;
    const given = await Promise.all(
      Object.entries({ a, b1, b2 }).map(async ([name, { group, encoding, points }]) => {
        return [name, { group, encoding, bytes: await points() }] as const;
      }),
    );
    const witness = circuit.witness.slice(-32 * variables);
    const sums = await sumsOf(await prepare(Object.fromEntries(given)), witness);
    const curve = await ffCurveOf('bn254');
    for (const [i, [, { group, bytes }]] of given.entries()) {
      const { multiExpAffine, toAffine } = (group === 'g2' ? curve.G2 : curve.G1) as unknown as FfGroup & WrittenGroup;
      const of = group === 'g2' ? curve.G2 : curve.G1;
      expect(sums[i]).toEqual(toAffine.call(of, await multiExpAffine.call(of, bytes, witness)));
    }
    await curve.terminate();
  });

  test('signatures of ed25519 verify together, and fail if one is wrong', async () => {
    const verifier = await (await recipe('verify-ed25519')).openVerifier();
    const signed = Array.from({ length: 20 }, (_, i) => {
      const { secretKey, publicKey } = ed25519.keygen();
      const message = new TextEncoder().encode(`message ${i}`);
      return { message, publicKey, signature: ed25519.sign(message, secretKey) };
    });
    expect(await verifier.areRight(signed)).toBe(true);
    expect(await verifier.areRight([])).toBe(true);
    const changed = (at: number, change: (bytes: Uint8Array) => void, of: 'message' | 'signature' | 'publicKey') =>
      signed.map((each, i) => {
        const bytes = each[of].slice();
        if (i === at) change(bytes);
        return { ...each, [of]: bytes };
      });
    for (const wrong of [
      changed(7, (bytes) => bytes.set([0x21]), 'message'),
      changed(19, (bytes) => bytes.set([(bytes[40] as number) ^ 1], 40), 'signature'),
      changed(0, (bytes) => bytes.fill(0xff, 32), 'signature'),
      changed(3, (bytes) => bytes.set(signed[4]?.publicKey as Uint8Array), 'publicKey'),
      changed(3, (bytes) => bytes.set([2, ...new Array(31).fill(0)]), 'publicKey'),
    ])
      expect(await verifier.areRight(wrong)).toBe(false);
    verifier.close();
  });

  test('Pedersen commitments on Grumpkin are sums over points with unknown logarithms', async () => {
    const { Point } = oracleOf({ curve: 'grumpkin', group: 'g1' }) as OracleCurve;
    const { openPedersen } = await recipe('pedersen-grumpkin');
    const pedersen = await openPedersen('test', 6);
    const generators = (pedersen.generators as AffinePoint[]).map(({ x, y }) => Point.fromAffine({ x, y }));
    for (const generator of generators) generator.assertValidity();
    expect(new Set(pedersen.generators.map(({ x }: AffinePoint) => x)).size).toBe(7);
    const values = [5n, 0n, 2n ** 250n, 1n, 7n, 9n];
    const wanted = [123456789n, ...values].reduce(
      (sum, value, i) => sum.add((generators[i] as typeof Point.BASE).multiplyUnsafe(value)),
      Point.ZERO,
    );
    expect(await pedersen.commit(values, 123456789n)).toEqual(toAffinePoint(wanted));
    const other = await openPedersen('another domain', 1);
    expect(other.generators[0]).not.toEqual(pedersen.generators[0]);
    other.close();
    pedersen.close();
  });

  test('spans of OpenTelemetry have the outcome and the time of each call', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const { traceCalls } = await recipe('telemetry');
    const onEvent: (event: EngineEvent) => void = traceCalls(provider.getTracer('test'), { 'msm.engine': 'one' });
    const { createMsmEngine } = await import(/* @vite-ignore */ pathToFileURL(join(installed, 'dist/index.js')).href);
    const begun = performance.timeOrigin + performance.now();
    // one is under way at a time, one may wait
    const alone = { maxQueued: { calls: 1 }, sharing: { overlap: false } };
    const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', ...alone, onEvent });
    const { BASE } = (oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve).Point;
    const bases = await engine.loadBases([toAffinePoint(BASE), toAffinePoint(BASE.double())]);
    const calls = [[1n, 2n], [3n, 4n], [5n]].map((scalars) => engine.msm(bases, scalars, { priority: 'interactive' }));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    engine.destroy();
    // the GPU's two, which no call on the CPU has: of an MSM in two parts
    const told = { call: 9, kind: 'msm', priority: 'normal', bytes: 64, ms: null, error: null } as const;
    const events = ['queued', 'started', 'submitted', 'computed', 'submitted', 'computed', 'ended'] as const;
    for (const [i, event] of events.entries()) onEvent({ ...told, event, at: 1000 + i });
    const spans = exporter.getFinishedSpans();
    const said = spans.map(({ name, status, events, attributes }) => ({
      name,
      code: status.code,
      events: events.map((each) => each.name),
      why: attributes['error.type'],
    }));
    const right = { code: SpanStatusCode.UNSET, why: undefined };
    expect(said).toHaveLength(5);
    expect(said).toEqual(
      expect.arrayContaining([
        { ...right, name: 'msm loadBases', events: ['started'] },
        { ...right, name: 'msm msm', events: ['started'] },
        { ...right, name: 'msm msm', events: ['queued', 'started'] },
        { name: 'msm msm', code: SpanStatusCode.ERROR, events: [], why: 'overloaded' },
        { ...right, name: 'msm msm', events: [...events.slice(0, -1)] },
      ]),
    );
    for (const { startTime, endTime, attributes } of spans.slice(0, 4)) {
      const [start, end] = [startTime, endTime].map(([s, ns]) => s * 1e3 + ns / 1e6) as [number, number];
      expect(start).toBeGreaterThanOrEqual(begun - 1);
      expect(end).toBeGreaterThanOrEqual(start);
      expect(end).toBeLessThanOrEqual(performance.timeOrigin + performance.now() + 1);
      expect(attributes).toMatchObject({ 'msm.engine': 'one', 'msm.priority': expect.any(String) });
    }
    const last = spans.at(-1);
    expect(last?.duration).toEqual([0, 6e6]);
    await provider.shutdown();
  });

  test.each([
    ['arkworks', 'arkworks.json', 'ark-compressed'],
    ['gnark', 'gnark.json', 'gnark'],
    ['halo2', 'halo2curves.json', 'le-montgomery'],
  ] as const)('points as %s has them, and sums as it would write them', async (prover, file, encoding) => {
    const { curves } = JSON.parse(readFileSync(inProject(`tests/vectors/${file}`), 'utf8')) as {
      curves: { curve: string; group: string; k: string[]; encodings: Record<string, (string | null)[]> }[];
    };
    const { openMultiplier, encodings } = await recipe('other-provers');
    expect(encodings[prover]).toBe(encoding);
    for (const curve of ['bn254', 'bls12-381']) {
      const vectors = curves.find((each) => each.curve === curve && each.group === 'g1');
      if (vectors === undefined) throw new Error(`no vectors of ${curve}`);
      const written = vectors.encodings[encoding]?.map((hex) => (hex === null ? null : hexToBytes(hex))) ?? [];
      const of = (k: bigint): Uint8Array => written[vectors.k.map(BigInt).indexOf(k)] as Uint8Array;
      const points = Uint8Array.from([1n, 2n, 5n].flatMap((k) => [...of(k)]));
      const multiplier = await openMultiplier(prover, curve, points);
      for (const [scalars, k] of [
        [[1n, 2n, 0n], 5n],
        [[0n, 0n, 1n], 5n],
        [[3n, 2n, 246913578024691357n], 1234567890123456792n],
        [[4n, 0n, 246913578024691357n], 1234567890123456789n],
      ] as const) {
        if (!vectors.k.map(BigInt).includes(k)) continue;
        const bytes = new Uint8Array(96);
        for (const [i, scalar] of scalars.entries()) new DataView(bytes.buffer).setBigUint64(32 * i, scalar, true);
        expect(await multiplier.multiply(bytes)).toEqual(of(k));
      }
      multiplier.close();
    }
  });
});
