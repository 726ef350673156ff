/** The programs of examples/farm/, as a user starts and stops them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { backend, share, whole } from '../../examples/farm/arguments.js';
import { until, useFarmProject } from '../support/farm.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';
import { runNode } from '../support/run-script.js';

test('arguments are valid, or rejected', () => {
  const read = (argument: { read: (text: string) => unknown }, ...texts: string[]) => texts.map(argument.read);
  expect(read(whole(1, 2), '1', '65536')).toEqual([1, 65_536]);
  expect(read(whole(1, 2), '0', '-1', '1.5', '1e3', 'abc', '', ' 1', '9'.repeat(20))).toEqual(Array(8).fill(undefined));
  expect(read(share(0), '0', '0.0625', '.5', '1', '1.0')).toEqual([0, 0.0625, 0.5, 1, 1]);
  expect(read(share(0), '1.1', '-0.1', '1/16', 'x', '')).toEqual(Array(5).fill(undefined));
  expect(read(backend, 'cpu', 'foo', '')).toEqual(['cpu', undefined, undefined]);
});

describe('the program', { tags: 'long' }, () => {
  afterAll(async () => (await ffCurveOf('bn254')).terminate());
  const project = useFarmProject();

  /**
   * A folder for temporary files. As root, PostgreSQL runs as another user, who has to get there.
   */
  const makeTemporary = () => {
    const own = mkdtempSync(join(project, 'tmp-'));
    chmodSync(project, 0o755);
    chmodSync(own, 0o755);
    return own;
  };
  const inside = (own: string) => readdirSync(own).flatMap((name) => readdirSync(join(own, name)));
  const options = (own: string) => ({ cwd: project, env: { ...process.env, TMPDIR: own }, timeout: 120_000 });
  const small = ['farm/main.js', '--n', '200', '--backend', 'cpu', '--max-workers', '0'];

  test('shows the whole farm, and leaves nothing behind', async () => {
    const own = makeTemporary();
    const { code, stdout, stderr } = await runNode(
      ['farm/main.js', '--n', '2000', '--statements', '2', '--backend', 'cpu', '--max-workers', '0', '--audit', '1'],
      options(own),
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(
      stdout.match(/2000 points in 8 ranges, right.* 8 ranges computed once more .*worker-\d \(cpu\)/g),
    ).toHaveLength(2);
    expect(readdirSync(own)).toEqual([]);
  });

  test('proves with a key and witnesses, and prints the proofs', async () => {
    const own = makeTemporary();
    const statement = await makeStatement('groth16', 'bn254', 4, 'dense');
    const [zkey, witness] = [join(project, 'circuit.zkey'), join(project, 'witness.wtns')];
    writeFileSync(zkey, statement.zkey.data);
    writeFileSync(witness, statement.circuit.witness);
    const { code, stdout, stderr } = await runNode(
      [...small, '--zkey', zkey, '--witness', `${witness},${witness}`],
      options(own),
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const proofs = stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(proofs.length).toBe(2);
    for (const proof of proofs) expect(await statement.verify(JSON.parse(proof))).toBe(true);
    expect(readdirSync(own)).toEqual([]);
  });

  test.each([
    ['while the database is made', /^pg-password-/, /starting PostgreSQL/],
    ['between statements', /^bases.bin$/, /statement 1: .*right/],
  ])('interrupted %s, it leaves nothing behind', async (_, left, when) => {
    const own = makeTemporary();
    const program = spawn(process.execPath, [...small, '--statements', '1000'], options(own));
    let said = '';
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (data) => (said += data));
    await until('it has something to leave', () => when.test(said) && inside(own).some((name) => left.test(name)));
    program.kill('SIGINT');
    expect(await once(program, 'close')).toEqual([130, null]);
    expect(said).not.toMatch(/Error|waiting|lost|trouble/);
    expect(readdirSync(own)).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)('as root, names the folder that PostgreSQL cannot read', async () => {
    const own = makeTemporary();
    chmodSync(own, 0o700);
    const { code, stderr } = await runNode(small, options(own));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^PostgreSQL runs as the user postgres, who may not enter \S+\/tmp-\w+\. .*\n$/);
    expect(readdirSync(own)).toEqual([]);
  });

  test('reports a wrong argument in one line', async () => {
    const wrong = [
      ['farm/main.js', '--n', '0'],
      ['farm/main.js', '--statements', 'abc'],
      ['farm/main.js', '--what'],
      ['farm/main.js', '--zkey', 'circuit.zkey'],
      ['farm/worker-process.js', '--shard', 'x'],
      ['farm/worker-process.js'],
    ];
    const outcomes = await Promise.all(wrong.map((args) => runNode(args, options(project))));
    for (const { code, stderr } of outcomes) {
      expect(code).toBe(2);
      expect(stderr).toMatch(/^(--n|--statements|Unknown option '--what'|--zkey|--shard|FARM_DATABASE)[. ].*\n$/);
    }
    const help = await runNode(['farm/main.js', '--help'], options(project));
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/--workers.*FARM_DATABASE/s) });
  });
});
