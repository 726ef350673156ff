/** The page examples/prover/, in Chromium, with the package as it is built. */
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { build, createServer, preview, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { installPacked } from '../support/install-packed.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';
import { inProject, runNode } from '../support/run-script.js';

let server: ViteDevServer;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  // A build of its own, as `npm test` must neither need dist/ nor change it.
  const outDir = inProject('node_modules/.cache/webgpu-msm/built-for-prover');
  await build({ configFile: inProject('vite.lib.config.ts'), build: { outDir }, logLevel: 'error' });
  server = await createServer({
    configFile: inProject('examples/prover/vite.config.ts'),
    root: inProject('examples/prover'),
    cacheDir: inProject('node_modules/.vite-prover'),
    resolve: {
      alias: [
        { find: /^webgpu-msm$/, replacement: `${outDir}/index.js` },
        { find: /^webgpu-msm\/(.+)$/, replacement: `${outDir}/$1.js` },
      ],
    },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null, fs: { allow: [inProject('.')] } },
    logLevel: 'error',
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  origin = `http://127.0.0.1:${address.port}/`;
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the page; what goes wrong in it fails the test. */
const open = async (query: string): Promise<{ page: Page; faults: string[] }> => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(`${origin}${query}`);
  return { page, faults };
};

const numbersIn = async (page: Page, selector: string): Promise<number[]> =>
  (await page.locator(selector).allTextContents()).map((text) => Number(text.replaceAll(',', '')));

/** Presses the button, and waits for both proofs. */
const prove = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Prove' }).click();
  await page.getByRole('heading', { name: 'Both proofs verify.' }).waitFor({ timeout: 300_000 });
};

