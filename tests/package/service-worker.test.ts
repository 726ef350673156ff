/**
 * The built package in service workers of Chromium, which forbid `import()`: its one file as it is,
 * and in what Vite makes of a program. Sums are compared with noble, proofs verified by snarkjs.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bls12381Oracle } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import { bn254G1, encodeScalars, expectedMsm, makeKnownBases } from '../../dev/oracle/known-bases.js';
import { launchChromium } from '../../scripts/browser/launch.js';
import { buildLibrary } from '../support/build-library.js';
import { sections } from '../support/failure-table.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { inProject } from '../support/run-script.js';
import { saidBy, serveFolder } from '../support/worker-place.js';

const systems = ['groth16', 'plonk'] as const;
const scalars = [11n, 2n ** 200n + 1n, 13n];
const curves = [
  { curve: 'bn254', oracle: bn254G1, encoding: 'le', known: makeKnownBases(bn254G1, 3, 51) },
  // loads the other curves, and the other encodings
  { curve: 'bls12-381', oracle: bls12381Oracle, encoding: 'be', known: makeKnownBases(bls12381Oracle, 3, 52) },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-service-worker-'));
const statements = new Map<string, Statement>();
let server: Server;
let origin: string;
let browser: Browser;

const asModule = (bytes: Uint8Array): string =>
  `Uint8Array.from(atob('${Buffer.from(bytes).toString('base64')}'), (letter) => letter.charCodeAt(0))`;

const writeCase = async (): Promise<void> => {
  for (const system of systems) statements.set(system, await makeStatement(system, 'bn254', 6, 'dense'));
  const points = curves.map(
    ({ curve, oracle, encoding, known }) => `'${curve}': ${asModule(pointsIn(oracle, known.points, encoding))}`,
  );
  const keys = [...statements].map(
    ([system, { zkey, circuit }]) =>
      `${system}: { zkey: ${asModule(zkey.data)}, witness: ${asModule(circuit.witness)} }`,
  );
  const lines = [
    `export const points = { ${points} };`,
    `export const scalars = ${asModule(encodeScalars(bn254G1, scalars))};`,
    `export const sums = ${JSON.stringify(curves.map(({ curve, encoding }) => ({ options: { curve, backend: 'cpu' }, encoding })))};`,
    `export const proofs = ${JSON.stringify(systems)};`,
    `export const key = { ${keys} };`,
  ];
  writeFileSync(join(folder, 'case.js'), lines.join('\n'));
};

beforeAll(async () => {
  const installed = join(folder, 'node_modules/webgpu-msm');
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  cpSync(inProject('tests/package/service-workers'), folder, { recursive: true });
  await writeCase();
  ({ server, origin } = await serveFolder(folder));
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  await (await ffCurveOf('bn254')).terminate();
  rmSync(folder, { recursive: true, force: true });
});

type Proof = Parameters<Statement['verify']>[0];

/** Answer of a service worker. */
interface Computed {
  readonly scope: string;
  readonly sums: readonly unknown[];
  readonly proofs: Readonly<Record<string, Proof>>;
}

const isRight = async (script: string): Promise<void> => {
  const { outcome, uncaught } = await saidBy(browser, `${origin}/page.html?script=${script}`);
  expect(uncaught).toEqual([]);
  expect(outcome).not.toHaveProperty('error');
  const { scope, sums, proofs } = outcome as unknown as Computed;
  expect(scope).toBe('ServiceWorkerGlobalScope');
  expect(sums).toEqual(
    curves.map(({ curve, oracle, known }) => {
      const { x, y } = expectedMsm(oracle, known.logs, scalars);
      return [curve, 'cpu', String(x), String(y)];
    }),
  );
  for (const [system, { verify }] of statements) expect(await verify(proofs[system] as Proof), system).toBe(true);
};

it('computes in a service worker without a bundler', () => isRight('/plain.js'));

it('computes in a service worker that Vite built', { tags: 'long' }, async () => {
  await build({
    configFile: false,
    root: folder,
    build: {
      outDir: '.',
      emptyOutDir: false,
      lib: { entry: 'bundled.js', formats: ['es'], fileName: () => 'built.js' },
    },
    logLevel: 'error',
  });
  await isRight('/built.js');
});

it('says in a service worker which module it needs instead of the main one', async () => {
  const { outcome } = await saidBy(browser, `${origin}/page.html?script=/ordinary.js`);
  expect(outcome).toEqual({
    error: `cpu-backend.js of the package could not be loaded; ${sections.serviceWorkers.rows.imports.says}`,
  });
});
