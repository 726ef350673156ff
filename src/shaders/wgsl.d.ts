/** By scripts/templates/wgsl-templates.ts. */
declare module '*.wgsl?template' {
  const template: import('./template.js').Template;
  export default template;
}
