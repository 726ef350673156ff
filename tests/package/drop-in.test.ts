/**
 * Published packages that import snarkjs themselves, with the interface of snarkjs by this package in
 * its place: in Node by the overrides of npm, in pages by an alias of Vite. npm installs pinned versions.
 *
 * @module-tag long
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { installProject, packPackage, runProgram } from '../support/packed-package.js';
import { programWith } from '../support/page-programs.js';
import { ffCurveOf } from '../support/proving.js';
import { publishedPackage } from '../support/published-packages.js';
import { saidBy, serveFolder } from '../support/worker-place.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-drop-in-'));
const HOW_TO = 'docs/how-to/snarkjs.md';

const packages = [
  ...['proof', 'group', 'identity'].map((name) => `@semaphore-protocol/${name}@4.14.0`),
  '@zk-kit/eddsa-proof@1.0.0-beta',
];

/** Text that snarkjs has in its prover. */
const ofSnarkjs = 'multiexp B2';

/** The program that proves and verifies by packages: results are in `said`. */
const program = (at: string): string => `
import { Group } from '@semaphore-protocol/group';
import { Identity } from '@semaphore-protocol/identity';
import { generateProof, verifyProof } from '@semaphore-protocol/proof';
const artifacts = (name) => ({ wasm: '${at}' + name + '.wasm', zkey: '${at}' + name + '.zkey' });
const me = new Identity('secret');
const group = new Group([1n, 2n, me.commitment, 4n, 5n]);
const proof = await generateProof(me, group, 'hello', 'vote', 3, artifacts('semaphore-3'));
const said = {
  nullifier: proof.nullifier.length > 70,
  valid: await verifyProof(proof),
  other: await verifyProof({ ...proof, message: '1' }),
};
`;

/** Program that has `@zk-kit/eddsa-proof` prove by the circuit below. Its result is in `made`. */
const eddsaProgram = (at: string): string => `
import { generate, verify } from '@zk-kit/eddsa-proof';
import { unpackGroth16Proof } from '@zk-kit/utils';
const files = { wasm: '${at}eddsa.wasm', zkey: '${at}eddsa.zkey' };
const generated = await generate('secret', 7, files);
const made = { ...generated, proof: unpackGroth16Proof(generated.proof), ofItsKey: await verify(generated) };
`;

/** A proving key of a circuit with the signals of that package, whose artifacts are not in the registry. */
let eddsaKey: Uint8Array;

/** Checks what the package generates; it verifies by the key of its own circuit. */
const expectEddsa = async (made: Readonly<Record<string, unknown>>): Promise<void> => {
  expect(made).toMatchObject({ ofItsKey: false, scope: '7' });
  const publicSignals = [made.commitment as string, hashOfSeven];
  expect(await verifyBySnarkjs('groth16', eddsaKey, { proof: made.proof, publicSignals })).toBe(true);
};

let packed: string;
beforeAll(async () => {
  packed = await packPackage();
  const installed = await publishedPackage('@zk-kit/semaphore-artifacts@4.13.0');
  const artifacts = join(installed, 'node_modules/@zk-kit/semaphore-artifacts');
  mkdirSync(join(folder, 'artifacts'));
  for (const name of ['semaphore-3.wasm', 'semaphore-3.zkey'])
    cpSync(join(artifacts, name), join(folder, 'artifacts', name));
  const { wasm, r1cs } = await compileCircuit(`pragma circom 2.0.0;
    template Stand() { signal input secret; signal input scope; signal output commitment;
      signal square; square <== secret * secret; commitment <== square * scope + secret; }
    component main { public [scope] } = Stand();`);
  eddsaKey = await makeZkey('groth16', 'bn254', r1cs);
  writeFileSync(join(folder, 'artifacts/eddsa.wasm'), wasm);
  writeFileSync(join(folder, 'artifacts/eddsa.zkey'), eddsaKey);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await (await ffCurveOf('bn254')).terminate();
});

const verdicts = { nullifier: true, valid: true, other: false };

