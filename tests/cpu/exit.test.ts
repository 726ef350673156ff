/**
 * A Node process that used the library ends by itself, with its own exit code, and not in the
 * native code of Dawn, which crashes or hangs if its object is collected while it compiles or
 * computes.
 */
import { spawn } from 'node:child_process';
import { bn254 } from '@noble/curves/bn254.js';
import { beforeAll, expect, test } from 'vitest';
import { builtLibrary } from '../support/build-library.js';
import { inProject } from '../support/run-script.js';

let library: string;
beforeAll(async () => {
  library = await builtLibrary();
});

const run = (how: string): Promise<{ code: number | null; signal: string | null; output: string }> =>
  new Promise((resolve, reject) => {
    const script = inProject('tests/support/dropped-gpu.mjs');
    const child = spawn(process.execPath, ['--expose-gc', script, `${library}/index.js`, how], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, output: output.trim() }));
  });

const { x } = bn254.G1.Point.BASE.multiply(6n).toAffine();

const endsWell = async (how: string, output: string): Promise<void> => {
  expect(await run(how)).toEqual({ code: 0, signal: null, output });
};

const title = 'an engine whose Dawn nobody else holds, %s';
test.each([['destroyed at once', 'error destroyed']] as const)(title, endsWell);
test.each([
  ['destroyed afterwards', `result ${x}`],
  ['never destroyed', `result ${x}`],
] as const)(title, { tags: 'long' }, endsWell);

test('an error of the program while the engine works ends the process as usual', async () => {
  const { code, signal, output } = await run('thrown over');
  expect({ code, signal }).toEqual({ code: 1, signal: null });
  expect(output).toContain('Error: of the program');
});
