/**
 * Configures the docs site: README and docs/ as pages, and the public API from its docstrings.
 * `npm run docs` adds the bench.
 */
export default {
  name: 'webgpu-msm',
  includeVersion: true,
  entryPoints: ['src/index.ts', 'src/calibrate.ts', 'src/formats.ts', 'src/node.ts'],
  tsconfig: 'tsconfig.json',
  readme: 'README.md',
  projectDocuments: [
    'docs/*.md',
    'examples/README.md',
    'examples/farm/README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
  ],
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  validation: {
    notExported: true,
    invalidLink: true,
    invalidPath: true,
    rewrittenLink: true,
    notDocumented: true,
    unusedMergeModuleWith: true,
  },
  treatWarningsAsErrors: true,
};