describe('in Node, by the overrides of npm', () => {
  const project = join(folder, 'node');
  const run = async (name: string, text: string): Promise<unknown> => {
    writeFileSync(join(project, name), text);
    const lines = await runProgram([process.execPath, name], project, 120_000);
    // beside warnings, such as that of an old Node
    return JSON.parse(/^\{.*\}$/m.exec(lines)?.[0] ?? '');
  };

  beforeAll(async () => {
    const stand = join(project, 'snarkjs-drop-in');
    mkdirSync(stand, { recursive: true });
    writeFileSync(
      join(stand, 'package.json'),
      JSON.stringify({ name: 'snarkjs', version: '0.7.6', type: 'module', exports: './index.js' }),
    );
    writeFileSync(join(stand, 'index.js'), programWith(HOW_TO, '// snarkjs-drop-in/index.js'));
    await installProject(project, [...packages, packed], {
      dependencies: { snarkjs: 'file:./snarkjs-drop-in' },
      overrides: { snarkjs: '$snarkjs' },
    });
  });

  test('the packages find no other snarkjs', () => {
    const folders = readdirSync(project, { recursive: true, encoding: 'utf8' });
    expect(folders.filter((each) => /node_modules\/snarkjs$/.test(each) && !each.includes('@types'))).toEqual([
      'node_modules/snarkjs',
    ]);
    const { resolve } = createRequire(join(project, 'node_modules/@semaphore-protocol/proof/package.json'));
    expect(resolve('snarkjs')).toBe(join(project, 'snarkjs-drop-in/index.js'));
  });

  test('@semaphore-protocol/proof proves and verifies as a module, and the process ends', async () => {
    const at = `${join(folder, 'artifacts')}/`;
    expect(await run('semaphore.mjs', `${program(at)}console.log(JSON.stringify(said));`)).toEqual(verdicts);
  });

  test('@semaphore-protocol/proof proves and verifies where it is required', async () => {
    const at = `${join(folder, 'artifacts')}/`;
    const required = program(at)
      .replaceAll(/import (\{.*\}) from ('.*');/g, 'const $1 = require($2);')
      .replace('const artifacts', '(async () => {\nconst artifacts');
    expect(await run('semaphore.cjs', `${required}console.log(JSON.stringify(said));\n})();`)).toEqual(verdicts);
  });

  test('@semaphore-protocol/proof proves in workers on request, and the process ends', async () => {
    const at = `${join(folder, 'artifacts')}/`;
    const configured = `import { configure } from 'webgpu-msm/snarkjs-drop-in';
      import { Worker } from 'node:worker_threads';
      const posted = new Set();
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (...given) {
        if (given[0]?.say === 'call') posted.add(given[0].call.name);
        return post.apply(this, given);
      };
      await configure({ worker: true });${program(at)}
      console.log(JSON.stringify({ ...said, posted: [...posted] }));`;
    const said = await run('workers.mjs', configured);
    expect(said).toEqual({ ...verdicts, posted: ['program', 'key', 'compute', 'prove'] });
  });

  test('@zk-kit/eddsa-proof proves with a key of a circuit with its signals', async () => {
    const text = eddsaProgram(`${join(folder, 'artifacts')}/`);
    await expectEddsa(
      (await run('eddsa.mjs', `${text}console.log(JSON.stringify(made));`)) as Readonly<Record<string, unknown>>,
    );
  });
});

/** keccak256 of 7 as a word, without its last byte. */
const hashOfSeven = String(0xa66cc928b5edb82af9bd49922954155ab7b0942694bea4ce44661d9a8736c688n >> 8n);

describe('in pages, by an alias of Vite', () => {
  const project = join(folder, 'vite');
  let browser: Awaited<ReturnType<typeof launchChromium>>['browser'];

  beforeAll(async () => {
    await installProject(project, [...packages, packed, 'vite@8.3.8']);
    writeFileSync(join(project, 'vite.config.js'), programWith(HOW_TO, '// vite.config.js'));
    cpSync(join(folder, 'artifacts'), join(project, 'public'), { recursive: true });
    writeFileSync(
      join(project, 'index.html'),
      '<!doctype html><link rel="icon" href="data:,"><output></output><script type="module" src="./main.js"></script>',
    );
    writeFileSync(
      join(project, 'main.js'),
      `${program('/')}${eddsaProgram('/')}
      document.querySelector('output').textContent = JSON.stringify({ said, made });`,
    );
    ({ browser } = await launchChromium('software'));
  });
  afterAll(() => browser?.close());

  /** Checks what both packages prove in a page. */
  const expectProofsAt = async (url: string): Promise<void> => {
    const { outcome, uncaught } = await saidBy(browser, url);
    expect([outcome.said, uncaught]).toEqual([verdicts, []]);
    await expectEddsa(outcome.made as Readonly<Record<string, unknown>>);
  };

  test('both packages prove and verify in a built page, without a line of snarkjs', async () => {
    await runProgram([join(project, 'node_modules/.bin/vite'), 'build'], project, 240_000);
    const assets = join(project, 'dist/assets');
    const text = readdirSync(assets).map((name) => readFileSync(join(assets, name), 'utf8'));
    expect(text.filter((each) => each.includes(ofSnarkjs))).toEqual([]);
    const asked: string[] = [];
    const { server, origin } = await serveFolder(join(project, 'dist'), (path) => {
      asked.push(path);
      return {};
    });
    try {
      await expectProofsAt(`${origin}/index.html`);
      expect(asked.some((path) => path.includes('webgpu-msm-circuit-worker'))).toBe(true);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('and in a page of its development server', async () => {
    const server = await createServer({
      ...{ root: project, configFile: join(project, 'vite.config.js'), logLevel: 'error' },
      server: { host: '127.0.0.1', hmr: false, watch: null },
    });
    try {
      await server.listen();
      const [url = ''] = server.resolvedUrls?.local ?? [];
      await expectProofsAt(url);
    } finally {
      await server.close();
    }
  });
});
