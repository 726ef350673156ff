/** Templates of shaders, which are parsed at build time; Mustache is the oracle. */
import fc from 'fast-check';
import Mustache from 'mustache';
import { describe, expect, test, vi } from 'vitest';
import { checkKernels, watch } from '../../dev/checks/kernels.js';
import { p256Curve } from '../../dev/oracle/curves.js';
import { parseTemplate } from '../../scripts/templates/wgsl-templates.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext, withProduct } from '../../src/curves/curve.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { fieldKernels } from '../../src/fields/gpu/open-vectors.js';
import { createKernels } from '../../src/msm/stages/kernels.js';
import { programKernel } from '../../src/msm/stages/program.js';
import { scaleKernel } from '../../src/msm/stages/scale.js';
import { tablesKernels } from '../../src/msm/stages/tables.js';
import { kernel } from '../../src/shaders/kernel.js';
import {
  renderShader,
  renderTemplate,
  type Template,
  type TemplateValue,
  type TemplateView,
} from '../../src/shaders/template.js';

vi.mock('../../src/shaders/template.js', { spy: true });

const render = (text: string, view: TemplateView = {}, partials: Readonly<Record<string, string>> = {}): string =>
  renderTemplate(
    parseTemplate(text),
    view,
    Object.fromEntries(Object.entries(partials).map(([name, partial]) => [name, parseTemplate(partial)])),
  );

/** Renders with Mustache, without HTML escapes. */
const renderByMustache = (text: string, view: TemplateView, partials: Readonly<Record<string, string>>): string =>
  Mustache.render(text, view, partials, { escape: String });

