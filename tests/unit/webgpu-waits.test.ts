/**
 * Every promise of WebGPU that the library waits for goes through src/gpu/device-watch.ts, which
 * knows limits.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** Methods of WebGPU that return promises (WebGPU, section "IDL index"). */
const asynchronous = new Set([
  'requestAdapter',
  'requestDevice',
  'createComputePipelineAsync',
  'createRenderPipelineAsync',
  'popErrorScope',
  'mapAsync',
  'onSubmittedWorkDone',
  'getCompilationInfo',
]);

/** Functions that wait with a limit. */
const guards = /^(waitForQueue|waitForRequest|.*\.wait)$/;

/**
 * Where promises of WebGPU are asked for; @returns those that are no argument of a guard, and the
 * number of all.
 */
const waitsOf = (name: string, text: string): { readonly unguarded: readonly string[]; readonly all: number } => {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const unguarded: string[] = [];
  let all = 0;
  const isGuarded = (node: ts.Node): boolean =>
    ts.isCallExpression(node.parent) &&
    node.parent.arguments.includes(node as ts.Expression) &&
    guards.test(node.parent.expression.getText());
  const visit = (node: ts.Node): void => {
    const isLost =
      ts.isPropertyAccessExpression(node) && node.name.text === 'lost' && /device$/.test(node.expression.getText());
    const isCall =
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      asynchronous.has(node.expression.name.text);
    if (isLost || isCall) {
      all++;
      // `lost` of a device is watched in one place
      const isFine = isLost ? name.endsWith('device-watch.ts') : isGuarded(node);
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      if (!isFine) unguarded.push(`${name}:${line + 1}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { unguarded, all };
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.d)\.ts$/.test(path));

test('the library waits for promises of each kind', () => {
  const text = files.map((path) => readFileSync(join(source, path), 'utf8')).join('\n');
  const found = [...asynchronous].filter((method) => text.includes(`.${method}(`));
  expect(found).toEqual([...asynchronous].filter((method) => method !== 'createRenderPipelineAsync'));
});

test.each(files)('src/%s waits for no promise without a limit', (path) => {
  expect(waitsOf(path, readFileSync(join(source, path), 'utf8')).unguarded).toEqual([]);
});

describe('the test sees', () => {
  test.each([
    'await buffer.mapAsync(1);',
    'void device.lost.then(() => 1);',
    'const wait = device.queue.onSubmittedWorkDone(); await waitForQueue(device, wait);',
    'await Promise.all([device.popErrorScope()]);',
  ])('%s', (text) => {
    expect(waitsOf('some.ts', text).unguarded).toHaveLength(1);
  });

  test.each(['await waitForQueue(device, buffer.mapAsync(1));', 'watch.wait(device.popErrorScope(), { what: "it" });'])(
    '%s is guarded',
    (text) => {
      expect(waitsOf('some.ts', text)).toEqual({ unguarded: [], all: 1 });
    },
  );
});
