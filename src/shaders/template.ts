import Mustache from 'mustache';

/** What a template may name: text, numbers, flags, and nested lists of the same. */
export type TemplateView = { readonly [name: string]: TemplateValue };
export type TemplateValue = string | number | boolean | TemplateView | readonly TemplateView[];

/** Mustache renders what it does not know as an empty string; a shader with a hole in it may still compile. So: an error. */
class StrictContext extends Mustache.Context {
  override push(view: unknown): Mustache.Context {
    return new StrictContext(view, this);
  }

  override lookup(name: string): unknown {
    const value: unknown = super.lookup(name);
    if (value === undefined) throw new Error(`template variable '${name}' is missing`);
    return value;
  }
}

/**
 * Renders a WGSL template.
 *
 * @param template Mustache text; `{{> name}}` includes `partials[name]`
 * @throws Error if a variable, section or partial that the template names is missing
 */
export const renderTemplate = (
  template: string,
  view: TemplateView,
  partials: Readonly<Record<string, string>>,
): string => {
  const partial = (name: string): string => {
    const text = partials[name];
    if (text === undefined) throw new Error(`template partial '${name}' is missing`);
    return text;
  };
  return new Mustache.Writer().render(template, new StrictContext(view), partial, { escape: String });
};
