import { defineConfig } from 'vite';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/** All that commands have of dev/, in one module: a GPU host has Node, Dawn, noble and what was built, and no vite. */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  plugins: [wgslTemplates()],
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
