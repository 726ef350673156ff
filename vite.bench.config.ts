import { defineConfig } from 'vite';
import { workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/**
 * Builds the parts of dev/ that commands use as one module: a GPU host has Node, Dawn, noble and
 * the builds, and no vite.
 */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  // relative paths: the worker lies beside the module, and Node has no site root
  base: './',
  plugins: [workerFile(), wgslTemplates()],
  // the package's worker is imported for its side effects
  worker: { rolldownOptions: { treeshake: false } },
  build: {
    outDir: 'dist-bench',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: {
      entry: { bench: 'dev/bench/index.ts' },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    rolldownOptions: { external: [/^@noble\/curves(\/|$)/] },
  },
});
