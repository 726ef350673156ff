/**
 * The library in Node under both of vitest's pools: this file runs in a process, and from there
 * once more in a worker thread.
 */
import { spawnSync } from 'node:child_process';
import { isMainThread } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import { openEngine } from '../support/engines.js';
import { inProject } from '../support/run-script.js';

test(`an MSM in ${isMainThread ? 'a process' : 'a worker thread'}`, async () => {
  const { logs, bytes } = makeKnownBases(bn254G1, 64, 33);
  const scalars = makeRandomScalars(bn254G1, 64, 34);
  const engine = await openEngine();
  const bases = await engine.loadBases(bytes);
  expect(await engine.msm(bases, scalars)).toEqual(expectedMsm(bn254G1, logs, scalars));
});

if (isMainThread) {
  test('this file passes in the other pool, `threads`', { tags: 'long' }, () => {
    // what vitest tells its workers is not meant for another vitest
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      [
        inProject('node_modules/vitest/vitest.mjs'),
        'run',
        '--pool',
        'threads',
        '--reporter',
        'json',
        'tests/engine/pools.test.ts',
      ],
      { cwd: inProject('.'), env, encoding: 'utf8', timeout: 90_000, killSignal: 'SIGKILL' },
    );
    const said = `${stdout}\n${stderr}`;
    // a crash on the way out is a failure too
    expect({ status, signal }, said).toEqual({ status: 0, signal: null });
    const results = JSON.parse(stdout.slice(stdout.indexOf('{')));
    const titles = results.testResults.flatMap((file: { assertionResults: { title: string; status: string }[] }) =>
      file.assertionResults.map(({ title, status }) => [title, status]),
    );
    expect(titles).toEqual([['an MSM in a worker thread', 'passed']]);
  });
}
