import fieldTemplate from '../../wgsl/field/field.wgsl?template';
import inverseTemplate from '../../wgsl/field/inverse.wgsl?template';
import packedTemplate from '../../wgsl/field/packed.wgsl?template';
import pointTemplate from '../../wgsl/msm/point.wgsl?template';
import hashChainTemplate from '../../wgsl/shaders/hash-chain.wgsl?template';
import { renderTemplate, type Template, type TemplateView } from './template.js';

/** Partials that every shader may include by name. */
const partials: Readonly<Record<string, Template>> = {
  hash_chain: hashChainTemplate,
  field: fieldTemplate,
  inverse: inverseTemplate,
  packed: packedTemplate,
  point: pointTemplate,
};

/** Renders a shader with the shared partials and its own. */
export const renderShader = (template: Template, view: TemplateView, own?: typeof partials): string =>
  renderTemplate(template, view, { ...partials, ...own });
