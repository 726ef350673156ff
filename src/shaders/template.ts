/** Templates of WGSL, and the partials that every shader may include. */
import fieldTemplate from '../../wgsl/field/field.wgsl?template';
import inverseTemplate from '../../wgsl/field/inverse.wgsl?template';
import packedTemplate from '../../wgsl/field/packed.wgsl?template';
import pointTemplate from '../../wgsl/msm/point.wgsl?template';
import hashChainTemplate from '../../wgsl/shaders/hash-chain.wgsl?template';

/** Values that a template may name: text, numbers, flags, and lists of views. */
export type TemplateView = { readonly [name: string]: TemplateValue };
export type TemplateValue = string | number | boolean | TemplateView | readonly TemplateView[];

/**
 * A parsed Mustache template, text and tags in turn. The build parses templates
 * (scripts/templates/).
 */
export type Template = readonly TemplateToken[];
export type TemplateToken =
  | string
  | readonly [variable: string]
  | readonly [partial: string, kind: '>']
  | readonly [section: string, kind: '#' | '^', inner: Template];

/**
 * Renders a WGSL template as Mustache does, with two differences. Nothing is escaped, as WGSL is no
 * HTML. An unknown name is an error, where Mustache would leave a gap with which a shader may still
 * compile.
 *
 * @param partials templates for `{{> name}}`
 * @throws Error if a variable, section or partial of the template is missing
 */
export const renderTemplate = (
  template: Template,
  view: TemplateView,
  partials: Readonly<Record<string, Template>>,
): string => {
  /** @param views the innermost first */
  const render = (tokens: Template, views: readonly TemplateView[]): string =>
    tokens
      .map((token) => {
        if (typeof token === 'string') return token;
        const [name, kind, inner] = token;
        if (kind === '>') {
          const partial = partials[name];
          if (partial === undefined) throw new Error(`template partial '${name}' is missing`);
          return render(partial, views);
        }
        const value = views.find((known) => name in known)?.[name];
        if (value === undefined) throw new Error(`template variable '${name}' is missing`);
        if (inner === undefined) return value;
        const items = Array.isArray(value) ? value : value ? [value] : [];
        if (kind === '^') return items.length === 0 ? render(inner, views) : '';
        return items.map((item) => render(inner, typeof item === 'object' ? [item, ...views] : views)).join('');
      })
      .join('');
  return render(template, [view]);
};

/** Partials that every shader may include by name. */
const sharedPartials: Readonly<Record<string, Template>> = {
  hash_chain: hashChainTemplate,
  field: fieldTemplate,
  inverse: inverseTemplate,
  packed: packedTemplate,
  point: pointTemplate,
};

/** Renders a shader with the shared partials and its own. */
export const renderShader = (template: Template, view: TemplateView, own?: typeof sharedPartials): string =>
  renderTemplate(template, view, { ...sharedPartials, ...own });
