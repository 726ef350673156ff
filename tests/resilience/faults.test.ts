/**
 * Campaign of `npm run stress -- faults`: its faults have an effect, it detects them, and a short
 * campaign runs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { mutate } from '../../dev/faults/data-faults.js';
import { modeNames } from '../../dev/faults/modes.js';
import { RecordingDevice } from '../../dev/faults/recording-device.js';
import { cells, judge, Tally } from '../../dev/faults/tally.js';
import { drawTrial, faultNames, namedTrials, type Report, runTrial, type Trial } from '../../dev/faults/trial.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { getDevice } from '../support/gpu.js';
import { runScript } from '../support/run-script.js';

let device: RecordingDevice;
beforeAll(async () => {
  device = new RecordingDevice(await getDevice());
});

const trialOf = (fault: string, more: Partial<Trial> = {}): Trial => ({
  ...{ name: 'test', mode: 'default', fault, n: 8, seed: 3, broken: false },
  ...more,
});

test('the same seed draws the same trials, with every fault in every mode', () => {
  const seen = new Set<string>();
  for (let index = 0; index < 40_000; index++) {
    const trial = drawTrial(2, index);
    if (index < 100) expect(drawTrial(2, index)).toEqual(trial);
    seen.add(`${trial.fault} ${trial.mode}`);
  }
  expect(seen.size).toBe(faultNames.length * modeNames.length);
});

/** The walk takes seconds to compile. */
const quick: Readonly<Record<string, Partial<Trial>>> = {
  'one constant changed: pipeline': { label: 'sort_count' },
  // of calls in one submit none is waited for
  ...Object.fromEntries(
    faultNames.filter((name) => name.endsWith('onSubmittedWorkDone')).map((name) => [name, { mode: 'submits', n: 60 }]),
  ),
};

test.each(faultNames)('the fault %s has an effect', async (fault) => {
  const { outcome, where } = await runTrial(device, trialOf(fault, quick[fault]));
  expect(outcome, where).not.toBe('none');
  if (/^(slow|settles)/.test(fault)) expect(outcome).toBe('harmless');
  if (fault.startsWith('never settles')) expect(outcome).toBe('found');
});

describe('the campaign detects a fault that must show', () => {
  // of each the label that is struck, in a call that nothing else makes right
  const telling: readonly [string, string][] = [
    ['did not happen: submit', 'submit'],
    ['did not happen: pass', 'walk'],
    ['did not happen: dispatch', 'partition_stream'],
    ['did not happen: copy', 'result'],
    ['did not happen: write', 'scalars'],
    ['did not happen: map', 'read-back'],
    ['of another call: write', 'scalars'],
    ['late: submit', 'submit'],
    ['a bit flipped: in an upload', 'scalars'],
    ['a bit flipped: in mapped data', 'read-back'],
  ];
  test.each(telling)('%s of %s', async (fault, label) => {
    const { outcome } = await runTrial(device, trialOf(fault, { label }));
    expect(outcome).toBeOneOf(['found', 'retried', 'wrong']);
  });
});

describe('an attack that was found gives a right result or an error', () => {
  test.each(Object.values(namedTrials).filter(({ name }) => name !== 'lost-scan'))('$name', async (trial) => {
    const { outcome, where } = await runTrial(device, trial);
    // a load that was done again and refuses what it should has nothing to say so with
    expect(outcome, where).toBeOneOf(['found', 'retried', ...(trial.mode === 'load' ? ['harmless'] : [])]);
  });

  // in a process of its own, as it never ended
  test('lost-scan gives a right result or an error', { tags: 'long' }, async () => {
    const { code, stdout } = await runScript('scripts/stress.mjs', ['faults', '--trial', 'lost-scan'], 110_000);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^trial lost-scan: .*: (found|retried);/);
  });
});

describe('a command of vectors gives right numbers or an error', () => {
  const kinds = ['did not happen', 'of another call', 'done twice', 'late']
    .flatMap((how) => ['submit', 'dispatch', 'write', 'copy'].map((what) => `${how}: ${what}`))
    // the vectors of an earlier submit are destroyed
    .filter((fault) => fault !== 'of another call: submit');
  test.each(kinds)('that was struck: %s', { tags: 'long' }, async (fault) => {
    const { outcome, where } = await runTrial(device, trialOf(fault, { mode: 'vectors', n: 33 }));
    expect(outcome, where).toBeOneOf(['found', 'retried', 'harmless']);
  });

  // an earlier read had a shorter vector, and the digest is that of the longer one
  test.each(['of another call: copy', 'a bit flipped: in mapped data'])(
    'that the host reads: %s',
    { tags: 'long' },
    async (fault) => {
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
        const { outcome, where } = await runTrial(device, trialOf(fault, { mode: 'vectors', n: 33, seed }));
        expect(outcome, where).toBeOneOf(['retried', 'harmless']);
      }
    },
  );

  test('that was lost', async () => {
    const { outcome, where } = await runTrial(
      device,
      trialOf('did not happen: dispatch', { mode: 'vectors', label: 'invert' }),
    );
    expect(outcome, where).toBeOneOf(['found', 'retried']);
  });
});

test('a changed shader differs in one place', () => {
  const source = 'fn f(i: u32) -> u32 {\n  for (var j = 0u; j < 5u; j++) {\n    a[i] = b[j] + 3u; // 7\n  }\n}\n';
  const changes = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const mutant = mutate(new Random(seed), source);
    changes.add(mutant.change);
    expect(mutant.source.split('\n').filter((line, i) => line !== source.split('\n')[i])).toHaveLength(1);
  }
  expect([...changes].every((change) => /^3: (3u|\+) → /.test(change))).toBe(true);
});

test('the tally counts by fault and mode, and lists missed faults', () => {
  const tally = new Tally();
  tally.add(trialOf('late: copy'), 'found');
  tally.add(trialOf('did not happen: copy'), 'wrong');
  tally.add(trialOf('did not happen: copy', { mode: 'load' }), 'hang');
  tally.add(trialOf('did not happen: copy'), 'none');
  expect(cells(tally, ['late: copy', 'did not happen: copy'], ['default', 'load'])).toEqual([
    ['', 'default', 'load', 'all'],
    ['late: copy', '1 · 0 · 0 · 0', '', '1 · 0 · 0 · 0'],
    ['did not happen: copy', '0 · 0 · 0 · 1', '0 · 0 · 0 · 0 · 1 hang', '0 · 0 · 0 · 1 · 1 hang'],
    ['all', '1 · 0 · 0 · 1', '0 · 0 · 0 · 0 · 1 hang', '1 · 0 · 0 · 1 · 1 hang'],
  ]);
  expect(judge(tally).map(({ faults, failures, met }) => [faults, failures, met])).toEqual([
    [2, 1, false],
    [1, 0, true],
    [3, 0, true],
    [3, 1, false],
  ]);
});

test('npm run stress -- faults runs a short campaign', { tags: 'long' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-faults-'));
  const json = join(folder, 'faults.json');
  const { code, stdout, stderr } = await runScript(
    'scripts/stress.mjs',
    ['faults', '--seed', '1', '--trials', '40', '--json', json],
    110_000,
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(/\nmet +no call hangs: 0 of \d+ fail/);
  // all targets
  expect(code, stdout).toBe(0);
  const reports = JSON.parse(readFileSync(json, 'utf8')) as (Trial & Report)[];
  rmSync(folder, { recursive: true });
  expect(reports).toHaveLength(40);
});
