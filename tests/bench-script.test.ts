/** `npm run bench`: the modes of the page in Node, on what vite builds for it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modeNames } from '../dev/bench/modes.js';
import type { StampedRow } from '../dev/bench/rows.js';
import { inProject, runScript } from './support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-bench-'));
const bench = (...args: string[]) => runScript('scripts/bench.mjs', args, 110_000);

beforeAll(async () => {
  await build({ configFile: inProject('vite.bench.config.ts'), root: inProject('.') });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run bench', () => {
  it('sweeps sizes and a knob, prints a table, and writes every row as the page posts them', async () => {
    const [json, csv] = [join(folder, 'rows.json'), join(folder, 'rows.csv')];
    const { code, stdout, stderr } = await bench(
      ...['--autorun', 'sweep', '--logn', '4..5', '--walkerpriv', '0,1', '--reps', '2'],
      ...['--json', json, '--csv', csv],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^adapter: .*, (software|hardware); Node v20/);
    for (const line of [/2⁴ +walkerpriv=0 .*right/, /2⁵ +walkerpriv=1 .*right/]) expect(stdout).toMatch(line);
    const rows = JSON.parse(readFileSync(json, 'utf8')) as StampedRow[];
    expect(rows[0]).toMatchObject({ event: 'init', mode: 'sweep', settings: ['walkerpriv=0', 'walkerpriv=1'] });
    expect(rows.at(-1)).toMatchObject({ event: 'end', status: 'done' });
    const placements = rows.flatMap((row) => (row.event === 'repetition' ? [row.placement] : []));
    // in turns, and who begins changes
    const turns = ['workgroup', 'private', 'private', 'workgroup'];
    expect(placements).toEqual([...turns, ...turns]);
    expect(readFileSync(csv, 'utf8').split('\r\n')[0]).toContain('wallMs');
  });

  it('traces into a file for Perfetto', async () => {
    const trace = join(folder, 'trace.json');
    const { code, stdout } = await bench('--autorun', 'msm-trace', '--logn', '4', '--reps', '1', '--trace', trace);
    expect(code).toBe(0);
    expect(stdout).toContain('walk');
    expect(JSON.parse(readFileSync(trace, 'utf8')).traceEvents.length).toBeGreaterThan(6);
  });

  it('compares A and B, and says how sure it is', async () => {
    const { code, stdout } = await bench(...'--autorun accum-ab --logn 4 --reps 2 --a.c 4 --b.c 8'.split(' '));
    expect(code).toBe(0);
    expect(stdout).toContain('2⁴, A: c=4, B: c=8');
    expect(stdout).toContain('Too few pairs');
  });

  it('cross-checks', async () => {
    const { code, stdout } = await bench(
      ...['--autorun', 'msm-cross-check', '--n', '9', '--reps', '1'],
      ...['--case', 'points=pairs,scalars=random', '--case', 'points=distinct,scalars=all-equal'],
    );
    expect(code).toBe(0);
    expect(stdout).toContain('4 of 4 checks passed');
  });

  it.each([
    [['--walkerprv', '1'], '--walkerprv'],
    [['--c', '99'], '--c: "99"'],
    [['--autorun', 'race'], '--autorun: "race"'],
    [['--autorun', 'field-bench', '--logn', '4'], '--logn: means nothing to autorun=field-bench'],
    [['--adapter', 'abacus'], 'abacus'],
    [['--json', '/no/such/folder/x.json'], '--json: there is no folder'],
    [['--trace', 'x.json'], '--trace'],
  ])('refuses %j by name, with code 2', async (args, named) => {
    const { code, stdout, stderr } = await bench(...args);
    expect(code).toBe(2);
    expect(stderr.split('\n')[0]).toContain(named);
    expect(stdout).toBe('');
  });

  it('has help with every mode and knob', async () => {
    const { code, stdout } = await bench('--help');
    expect(code).toBe(0);
    for (const mode of modeNames) expect(stdout).toContain(mode);
    for (const knob of ['--logn', '--walkerpriv', '--submitadds', '--precompute']) expect(stdout).toContain(knob);
  });
});
