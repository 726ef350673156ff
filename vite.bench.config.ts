import { defineConfig } from 'vite';
import { workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/** All that commands have of dev/, in one module: a GPU host has Node, Dawn, noble and what was built, and no vite. */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  // what threads run lies beside it, and Node takes no path from the root of a site
  base: './',
  plugins: [workerFile(), wgslTemplates()],
  // the worker of the package is imported for what it does
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
