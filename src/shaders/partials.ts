import fieldTemplate from '../../wgsl/field.wgsl?raw';
import findingsTemplate from '../../wgsl/findings.wgsl?raw';
import inverseTemplate from '../../wgsl/inverse.wgsl?raw';
import pointTemplate from '../../wgsl/point.wgsl?raw';
import { renderTemplate, type TemplateView } from './template.js';

/** What any shader may include by name. */
const partials: Readonly<Record<string, string>> = {
  field: fieldTemplate,
  findings: findingsTemplate,
  inverse: inverseTemplate,
  point: pointTemplate,
};

/** Renders a shader of wgsl/ with the partials that shaders share. */
export const renderShader = (template: string, view: TemplateView): string => renderTemplate(template, view, partials);