describe('a name that Mustache would render as an empty text is an error that names it', () => {
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

describe('rendering', () => {
  test('takes 0, false, the empty string and the empty list as values', () => {
    expect(render('{{zero}}|{{no}}|{{empty}}|{{#none}}x{{/none}}', { zero: 0, no: false, empty: '', none: [] })).toBe(
      '0|false||',
    );
  });

  test('accepts missing names in a section that is not rendered', () => {
    expect(render('{{#shared}}{{threads}}{{/shared}}', { shared: false })).toBe('');
  });

  test('finds inner names before outer ones', () => {
    const view = { name: 'outer', p: 7, rows: [{ name: 'inner' }, { i: 2 }] };
    expect(render('{{#rows}}{{name}} {{p}};{{/rows}}', view)).toBe('inner 7;outer 7;');
  });

  test('escapes nothing, as WGSL is not HTML', () => {
    const code = 'array<vec4<u32>, 8> & a < b && "c" \'d\' / `e` = 1';
    expect(render('{{code}}', { code })).toBe(code);
    expect(render('{{{code}}}', { code })).toBe(code);
    expect(render('{{#rows}}{{code}}{{/rows}}', { rows: [{ code }] })).toBe(code);
    expect(render('{{> part}}', { code }, { part: '{{code}}' })).toBe(code);
  });

  test('renders a template with one view after another', () => {
    const template = parseTemplate('{{#rows}}{{i}}{{/rows}}{{n}}');
    expect(renderTemplate(template, { n: 1, rows: [{ i: 5 }] }, {})).toBe('51');
    expect(renderTemplate(template, { n: 2, rows: [] }, {})).toBe('2');
    expect(() => renderTemplate(template, { rows: [] }, {})).toThrow("template variable 'n' is missing");
  });

  test('refuses templates with unclosed tags and sections', () => {
    expect(() => render('{{#rows}}', { rows: [] })).toThrow(/Unclosed section/);
    expect(() => render('{{width', { width: 1 })).toThrow(/Unclosed tag/);
  });

  test('refuses a partial that Mustache would indent, as partials are parsed before they are included', () => {
    const partials = { part: 'a\nb\n' };
    expect(renderByMustache('  {{> part}}\n', {}, partials)).toBe('  a\n  b\n');
    for (const text of ['  {{> part}}\n', '\t{{> part}}', 'x {{> part}}'])
      expect(() => render(text, {}, partials)).toThrow('a partial must start its line: {{> part}}');
    expect(render('x\n{{> part}}\ny', {}, partials)).toBe('x\na\nb\ny');
  });
});

describe('rendering equals that of Mustache', () => {
  const names = ['a', 'b', 'c', 'd'];
  const name = fc.constantFrom(...names);
  const plain = fc.oneof(
    fc.constantFrom<string | number | boolean>('', 'x', '<&"', ' y\n', 0, 1, 2.5, true, false),
    fc.nat(),
  );
  /** Views with some of the names; the others are found in an outer view. */
  const view = (depth: number): fc.Arbitrary<TemplateView> => {
    const value = depth === 0 ? plain : fc.oneof(plain, view(depth - 1), fc.array(view(depth - 1), { maxLength: 3 }));
    return fc.dictionary(name, value, { maxKeys: names.length, noNullPrototype: true });
  };
  const everyName = fc.tuple(plain, view(2), fc.array(view(2), { maxLength: 3 }), fc.constantFrom(true, false, []));
  const outermost = fc
    .tuple(fc.shuffledSubarray(names, { minLength: names.length }), everyName)
    .map(
      ([order, values]): TemplateView => Object.fromEntries(order.map((key, i) => [key, values[i] as TemplateValue])),
    );

  // no braces in texts: one in front of a tag would make another tag
  const text = fc.oneof(
    fc.constantFrom('\n', ' ', '  \n', 'let x = ', '{ ', '}', ';\n', '\r\n', '\t'),
    fc.string({ unit: fc.constantFrom('x', '<', ' ', '\n'), maxLength: 6 }),
  );
  const comment = fc.constantFrom('{{! of no use }}', '\n{{! alone }}\n');
  const variable = fc
    .tuple(name, fc.constantFrom(['{{', '}}'], ['{{{', '}}}'], ['{{&', '}}'], ['{{ ', ' }}']))
    .map(([of, [open, close]]) => `${open}${of}${close}`);
  const section = (depth: number, included: readonly string[]): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.constantFrom('#', '^'),
        name,
        pieces(depth, included),
        fc.constantFrom('', '\n'),
        fc.constantFrom('', '  '),
      )
      .map(([kind, of, inner, end, indent]) => {
        const tags = [`{{${kind}${of}}}`, `{{/${of}}}`].map((tag) => `${end}${indent}${tag}${end}`);
        return tags.join(inner);
      });
  const include = (included: readonly string[]): fc.Arbitrary<string> =>
    fc
      .tuple(fc.constantFrom('\n', '\n{{! first }} '), fc.constantFrom(...included))
      .map(([at, of]) => `${at}{{> ${of}}}`);
  const pieces = (depth: number, included: readonly string[]): fc.Arbitrary<string> => {
    const kinds = [text, variable, comment];
    if (depth > 0) kinds.push(section(depth - 1, included));
    if (included.length > 0) kinds.push(include(included));
    return fc.array(fc.oneof(...kinds), { maxLength: 6 }).map((all) => all.join(''));
  };

  test('for any template, view and partials', () => {
    fc.assert(
      fc.property(pieces(3, ['p', 'q']), outermost, pieces(1, ['q']), pieces(2, []), (template, values, p, q) => {
        expect(render(template, values, { p, q })).toBe(renderByMustache(template, values, { p, q }));
      }),
      { numRuns: 2000, seed: 31 },
    );
  });

  const files = import.meta.glob<Template>(['../../wgsl/**/*.wgsl', '../../dev/checks/*.wgsl'], {
    query: '?template',
    import: 'default',
    eager: true,
  });
  const texts = import.meta.glob<string>(['../../wgsl/**/*.wgsl', '../../dev/checks/*.wgsl'], {
    query: '?raw',
    import: 'default',
    eager: true,
  });
  const textOf = (path: string): string => {
    const text = texts[`../../${path}.wgsl`];
    if (text === undefined) throw new Error(`no shader ${path}; there are ${Object.keys(texts).join(', ')}`);
    return text;
  };
  const shared = {
    hash_chain: textOf('wgsl/shaders/hash-chain'),
    field: textOf('wgsl/field/field'),
    inverse: textOf('wgsl/field/inverse'),
    packed: textOf('wgsl/field/packed'),
    point: textOf('wgsl/msm/point'),
  };
  const textOfTemplate = (template: Template): string => {
    const path = Object.keys(files).find((name) => files[name] === template);
    return texts[path as string] as string;
  };

  test('for every shader of the library', () => {
    const contexts = [bn254, p256Curve, bn254G2].map((curve) => curveContext(curve, quadraticField));
    const products = (['unsigned', 'dot4', 'fma'] as const).flatMap((product) =>
      contexts.map((of) => withProduct(of, product)),
    );
    for (const curve of products) {
      const kernels = createKernels(curve, watch);
      kernels.importPoints();
      tablesKernels(curve);
      programKernel(curve);
      // it takes the endomorphism of curves with a = 0
      if (curve.a === 0n || Array.isArray(curve.a)) scaleKernel(curve);
      for (const coordinates of ['affine', 'xyzz'] as const) checkKernels(curve, coordinates);
      for (const instrumented of [true, false]) kernels.walkXyzz({ threads: 16, instrumented });
      kernels.normalize();
      for (const prefixMemory of ['private', 'workgroup'] as const)
        for (const instrumented of [true, false]) kernels.walk({ prefixMemory, threads: 16, slots: 4, instrumented });
      kernels.digest();
      kernels.decompose();
      for (const perThread of [4, 32]) kernels.sort({ threads: 64, perThread, bins: 64 });
      kernels.partition();
      kernels.reduce();
      const { digest: _, ...ofVectors } = fieldKernels(curve.field, 64);
      for (const make of Object.values(ofVectors)) make();
    }
    const rendered = vi.mocked(renderShader).mock;
    const partials = new Set([
      ...Object.values(shared),
      ...rendered.calls.flatMap(([, , own]) => Object.values(own ?? {}).map(textOfTemplate)),
    ]);
    const shaders = Object.entries(files).filter(([path]) => !partials.has(texts[path] as string));
    expect(shaders.length).toBeGreaterThanOrEqual(10);
    for (const [path, template] of shaders) {
      const calls = rendered.calls.flatMap(([of, view, own], i) => (of === template ? [{ view, own, i }] : []));
      expect(calls, path).not.toEqual([]);
      for (const { view, own, i } of calls) {
        const ownTexts = Object.entries(own ?? {}).map(([name, partial]) => [name, textOfTemplate(partial)]);
        const all = { ...shared, ...Object.fromEntries(ownTexts) };
        expect(rendered.results[i]?.value).toBe(renderByMustache(texts[path] as string, view, all));
      }
    }
  });
});

describe('kernels', () => {
  test('include the field layer as a partial; a wrong name of a partial is an error', () => {
    expect(() => renderShader(parseTemplate('{{> feild}}'), {})).toThrow("template partial 'feild' is missing");
    expect(() => renderShader(parseTemplate('{{> field}}'), {})).toThrow(/template variable '\w+' is missing/);
  });

  test('declare bindings in the order of the list, with their access', () => {
    const { source } = kernel('go', parseTemplate('{{bindings}}\nfn go() {}'), [
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

  test('refuse more than 8 storage buffers, and an entry point of another name', () => {
    const storage = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `b${i}`, access: 'read', type: 'array<u32>' }) as const);
    const uniform = { name: 'config', access: 'uniform', type: 'Config' } as const;
    expect(kernel('go', ['fn go() {}'], [uniform, ...storage(8)]).bindings).toHaveLength(9);
    expect(() => kernel('go', ['fn go() {}'], storage(9))).toThrow('go binds more than 8 storage buffers');
    expect(() => kernel('go', ['fn went() {}'], [])).toThrow('no entry point');
  });
});