describe('the prover in a separate project', { tags: 'long' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-prover-'));
  const inFolder = (path: string): string => join(folder, path);

  /** Makes the folder that `npm install webgpu-msm snarkjs vite` would make. */
  beforeAll(async () => {
    await installPacked(folder);
    expect(readdirSync(inFolder('node_modules/webgpu-msm')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
    for (const name of ['snarkjs', 'vite'])
      symlinkSync(inProject(`node_modules/${name}`), inFolder(`node_modules/${name}`));
    cpSync(inProject('examples/prover'), inFolder('page'), { recursive: true });
    writeFileSync(inFolder('package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a script of Node proves', async () => {
    const { circuit, zkey } = await makeStatement('groth16', 'bn254', 8, 'dense');
    await (await ffCurveOf('bn254')).terminate();
    writeFileSync(inFolder('circuit.zkey'), zkey.data);
    writeFileSync(inFolder('witness.wtns'), circuit.witness);
    writeFileSync(
      inFolder('prove.js'),
      `import * as snarkjs from 'snarkjs';
import { accelerate } from 'webgpu-msm/snarkjs';

const restore = await accelerate(snarkjs);
const { proof, publicSignals } = await snarkjs.groth16.prove('circuit.zkey', 'witness.wtns');
const key = await snarkjs.zKey.exportVerificationKey('circuit.zkey');
console.log(await snarkjs.groth16.verify(key, publicSignals, proof), accelerate.stats.calls, accelerate.stats.fallbacks);
restore();
await (await snarkjs.curves.getCurveFromName('bn128')).terminate();
`,
    );
    const { code, stdout, stderr } = await runNode(['prove.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout.trim()], stderr).toEqual([0, 'true 5 0']);
  });

  test('a page built with vite proves', async () => {
    await build({ root: inFolder('page'), configFile: inFolder('page/vite.config.ts'), logLevel: 'error' });
    const served = await preview({
      root: inFolder('page'),
      configFile: false,
      preview: { host: '127.0.0.1', port: 0 },
      logLevel: 'error',
    });
    try {
      const page = await browser.newPage();
      await page.goto(`${served.resolvedUrls?.local[0]}?logn=8&backend=cpu`);
      await prove(page);
      expect(await page.locator('#where').textContent()).toBe('webgpu-msm may compute on the CPU.');
      await page.close();
    } finally {
      await served.close();
    }
  });
});

describe('the page of the prover', () => {
  test.each([
    ['groth16', 253, ['scalars of H', 'MSM A', 'MSM B1', 'MSM B2', 'MSM C', 'MSM H, assembly']],
    ['plonk', 253, ['round 1', 'round 2', 'round 3', 'round 4', 'round 5']],
    ['fflonk', 253, ['round 1', 'round 2', 'round 3', 'round 4', 'round 5']],
  ] as const)(
    'proves %s with snarkjs and with the package, and shows the time of each stage',
    {
      tags: 'long',
    },
    async (system, constraints, stageNames) => {
      const { page, faults } = await open(`?system=${system}&logn=8&backend=cpu`);
      expect(await page.getByLabel('Domain').inputValue()).toBe('8');
      expect(await page.getByLabel('Proof system').inputValue()).toBe(system);
      await prove(page);
      expect(await page.locator('#where').textContent()).toBe('webgpu-msm may compute on the CPU.');
      expect(await page.locator('#adapter').textContent()).toBe('WebGPU is not available here, or was not asked for.');
      expect(await page.locator('caption').textContent()).toBe(
        `${constraints} constraints; medians of 5 interleaved pairs of proofs, with their range`,
      );
      const ratios = await page.locator('#spread').textContent();
      const told = /^webgpu-msm ÷ snarkjs, in 5 pairs: (\d+\.\d\d) to (\d+\.\d\d), median (\d+\.\d\d)\.$/;
      expect(ratios).toMatch(told);
      const [, least, most, middle] = told.exec(ratios ?? '') ?? [];
      // a busy machine may turn a pair round, and then there is no verdict
      const heading = await page.getByRole('heading', { level: 2 }).textContent();
      const [, factor, way] =
        /^Both proofs verify\. webgpu-msm is (\d+\.\d) × (faster|slower)\.$/.exec(heading ?? '') ?? [];
      if (factor !== undefined) {
        const ratio = way === 'faster' ? 1 / Number(factor) : Number(factor);
        // both are rounded
        expect(Math.abs(Number(middle) / ratio - 1)).toBeLessThan(0.005 / Number(middle) + 0.05 / Number(factor));
      } else {
        expect(heading).toBe('Both proofs verify. These pairs do not tell which is faster.');
      }
      // where a ratio rounds to 1.00 it may be either
      if (least !== '1.00' && most !== '1.00') expect(factor !== undefined).toBe(Number(least) > 1 || Number(most) < 1);
      expect(await page.locator('tbody th').allTextContents()).toEqual([...stageNames, 'proof', 'first proof']);
      for (const kind of ['plain', 'ours']) {
        const ms = await numbersIn(page, `.line.${kind} .ms`);
        expect(ms).toHaveLength(stageNames.length + 2);
        // clocks of pages may tick every 0.1 ms
        expect(ms.every((each) => each >= 0)).toBe(true);
        expect(ms.at(-2)).toBeGreaterThan(0);
        expect(ms.at(-2)).toBeGreaterThanOrEqual(Math.max(...ms.slice(0, -2)));
        // the median lies in what is told of the spread; the first proof is one, and has none
        const spreads = await page.locator(`.line.${kind} .spread`).allTextContents();
        expect(spreads.at(-1)).toBe('');
        for (const [i, spread] of spreads.slice(0, -1).entries()) {
          const [least, most] =
            spread === '' ? [ms[i], ms[i]] : spread.split(' – ').map((text) => Number(text.replaceAll(',', '')));
          expect(least).toBeLessThanOrEqual(ms[i] as number);
          expect(most).toBeGreaterThanOrEqual(ms[i] as number);
        }
      }
      // once more, with the keys that there are
      const stages = page.evaluate(
        () =>
          new Promise<string[]>((resolve) => {
            const seen: string[] = [];
            const [stage, result] = ['stage', 'result'].map((id) => document.getElementById(id)) as unknown as [
              Element,
              Element,
            ];
            new MutationObserver(() => seen.push(stage.textContent)).observe(stage, { childList: true });
            const done = () => result.hasAttribute('hidden') || resolve(seen);
            new MutationObserver(done).observe(result, { attributes: true });
          }),
      );
      await prove(page);
      // in turns, and who begins changes
      const [plain, ours] = ['snarkjs alone', 'webgpu-msm alone'];
      expect((await stages).filter((stage) => stage.startsWith('Pair'))).toEqual(
        [1, 2, 3, 4, 5].flatMap((pair) =>
          (pair % 2 === 1 ? [plain, ours] : [ours, plain]).map((side) => `Pair ${pair} of 5: ${side}`),
        ),
      );
      expect((await stages).filter((stage) => stage.startsWith('Making'))).toEqual([]);
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test('stops on cancel, and starts again', { tags: 'long' }, async () => {
    const { page, faults } = await open('?logn=14&backend=cpu');
    const [begin, cancel] = ['Prove', 'Cancel'].map((name) => page.getByRole('button', { name })) as [
      ReturnType<Page['getByRole']>,
      ReturnType<Page['getByRole']>,
    ];
    expect(await cancel.isDisabled()).toBe(true);
    await begin.click();
    await page.getByText('Making the keys').waitFor();
    await page.waitForFunction(() => (document.querySelector('progress')?.value ?? 0) > 0.02);
    expect(await begin.isDisabled()).toBe(true);
    await cancel.click();
    await page.getByText('Cancelled.').waitFor();
    expect([await begin.isEnabled(), await cancel.isDisabled()]).toEqual([true, true]);
    await expect.poll(() => page.workers().length, { timeout: 20_000 }).toBe(0);
    await page.getByLabel('Domain').selectOption('8');
    await prove(page);
    expect(await page.getByText('Cancelled.').isVisible()).toBe(false);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('shows the name of a software adapter in red, on a phone', { tags: 'long' }, async () => {
    const { page, faults } = await open('?logn=8&backend=gpu');
    await page.setViewportSize({ width: 360, height: 740 });
    await prove(page);
    expect(await page.locator('p:has(#where)').textContent()).toMatch(
      /^webgpu-msm may compute on the GPU\. Adapter: .+ It is a software GPU, so times/,
    );
    const color = (of: string) => page.locator(of).evaluate((element) => getComputedStyle(element).color);
    expect(await color('#adapter')).toBe('rgb(179, 38, 30)');
    for (const other of ['#verdict', '#where']) expect(await color(other)).not.toBe(await color('#adapter'));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(faults).toEqual([]);
    await page.close();
  });
});
