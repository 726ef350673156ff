/** The page examples/ceremony/, in Chromium, with the package as it is built. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { newKey, newPowers, verifyKey, verifyPowers } from '../../src/setup.js';
import { compileCircuit, shapes } from '../support/circom.js';
import { type ExampleServer, serveExample } from '../support/example-server.js';
import { memoryFile, powersOf, snarkjs } from '../support/proving.js';

let server: ExampleServer;
let browser: Browser;
let page: Page;
const faults: string[] = [];
const SECRET = '918273645546372819';

let first: Uint8Array;
let ptau: Uint8Array;

beforeAll(async () => {
  const { r1cs } = await compileCircuit(shapes);
  ptau = await powersOf('bn254', 8, 2 ** 9 - 1, true);
  first = await newKey({ system: 'groth16', r1cs, ptau });
  server = await serveExample('ceremony');
  ({ browser } = await launchChromium('software'));
  page = await browser.newPage({ viewport: { width: 320, height: 700 } });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(server.origin);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const contribute = async (name: string, bytes: Uint8Array, to = page): Promise<void> => {
  const mimeType = 'application/octet-stream';
  await to.getByLabel('File .zkey').setInputFiles({ name, mimeType, buffer: Buffer.from(bytes) });
  await to.getByRole('textbox', { name: 'Name' }).fill('Ada');
  await to.getByLabel('Random text').fill(SECRET);
  await to.getByRole('button', { name: 'Contribute' }).click();
};

/** Returns the file that the page offers, and the hash that it shows. */
const result = async (of = page): Promise<{ bytes: Uint8Array; hash: string; name: string }> => {
  const link = of.getByRole('link', { name: 'Download' });
  await link.waitFor({ timeout: 120_000 });
  const [download] = await Promise.all([of.waitForEvent('download'), link.click()]);
  const bytes = new Uint8Array(readFileSync(await download.path()));
  const hash = await of.getByLabel('Hash, to publish').inputValue();
  return { bytes, hash, name: download.suggestedFilename() };
};

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

test('contributes to a key that snarkjs verifies, and shows its hash', async () => {
  await contribute('first.zkey', first);
  const { bytes, hash, name } = await result();
  expect(name).toBe('first-contributed.zkey');
  const { isValid, contributions } = await verifyKey({ zkey: bytes, initial: first, ptau });
  expect([isValid, contributions.map((each) => each.name)]).toEqual([true, ['Ada']]);
  expect(hash).toBe(hex(contributions[0]?.hash));
  const { zKey } = snarkjs as unknown as {
    readonly zKey: { verifyFromInit(first: object, ptau: object, zkey: object): Promise<boolean> };
  };
  expect(await zKey.verifyFromInit(memoryFile(first), memoryFile(ptau), memoryFile(bytes))).toBe(true);
  expect(Buffer.from(bytes).includes(SECRET)).toBe(false);
  expect(await page.getByLabel('Random text').inputValue()).toBe('');
});

test('contributes to powers of tau', async () => {
  await contribute('pot.ptau', await newPowers({ curve: 'bn254', power: 3 }));
  const { bytes, hash, name } = await result();
  expect(name).toBe('pot-contributed.ptau');
  const { isValid, contributions } = await verifyPowers(bytes);
  expect([isValid, hex(contributions[0]?.hash)]).toEqual([true, hash]);
});

test('contributes in a hidden tab, where timers and frames may stand still', async () => {
  const powers = await newPowers({ curve: 'bn254', power: 11 });
  const hidden = await browser.newPage();
  hidden.on('pageerror', (error) => faults.push(String(error)));
  // a browser without windows hides no page; those that do run timers once a second, or once a minute
  await hidden.addInitScript(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    Object.defineProperty(document, 'hidden', { get: () => true });
    Object.assign(globalThis, { setTimeout: () => 0, setInterval: () => 0, requestAnimationFrame: () => 0 });
  });
  await hidden.goto(server.origin);
  await contribute('pot.ptau', powers, hidden);
  const { bytes, hash } = await result(hidden);
  const { isValid, contributions } = await verifyPowers(bytes);
  expect([isValid, hex(contributions[0]?.hash)]).toEqual([true, hash]);
  await contribute('pot.ptau', await newPowers({ curve: 'bn254', power: 13 }), hidden);
  await hidden.getByRole('button', { name: 'Cancel' }).click();
  await hidden.getByText('Cancelled.').waitFor({ timeout: 30_000 });
  await hidden.close();
});

test('says what is wrong with a file, and is cancelled', async () => {
  const alert = page.getByRole('alert');
  await contribute('other.zkey', first.slice(0, 300));
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/zkey/);
  // takes longer than the click
  await contribute('pot.ptau', await newPowers({ curve: 'bn254', power: 13 }));
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled.').waitFor({ timeout: 30_000 });
  expect(faults).toEqual([]);
});

test('fits a phone, and passes axe', async () => {
  await contribute('first.zkey', first);
  await result();
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } }).axe.run(),
  );
  expect(violations.map(({ id }) => id)).toEqual([]);
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth] as const);
  expect(widths[0]).toBeLessThanOrEqual(widths[1]);
});
