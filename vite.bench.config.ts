import { defineConfig } from 'vite';
import { workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

const entries = { bench: 'dev/bench/index.ts', isa: 'tools/isa/index.ts' };

/**
 * Builds the parts of dev/ that commands use as one module: a GPU host has Node, Dawn, noble and
 * the builds, and no vite. With `--mode isa` it builds those of tools/isa.
 */
export default defineConfig(({ mode }) => {
  const name = mode === 'isa' ? 'isa' : 'bench';
  return {
    logLevel: 'warn',
    publicDir: false,
    // relative paths: the worker lies beside the module, and Node has no site root
    base: './',
    plugins: [workerFile(), wgslTemplates()],
    // the package's worker is imported for its side effects
    worker: { rolldownOptions: { treeshake: false } },
    build: {
      outDir: `dist-${name}`,
      emptyOutDir: true,
      target: 'es2022',
      minify: false,
      lib: {
        entry: { [name]: entries[name] },
        formats: ['es'],
        fileName: () => `${name}.js`,
      },
      rolldownOptions: {
        external: [/^@noble\/curves(\/|$)/],
        // the bench imports provers that the library imports when they are used
        checks: { ineffectiveDynamicImport: false },
      },
    },
  };
});
