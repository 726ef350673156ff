/** The program of examples/farm/, as a user starts it. */
import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useFarmProject } from './support/farm.js';
import { runNode } from './support/run-script.js';

describe('the program', { tags: 'long' }, () => {
  const project = useFarmProject();

  test('shows all of it, and leaves nothing behind', async () => {
    const own = mkdtempSync(join(project, 'tmp-'));
    // the user that PostgreSQL runs as has to get there
    chmodSync(project, 0o755);
    chmodSync(own, 0o755);
    const { code, stdout, stderr } = await runNode(
      ['farm/main.js', '--n', '2000', '--statements', '2', '--backend', 'cpu', '--max-workers', '0', '--audit', '1'],
      { cwd: project, env: { ...process.env, TMPDIR: own }, timeout: 120_000 },
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout.match(/2000 points in 8 ranges, right/g)).toHaveLength(2);
    expect(readdirSync(own)).toEqual([]);
  });
});
