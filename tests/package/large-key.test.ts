/**
 * A page that opens a key from a file input under a limit of memory, proves twice, is reloaded, and proves from
 * the origin private file system. With `WEBGPU_MSM_LARGE_KEY`, the path of a `.zkey` of Groth16 beside whose
 * name ends in `.wtns` or `.values` its witness is, the page takes that key, and memory has a bound.
 *
 * @module-tag long
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesOfBrowser, openProfile } from '../../scripts/browser/browser-memory.js';
import { buildLibrary } from '../support/build-library.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { serveFolder } from '../support/worker-place.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-large-key-'));

/** The limit of a large key, and the most memory of the whole browser, in bytes. */
const [LIMIT, MOST_BYTES] = [384 * 2 ** 20, 600e6];

/** Time of a visit to the page. */
const VISIT_MS = 30 * 60_000;

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>proofs</title>
<input type="file" id="zkey"><input type="file" id="witness">
<script type="module">
  import { opfsCache } from './dist/formats.js';
  import { openProvingKey } from './dist/groth16.js';
  const cache = opfsCache('keys');
  const fileIn = (id) => document.getElementById(id).files[0];
  // the key of the file input; without one that which the cache has
  window.visit = async (limit, turns) => {
    const [stored] = await cache.list();
    const source = fileIn('zkey') ?? (await cache.open(stored.id));
    const options = { cache, backend: 'cpu', onWarning() {} };
    const refused = await openProvingKey(source, { ...options, memoryLimit: 1 }).catch((error) => error);
    const floor = Number(/takes (\\d+) bytes/.exec(refused.message)[1]);
    const key = await openProvingKey(source, { ...options, memoryLimit: Math.max(floor, limit) });
    const proofs = [];
    for (let turn = 0; turn < turns; turn++) {
      const proof = await key.prove(fileIn('witness'));
      proofs.push({ ...proof, isValid: await key.verify(proof.proof, proof.publicSignals) });
    }
    const { memory } = key;
    key.destroy();
    return { proofs, floor, memory, isKept: stored !== undefined, isShared: crossOriginIsolated };
  };
</script>`;

/** A key and a witness as files, and how the small key's proofs are verified. */
interface Files {
  readonly zkey: string;
  readonly witness: string;
  readonly statement: Statement | null;
}

const makeFiles = async (): Promise<Files> => {
  const zkey = process.env.WEBGPU_MSM_LARGE_KEY;
  if (zkey !== undefined) {
    const stem = zkey.replace(/\.zkey$/, '');
    const witness = [`${stem}.wtns`, `${stem}.values`].find((path) => existsSync(path));
    if (witness === undefined) throw new Error(`${stem}.wtns and ${stem}.values are missing`);
    return { zkey, witness, statement: null };
  }
  const statement = await makeStatement('groth16', 'bn254', 11, 'dense');
  const made = { zkey: join(folder, 'small.zkey'), witness: join(folder, 'small.wtns'), statement };
  writeFileSync(made.zkey, statement.zkey.data);
  writeFileSync(made.witness, statement.circuit.witness);
  return made;
};

let files: Files;
let origin: string;
let end: () => void;
beforeAll(async () => {
  files = await makeFiles();
  mkdirSync(join(folder, 'site'));
  await buildLibrary(join(folder, 'site/dist'));
  writeFileSync(join(folder, 'site/index.html'), PAGE);
  const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  const served = await serveFolder(join(folder, 'site'), () => isolated);
  ({ origin } = served);
  end = () => {
    served.server.closeAllConnections();
    served.server.close();
  };
});
afterAll(async () => {
  end();
  await (await ffCurveOf('bn254')).terminate();
  rmSync(folder, { recursive: true, force: true });
});

/** What a visit says. */
interface Visit {
  readonly proofs: readonly { readonly proof: unknown; readonly publicSignals: string[]; readonly isValid: boolean }[];
  readonly floor: number;
  readonly memory: { readonly points: number; readonly pagedPoints: number; readonly leastLimit: number };
  readonly isKept: boolean;
  readonly isShared: boolean;
}

test(
  'a key from a file input proves twice, and again from the cache after a reload',
  async ({ annotate }) => {
    const { zkey, witness, statement } = files;
    const profile = join(folder, 'profile');
    const context = await openProfile(profile);
    let most = 0;
    const timer =
      process.platform === 'linux' && statement === null
        ? setInterval(() => {
            most = Math.max(most, bytesOfBrowser(profile));
          }, 250)
        : undefined;
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(VISIT_MS);
      const visit = async (turns: number): Promise<Visit> => {
        const limit = statement === null ? LIMIT : 1;
        const said = await page.evaluate(
          ([most, times]) => (globalThis as never as { visit(...given: unknown[]): Promise<Visit> }).visit(most, times),
          [limit, turns] as const,
        );
        expect(said.memory.leastLimit).toBe(said.floor);
        expect(said.isShared).toBe(true);
        for (const each of said.proofs) {
          // a key that was made long by repetition has no valid proofs
          if (statement !== null) expect([each.isValid, await statement.verify(each)]).toEqual([true, true]);
        }
        const { points, pagedPoints } = said.memory;
        await annotate(`floor ${said.floor}, points ${points} and paged ${pagedPoints}, browser at most ${most} bytes`);
        return said;
      };
      await page.goto(`${origin}/index.html`);
      await page.setInputFiles('#zkey', zkey);
      await page.setInputFiles('#witness', witness);
      const first = await visit(2);
      expect(first).toMatchObject({ isKept: false, proofs: { length: 2 } });
      await page.reload();
      await page.setInputFiles('#witness', witness);
      const second = await visit(1);
      expect(second).toMatchObject({ isKept: true, proofs: { length: 1 } });
      expect(second.proofs[0]?.publicSignals).toEqual(first.proofs[0]?.publicSignals);
      if (timer !== undefined) expect(most).toBeLessThan(MOST_BYTES);
    } finally {
      clearInterval(timer);
      await context.close();
    }
  },
  3 * VISIT_MS,
);
