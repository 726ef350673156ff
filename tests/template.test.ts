import { describe, expect, test } from 'vitest';
import { kernel } from '../src/shaders/kernel.js';
import { renderShader } from '../src/shaders/partials.js';
import { renderTemplate, type TemplateView } from '../src/shaders/template.js';

const render = (template: string, view: TemplateView = {}, partials: Record<string, string> = {}): string =>
  renderTemplate(template, view, partials);

describe('what Mustache would render as a hole is an error that names it', () => {
  test.each<[string, string, TemplateView, string]>([
    ['variable', 'let a = {{width}}u;', {}, 'width'],
    ['unescaped variable', 'let a = {{{width}}}u;', {}, 'width'],
    ['section', '{{#rows}}x{{/rows}}', {}, 'rows'],
    ['inverted section', '{{^rows}}x{{/rows}}', {}, 'rows'],
    ['variable in a list', '{{#rows}}{{name}}{{/rows}}', { rows: [{ name: 'a' }, { other: 'b' }] }, 'name'],
    [
      'variable two sections deep',
      '{{#rows}}{{#columns}}{{i}} {{sum}}{{/columns}}{{/rows}}',
      { rows: [{ i: 1, columns: [{ sum: 'a' }, {}] }] },
      'sum',
    ],
    ['section in a section', '{{#rows}}{{#last}}x{{/last}}{{/rows}}', { rows: [{ i: 1 }] }, 'last'],
    ['variable in a flag section', '{{#on}}{{gone}}{{/on}}', { on: true }, 'gone'],
    ['variable in an inverted section', '{{^on}}{{gone}}{{/on}}', { on: false }, 'gone'],
    ['path', '{{a.b}}', { a: { c: 1 } }, 'a.b'],
  ])('%s', (_, template, view, name) => {
    expect(() => render(template, view)).toThrow(`template variable '${name}' is missing`);
  });

  test('partial', () => {
    expect(() => render('{{> field}}')).toThrow("template partial 'field' is missing");
    expect(() => render('{{#on}}{{> field}}{{/on}}', { on: true })).toThrow("template partial 'field' is missing");
  });

  test('variable of a partial, looked up where the partial is included', () => {
    const partials = { limb: 'l{{i}};' };
    expect(render('{{#limbs}}{{> limb}}{{/limbs}}', { limbs: [{ i: 0 }, { i: 1 }] }, partials)).toBe('l0;l1;');
    expect(() => render('{{> limb}}', {}, partials)).toThrow("template variable 'i' is missing");
  });
});

describe('what is there is rendered', () => {
  test('0, false and the empty string and list are values, and nothing is missing', () => {
    expect(render('{{zero}}|{{no}}|{{empty}}|{{#none}}x{{/none}}', { zero: 0, no: false, empty: '', none: [] })).toBe(
      '0|false||',
    );
  });

  test('a section that is not rendered may name what is missing: it leaves no hole', () => {
    expect(render('{{#shared}}{{threads}}{{/shared}}', { shared: false })).toBe('');
  });

  test('an inner name hides an outer one, and outer ones stay visible', () => {
    const view = { name: 'outer', p: 7, rows: [{ name: 'inner' }, { i: 2 }] };
    expect(render('{{#rows}}{{name}} {{p}};{{/rows}}', view)).toBe('inner 7;outer 7;');
  });

  test('WGSL is not HTML: nothing is escaped', () => {
    const code = 'array<vec4<u32>, 8> & a < b && "c" \'d\' / `e` = 1';
    expect(render('{{code}}', { code })).toBe(code);
    expect(render('{{{code}}}', { code })).toBe(code);
    expect(render('{{#rows}}{{code}}{{/rows}}', { rows: [{ code }] })).toBe(code);
    expect(render('{{> part}}', { code }, { part: '{{code}}' })).toBe(code);
  });

  test('a template that was rendered with one view is rendered afresh with another', () => {
    // Mustache caches what it parses, and a context caches what it looks up
    const template = '{{#rows}}{{i}}{{/rows}}{{n}}';
    expect(render(template, { n: 1, rows: [{ i: 5 }] })).toBe('51');
    expect(render(template, { n: 2, rows: [] })).toBe('2');
    expect(() => render(template, { rows: [] })).toThrow("template variable 'n' is missing");
  });

  test('broken templates are errors', () => {
    expect(() => render('{{#rows}}', { rows: [] })).toThrow(/Unclosed section/);
    expect(() => render('{{width', { width: 1 })).toThrow(/Unclosed tag/);
  });
});

describe('kernels', () => {
  test('a shader finds the field layer as a partial, and a wrong name for it is an error', () => {
    expect(() => renderShader('{{> feild}}', {})).toThrow("template partial 'feild' is missing");
    expect(() => renderShader('{{> field}}', {})).toThrow(/template variable '\w+' is missing/);
  });

  test('bindings are declared in the order of the list, with their access', () => {
    const { source } = kernel('go', '{{bindings}}\nfn go() {}', [
      { name: 'config', access: 'uniform', type: 'Config' },
      { name: 'from', access: 'read', type: 'array<u32>' },
      { name: 'to', access: 'write', type: 'array<vec2<u32>>' },
    ]);
    expect(source).toBe(
      [
        '@group(0) @binding(0) var<uniform> config: Config;',
        '@group(0) @binding(1) var<storage, read> from: array<u32>;',
        '@group(0) @binding(2) var<storage, read_write> to: array<vec2<u32>>;',
        'fn go() {}',
      ].join('\n'),
    );
  });

  test('more than 8 storage buffers, or an entry point of another name, are refused when the kernel is made', () => {
    const storage = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `b${i}`, access: 'read', type: 'array<u32>' }) as const);
    const uniform = { name: 'config', access: 'uniform', type: 'Config' } as const;
    expect(kernel('go', 'fn go() {}', [uniform, ...storage(8)]).bindings).toHaveLength(9);
    expect(() => kernel('go', 'fn go() {}', storage(9))).toThrow('go binds more than 8 storage buffers');
    expect(() => kernel('go', 'fn went() {}', [])).toThrow('no entry point');
  });
});
